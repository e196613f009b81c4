package devices

import "github.com/berth-sched/berth/framework"

// GpuClustering brings pods together that ask for GPUs in the same way: shares with
// shares, pods of two GPUs with pods of two GPUs.
//
// Source: the policy GpuClustering of the simulator.
type GpuClustering struct{ *GPUs }

// Name returns "GpuClustering".
func (GpuClustering) Name() string { return "GpuClustering" }

// PreScore binds [GpuClusteringScore].
func (p GpuClustering) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.bind(c, GpuClusteringScore)
}

// GpuClusteringScore is up to 25 for GPUs in use, and
//
//	75  if all pods with GPUs there ask in the same way
//	50  if some do
//	25  if there are no such pods
//	 0  if all ask in other ways
//
// It is 0 for a pod without GPUs.
func GpuClusteringScore(free Free, d Demand) int64 {
	own := TagOf(d.GPU)
	if own == 0 {
		return 0
	}
	score := max(0, 25*(largestGPU-free.Total())/largestGPU)
	switch {
	case free.Tags == own:
		return score + 75
	case free.Tags&own != 0:
		return score + 50
	case free.Tags == 0:
		return score + 25
	}
	return score
}

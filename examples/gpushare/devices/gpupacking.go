package devices

import "github.com/berth-sched/berth/framework"

// GpuPacking fills GPUs in use before it takes free ones, and free GPUs of nodes in use
// before idle nodes.
//
// Source: the policy GpuPacking of the simulator.
type GpuPacking struct{ *GPUs }

// Name returns "GpuPacking".
func (GpuPacking) Name() string { return "GpuPacking" }

// PreScore binds [GpuPackingScore].
func (p GpuPacking) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.bind(c, GpuPackingScore)
}

// GpuPackingScore is in one of three ranges:
//
//	50 to 100  the pod needs no free GPU; less if more is left on the GPUs that it takes
//	33 to 50   it needs free GPUs; less if it needs more of them
//	up to 33   the node is idle; less if it has more GPUs
//
// It is 0 for a pod without GPUs, and for one that does not fit.
func GpuPackingScore(free Free, d Demand) int64 {
	whole := int64(free.Whole())
	if d.GPU.Count == 0 {
		return 0
	}
	if whole == int64(free.GPUs) {
		return max(33-whole, whole)
	}
	takes := free.Tightest(d.GPU)
	taken, left := int64(0), int64(0)
	for i, l := range free.Left[:free.GPUs] {
		switch {
		case !takes.Has(i):
		case l == MilliPerGPU:
			taken++
		default:
			left += int64(l) * 100 / MilliPerGPU
		}
	}
	switch {
	case takes == 0:
		return 0
	case taken > 0:
		return max(50-taken, 33)
	}
	return max(100-left/10, 50)
}

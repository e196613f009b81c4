package devices

import "github.com/berth-sched/berth/framework"

// BestFit prefers the node that has least left once the pod is there. Scores are spread
// over the range from 0 to 100.
//
// Source: the policy BestFit of the simulator.
type BestFit struct{ *GPUs }

// Name returns "BestFit".
func (BestFit) Name() string { return "BestFit" }

// PreScore binds [BestFitScore].
func (p BestFit) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.bind(c, BestFitScore)
}

// BestFitScore is 100 less half of the CPU and half of the GPUs that are left afterwards, in
// percent of the largest node:
//
//	100 * (1 - (0.5*cpu/128000 + 0.5*gpu/8000))
func BestFitScore(free Free, d Demand) int64 {
	left := 0.5 * float64(free.CPU-d.CPU) / largestCPU
	left += 0.5 * float64(free.Total()-d.GPU.Total()) / largestGPU
	return int64((1 - left) * 100)
}

// NormalizeScore implements [framework.RangeNormalizer]. It spreads the scores; all are 0
// if they are equal.
func (BestFit) NormalizeScore(raw, smallest, largest int64) int64 {
	if largest == smallest {
		return 0
	}
	return (raw - smallest) * framework.MaxNodeScore / (largest - smallest)
}

package devices

import "github.com/berth-sched/berth/framework"

// DotProd prefers the node whose free resources, as a vector, have the smallest product
// with what the pod asks for.
//
// Source: the policy DotProd of the simulator, with merged dimensions and amounts relative
// to the largest node.
type DotProd struct{ *GPUs }

// Name returns "DotProd".
func (DotProd) Name() string { return "DotProd" }

// PreScore binds [DotProdScore].
func (p DotProd) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.bind(c, DotProdScore)
}

// DotProdScore is 100 less half of the product, in percent:
//
//	100 * (1 - (cpu/128000*cpuAsked/128000 + gpu/8000*gpuAsked/8000)/2)
//
// It stays within [0,100] if neither the node nor the pod exceeds the largest node, and is
// cut to that range otherwise.
func DotProdScore(free Free, d Demand) int64 {
	product := float64(float64(free.CPU) / largestCPU * (float64(d.CPU) / largestCPU))
	product += float64(float64(free.Total()) / largestGPU * (float64(d.GPU.Total()) / largestGPU))
	return min(max(int64(100*(1-product/2)), framework.MinNodeScore), framework.MaxNodeScore)
}

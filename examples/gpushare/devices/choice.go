package devices

import "github.com/berth-sched/berth/framework"

// A Spot is a pod and a node that can serve it.
type Spot struct {
	Pod  *framework.PodInfo
	Node *framework.NodeInfo
	// Free is what is free on the node without the pod; Demand is what the pod asks.
	Free   Free
	Demand Demand
}

// A Choice picks the GPU for a pod that asks for a part of one. Choose returns its number,
// and must depend on the spot alone: the answer is asked again wherever it matters. Some
// GPU has enough left. A GPU that has not, or does not exist, leaves the pod without.
type Choice interface {
	Choose(at Spot) int
}

// Tightest picks the GPU with least left, the first of equals.
type Tightest struct{}

// Choose implements [Choice].
func (Tightest) Choose(at Spot) int {
	best := -1
	for i, left := range at.Free.Left[:at.Free.GPUs] {
		if int64(left) >= at.Demand.GPU.Milli && (best < 0 || left < at.Free.Left[best]) {
			best = i
		}
	}
	return best
}

// AnyGPU picks one of the GPUs with enough left, each with the same chance. The draw is a
// function of the seed and of the names of pod and node.
type AnyGPU struct{ Seed uint64 }

// Choose implements [Choice].
func (c AnyGPU) Choose(at Spot) int {
	word := draw(draw(c.Seed, at.Pod.Pod.Key()), at.Node.Name())
	k := word % uint64(max(1, at.Free.Fitting(at.Demand.GPU.Milli)))
	for i, left := range at.Free.Left[:at.Free.GPUs] {
		if int64(left) >= at.Demand.GPU.Milli {
			if k == 0 {
				return i
			}
			k--
		}
	}
	return -1
}

// LeastFragmentation picks the GPU whose use fragments the node least: the one that [FGD]
// scores the node by.
type LeastFragmentation struct{ Workload *Workload }

// Choose implements [Choice].
func (c LeastFragmentation) Choose(at Spot) int {
	_, gpu := c.Workload.descendFrom(&at.Free, at.Demand)
	return gpu
}

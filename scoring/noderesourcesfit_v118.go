package scoring

import (
	"math"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// The bound scorers of the rules of 1.18. All terms take part on every node.
type (
	leastAllocatedV118 fit
	mostAllocatedV118  fit
	capacityRatioV118  fit
)

// boundV118 returns the scorer of the rules of 1.18.
func (f *fit) boundV118(p NodeResourcesFit, c *framework.Cycle) framework.NodeScorer {
	specs := defaultResources
	if p.Strategy == RequestedToCapacityRatio {
		specs = orDefault(p.Resources)
	}
	f.terms = f.terms[:0]
	for _, s := range specs {
		index, ok := c.Pod.Schema().Index(s.Name)
		if !ok {
			index = math.MaxInt // no node has anything of it
		}
		f.terms = append(f.terms, term{index: index, pod: c.Pod.ScoredRequests.At(index), weight: s.weight()})
	}
	overheadV118(f.terms, c.Pod)
	switch p.Strategy {
	case MostAllocated:
		return (*mostAllocatedV118)(f)
	case RequestedToCapacityRatio:
		return (*capacityRatioV118)(f)
	}
	return (*leastAllocatedV118)(f)
}

// overheadV118 counts the pod's CPU overhead as kube-scheduler 1.18 did: one
// thousandth of a core per core, rounded up.
//
// Source: kube-scheduler 1.18, calculatePodResourceRequest.
func overheadV118(terms []term, pod *framework.PodInfo) {
	overhead, ok := pod.Pod.Spec.Overhead[resource.CPU]
	if !ok {
		return
	}
	for i := range terms {
		if t := &terms[i]; t.index == resource.IndexCPU {
			t.pod = resource.SatAdd(t.pod-overhead.MilliValue(), overhead.Value())
		}
	}
}

func (f *leastAllocatedV118) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	var sum, weights int64
	for i := range f.terms {
		t := &f.terms[i]
		sum += t.weight * LeastAllocatedScore(t.requested(node), node.Allocatable.At(t.index))
		weights += t.weight
	}
	return mean(sum, weights)
}

func (f *mostAllocatedV118) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	var sum, weights int64
	for i := range f.terms {
		t := &f.terms[i]
		if requested, allocatable := t.requested(node), node.Allocatable.At(t.index); requested <= allocatable {
			sum += t.weight * MostAllocatedScore(requested, allocatable)
		}
		weights += t.weight
	}
	return mean(sum, weights)
}

func (f *capacityRatioV118) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	var sum, weights int64
	for i := range f.terms {
		t := &f.terms[i]
		free := LeastAllocatedScore(t.requested(node), node.Allocatable.At(t.index))
		if score := f.ratio.at[framework.MaxNodeScore-free]; score > 0 {
			sum += t.weight * score
			weights += t.weight
		}
	}
	return mean(2*sum+weights, 2*weights)
}

package multicluster

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// maxWork bounds what a decision may cost besides the searches for spread constraints, in steps
// of up to 0.1 us: up to 2 s. Some 900 affinities among 2,000 clusters are as many, or a
// thousand components on 750,000 nodes that clusters count by grade.
const maxWork = 20_000_000

// stepsOfCluster is what it costs to filter and score a cluster once.
const stepsOfCluster = 10

var (
	errTooMuchWork  = errors.New("takes too many steps: give it fewer affinities, static weights, names, label or field expressions")
	errTooManyNodes = errors.New("takes too many steps: give it an affinity that selects fewer clusters")
	errTooManySets  = errors.New("take too many steps: give it fewer components, or an affinity that selects fewer clusters")
	errTooManyParts = errors.New("take too many steps: give the pod a shorter node affinity, or the workload an affinity that selects fewer clusters")
)

// maxPlaceWork is maxWork for all decisions of one placing together.
const maxPlaceWork = 5 * maxWork

// checkWork adds the steps of a decision about so many clusters to those of all, besides those of
// asking about sets. It returns an error if there are more than maxWork or too many in all.
func (w *Workload) checkWork(clusters int, all *budget) error {
	steps, alone := w.steps(clusters), budget{most: maxWork}
	for _, b := range [...]*budget{&alone, all} {
		if !b.take(steps) {
			return &api.InvalidError{Field: "spec.placement", Value: fmt.Sprintf("%d steps for %d clusters, more than %d", b.taken, clusters, b.most), Err: errTooMuchWork}
		}
	}
	return nil
}

// A budget is how many steps decisions have taken, and may take in all.
type budget struct{ taken, most int64 }

// take adds steps and reports whether they are not too many. A nil budget has no bound.
func (b *budget) take(steps int64) bool {
	if b == nil {
		return true
	}
	b.taken = resource.SatAdd(b.taken, steps)
	return b.taken <= b.most
}

// share returns a budget of what is left for one of so many.
func (b *budget) share(of int) budget { return budget{most: (b.most - b.taken) / int64(of)} }

// isTooMuchWork reports whether a budget was exceeded, so that no other decision may follow.
func isTooMuchWork(err error) bool {
	for _, target := range [...]error{errTooMuchWork, errTooManyNodes, errTooManySets, errTooManyParts} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// steps is what a decision about so many clusters may cost. Each affinity may lead to no result,
// so all count.
func (w *Workload) steps(clusters int) int64 {
	p := &w.Placement
	each := int64(stepsOfCluster + len(w.Components))
	if w.Replica != nil {
		each += int64(len(w.Replica.Request))
	}
	for i := range w.Components {
		each += int64(len(w.Components[i].Request))
	}
	if s, err := p.Strategy(); err == nil && s == StaticWeight && p.ReplicaScheduling.WeightPreference != nil {
		list := p.ReplicaScheduling.WeightPreference.StaticWeightList
		for i := range list {
			each += list[i].TargetCluster.steps()
		}
	}
	steps := each + p.ClusterAffinity.steps()
	if n := int64(len(p.ClusterAffinities)); n > 0 {
		steps = resource.SatMul(each, n)
		for i := range p.ClusterAffinities {
			term := &p.ClusterAffinities[i]
			steps += term.steps()
			for j := range term.OverflowAffinities {
				steps += term.OverflowAffinities[j].steps()
			}
		}
	}
	return resource.SatMul(steps, int64(clusters))
}

// steps is what it costs to compare a cluster with the affinity.
func (a *ClusterAffinity) steps() int64 {
	if a == nil {
		return 0
	}
	n := 1 + len(a.ClusterNames)/8 + len(a.ExcludeClusters)/8
	if a.LabelSelector != nil {
		n += len(a.LabelSelector.MatchLabels)
		for i := range a.LabelSelector.MatchExpressions {
			n += 1 + len(a.LabelSelector.MatchExpressions[i].Values)
		}
	}
	if a.FieldSelector != nil {
		for i := range a.FieldSelector.MatchExpressions {
			n += 1 + len(a.FieldSelector.MatchExpressions[i].Values)
		}
	}
	return int64(n)
}

package multicluster

import (
	"fmt"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// stepsOfJudgement is what it costs to ask the filters of a node about a component.
const stepsOfJudgement = 8

// maxGradeSteps is after how many steps capacity.General gives up on a cluster, about.
const maxGradeSteps = 3_000_000

// checkSets adds the steps that estimators of this module take about the workload's sets in a
// cluster, and returns an error if there are too many. Other estimators say nothing about their
// cost.
func (s Scheduler) checkSets(c *api.Cluster, w *Workload, all *budget) error {
	n := len(w.Components)
	if n == 0 {
		return nil
	}
	for _, e := range s.Estimators {
		if !all.take(stepsOfSets(e, c, int64(n))) {
			return &api.InvalidError{Field: "spec.components", Value: fmt.Sprintf("%d components: %d steps, more than %d", n, all.taken, all.most), Err: errTooManySets}
		}
	}
	return nil
}

// stepsOfSets is what it costs to ask an estimator about sets of so many components.
func stepsOfSets(e capacity.ClusterEstimator, c *api.Cluster, components int64) int64 {
	switch e := e.(type) {
	case answers:
		if e.about(c).sets != nil {
			return 0
		}
		return stepsOfSets(e.estimator, c, components)
	case capacity.General:
		return stepsOfGrades(e, c, components)
	case *capacity.General:
		return stepsOfGrades(*e, c, components)
	case Nodes:
		return stepsOfNodes(e.Snapshots[c.Name], components)
	case *Nodes:
		return stepsOfNodes(e.Snapshots[c.Name], components)
	}
	return 0
}

// stepsOfGrades is what sets cost that are placed on nodes of grades. Up to 110 pods are placed on a
// node, and the components without room there pass over it. If they all differ, a node takes up to
// 0.8 us for 10 components, 1.7 us for 100, and 3 us for 1,000.
func stepsOfGrades(g capacity.General, c *api.Cluster, components int64) int64 {
	summary := c.Status.ResourceSummary
	if g.IgnoreModels || summary == nil || len(c.Spec.ResourceModels) == 0 {
		return 0
	}
	var nodes int64
	for _, m := range summary.AllocatableModelings {
		nodes = resource.SatAdd(nodes, max(0, int64(m.Count)))
	}
	return min(resource.SatMul(nodes, 4+min(components, 50)/4+components/100), maxGradeSteps)
}

func stepsOfNodes(s *framework.Snapshot, components int64) int64 {
	if s == nil {
		return 0
	}
	return resource.SatMul(int64(s.Len()), components*stepsOfJudgement)
}

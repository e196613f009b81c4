package multicluster

import (
	"fmt"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// stepsOfJudgement is what it costs to ask the filters of a node about a pod, and partsOfStep how
// many parts of its choice of nodes are compared in a step besides.
const stepsOfJudgement, partsOfStep = 8, 8

// maxGradeSteps is after how many steps capacity.General gives up on a cluster, about.
const maxGradeSteps = 3_000_000

// checkEstimates adds the steps that estimators of this module take about the workload in a cluster,
// and returns an error if there are too many. Other estimators say nothing about their cost.
func (s Scheduler) checkEstimates(c *api.Cluster, w *Workload, all *budget) error {
	if w.wanted() == 0 {
		return nil // nobody is asked
	}
	for _, e := range s.Estimators {
		if all.take(stepsOfEstimate(e, c, w)) {
			continue
		}
		return w.tooManySteps(asksNodes(e), all)
	}
	return nil
}

// tooManySteps returns an error about what takes most of the steps of asking about the workload.
func (w *Workload) tooManySteps(ofNodes bool, all *budget) error {
	steps := fmt.Sprintf("%d steps, more than %d", all.taken, all.most)
	if at, parts := w.longestAffinity(); ofNodes && parts > 0 {
		field := "spec.replicaRequirements"
		if len(w.Components) > 0 {
			field = fmt.Sprintf("spec.components[%d].replicaRequirements", at)
		}
		return &api.InvalidError{Field: field + ".nodeClaim", Value: fmt.Sprintf("%d labels, terms, expressions and values: %s", parts, steps), Err: errTooManyParts}
	}
	switch n := len(w.Components); n {
	case 0:
		return &api.InvalidError{Field: "spec.placement", Value: "to ask nodes about replicas: " + steps, Err: errTooManyNodes}
	case 1:
		return &api.InvalidError{Field: "spec.components", Value: "1 component: " + steps, Err: errTooManySets}
	default:
		return &api.InvalidError{Field: "spec.components", Value: fmt.Sprintf("%d components: %s", n, steps), Err: errTooManySets}
	}
}

// longestAffinity returns the component whose node affinity has most parts, and their number, if it
// takes more than half of the steps of asking nodes. Otherwise there are 0 parts.
func (w *Workload) longestAffinity() (component int, parts int64) {
	var pods []*api.Pod
	if len(w.Components) == 0 && w.Replica != nil {
		pods = append(pods, w.Replica.Pod)
	}
	for i := range w.Components {
		pods = append(pods, w.Components[i].Pod)
	}
	var steps int64
	for i, p := range pods {
		steps += stepsOfPod(p)
		if n := partsOfAffinity(p); n > parts {
			component, parts = i, n
		}
	}
	if parts/partsOfStep <= steps/2 {
		return 0, 0
	}
	return component, parts
}

// asksNodes reports whether the estimator reads the nodes of clusters.
func asksNodes(e capacity.ClusterEstimator) bool {
	switch e := e.(type) {
	case answers:
		return asksNodes(e.estimator)
	case Nodes, *Nodes:
		return true
	}
	return false
}

// stepsOfEstimate is what it costs to ask an estimator about the workload.
func stepsOfEstimate(e capacity.ClusterEstimator, c *api.Cluster, w *Workload) int64 {
	switch e := e.(type) {
	case answers:
		known := e.about(c).estimate
		if len(w.Components) > 0 {
			known = e.about(c).sets
		}
		if known != nil {
			return 0
		}
		return stepsOfEstimate(e.estimator, c, w)
	case capacity.General:
		return stepsOfGrades(e, c, int64(len(w.Components)))
	case *capacity.General:
		return stepsOfGrades(*e, c, int64(len(w.Components)))
	case Nodes:
		return stepsOfNodes(e.Snapshots[c.Name], w)
	case *Nodes:
		return stepsOfNodes(e.Snapshots[c.Name], w)
	}
	return 0
}

// stepsOfGrades is what sets cost that are placed on nodes of grades. Up to 110 pods are placed on a
// node, and the components without room there pass over it. If they all differ, a node takes up to
// 0.8 us for 10 components, 1.7 us for 100, and 3 us for 1,000.
func stepsOfGrades(g capacity.General, c *api.Cluster, components int64) int64 {
	summary := c.Status.ResourceSummary
	if components == 0 || g.IgnoreModels || summary == nil || len(c.Spec.ResourceModels) == 0 {
		return 0
	}
	var nodes int64
	for _, m := range summary.AllocatableModelings {
		nodes = resource.SatAdd(nodes, max(0, int64(m.Count)))
	}
	return min(resource.SatMul(nodes, 4+min(components, 50)/4+components/100), maxGradeSteps)
}

// stepsOfNodes is what it costs to ask each node about each pod of the workload.
func stepsOfNodes(s *framework.Snapshot, w *Workload) (steps int64) {
	if s == nil {
		return 0
	}
	pods := int64(len(w.Components))
	for i := range w.Components {
		steps += stepsOfPod(w.Components[i].Pod)
	}
	if pods == 0 && w.Replica != nil {
		pods, steps = 1, stepsOfPod(w.Replica.Pod)
	}
	once := partsOfStep * (steps - pods*stepsOfJudgement) // node affinity is read for each cluster
	return resource.SatAdd(once, resource.SatMul(int64(s.Len()), steps))
}

// stepsOfPod is what it costs to ask a node about a pod. The parts of node affinity are compared one by
// one.
func stepsOfPod(p *api.Pod) int64 { return stepsOfJudgement + partsOfAffinity(p)/partsOfStep }

// partsOfAffinity is how many parts the required node affinity of a pod has.
func partsOfAffinity(p *api.Pod) int64 {
	if p == nil {
		return 0
	}
	parts := len(p.Spec.NodeSelector)
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			parts++
			for _, list := range [2][]api.NodeSelectorRequirement{term.MatchExpressions, term.MatchFields} {
				for i := range list {
					parts += 1 + len(list[i].Values)
				}
			}
		}
	}
	return int64(parts)
}

// What assumed workloads cost, in steps: stepsOfComponent to prepare a pod, with stepsOfTerm for each
// of its terms between pods and stepsOfRequest for each resource that a container requests, and one
// to ask a node, with another for each partsOfAsking parts of node affinity.
const stepsOfComponent, stepsOfTerm, stepsOfRequest, partsOfAsking = 50, 16, 2, 32

// stepsOfAssumed is what it costs to prepare the pod of an assumed component.
func stepsOfAssumed(k *capacity.Component) int64 {
	steps := stepsOfComponent + stepsOfRequest*int64(len(k.Request)) + partsOfAffinity(k.Pod)
	if k.Pod == nil {
		return steps
	}
	spec := &k.Pod.Spec
	terms := len(spec.TopologySpreadConstraints)
	if a := spec.Affinity; a != nil {
		if p := a.PodAffinity; p != nil {
			terms += len(p.RequiredDuringSchedulingIgnoredDuringExecution) + len(p.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if p := a.PodAntiAffinity; p != nil {
			terms += len(p.RequiredDuringSchedulingIgnoredDuringExecution) + len(p.PreferredDuringSchedulingIgnoredDuringExecution)
		}
	}
	for _, list := range [2][]api.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			steps += stepsOfRequest * int64(1+len(list[i].Resources.Requests))
		}
	}
	return steps + stepsOfTerm*int64(terms)
}

// stepsOfAsking is what it costs to ask a node about the pod of an assumed component.
func stepsOfAsking(p *api.Pod) int64 { return 1 + partsOfAffinity(p)/partsOfAsking }

// metered returns the scheduler with estimators that take what assumed workloads cost from a budget.
func (s Scheduler) metered(b *budget) Scheduler {
	estimators := make([]capacity.ClusterEstimator, len(s.Estimators))
	for i, e := range s.Estimators {
		estimators[i] = meteredEstimator(e, b)
	}
	s.Estimators = estimators
	return s
}

func meteredEstimator(e capacity.ClusterEstimator, b *budget) capacity.ClusterEstimator {
	switch e := e.(type) {
	case answers:
		e.estimator = meteredEstimator(e.estimator, b).(estimator)
		return e
	case Nodes:
		e.work = b
		return e
	case *Nodes:
		metered := *e
		metered.work = b
		return metered
	}
	return e
}

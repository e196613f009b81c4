package multicluster

import (
	"fmt"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// assumedOnNodes returns the assumed workloads of a cluster. Their filters are asked only about nodes
// with room, which are few, unless these reject the pods.
func (n Nodes) assumedOnNodes(c *api.Cluster, snapshot *framework.Snapshot) ([][]capacity.NodeComponent, error) {
	assumed := n.Assumed[c.Name]
	if len(assumed) == 0 {
		return nil, nil
	}
	for i, a := range assumed {
		for k := range a.Components {
			if err := checkReplicas(a.Components, k); err != nil {
				return nil, ofCluster(c, fmt.Sprintf("assumed[%d].", i), err)
			}
		}
	}
	filters, err := n.scheduler()
	if err != nil {
		return nil, err
	}
	x := nodeAsker{filters: filters, snapshot: snapshot, work: n.work}
	others := make([][]capacity.NodeComponent, len(assumed))
	for i, a := range assumed {
		others[i] = x.setOf(a.Components)
	}
	return others, nil
}

// A nodeAsker asks filters about the pods of assumed workloads. These take no room where its budget
// ends: what others have in flight must not end an estimate.
type nodeAsker struct {
	filters  *scheduling.Scheduler
	snapshot *framework.Snapshot
	work     *budget // nil: unbounded
}

// setOf returns the components up to the first without a valid pod. A pod about which filters cannot
// decide runs nowhere, and those after it do not run without it. An error would be that of somebody
// else.
func (x nodeAsker) setOf(components []capacity.Component) []capacity.NodeComponent {
	set := make([]capacity.NodeComponent, 0, len(components))
	for i := range components {
		k := &components[i]
		if !x.work.take(stepsOfAssumed(k)) {
			break
		}
		pod, err := x.snapshot.NewPodInfo(podOfComponent(k))
		if err != nil {
			break
		}
		set = append(set, capacity.NodeComponent{Replicas: k.Replicas, Pod: pod, Ask: x.asks(pod, stepsOfAsking(k.Pod))})
	}
	return set
}

// asks returns a function that asks the filters whether the pod may run on a node.
func (x nodeAsker) asks(pod *framework.PodInfo, steps int64) func(int) bool {
	var filtering *scheduling.Filtering
	var err error
	return func(node int) bool {
		if err != nil || !x.work.take(steps) {
			return false
		}
		if filtering == nil {
			if filtering, err = x.filters.Filtering(x.snapshot, pod); err != nil {
				return false
			}
		}
		var v scheduling.NodeVerdict
		v, err = filtering.Node(x.snapshot.At(node))
		return err == nil && v.Status.IsSuccess()
	}
}

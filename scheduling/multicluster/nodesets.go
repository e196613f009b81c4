package multicluster

import (
	"fmt"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// EstimateSets returns how many whole sets of components the cluster's nodes have
// room for. Each component may run on the nodes that pass the filters for one more
// copy of it. For how sets are placed, see [capacity.SetsOnNodes].
func (n Nodes) EstimateSets(c *api.Cluster, components []capacity.Component) (capacity.Estimate, error) {
	if c == nil {
		return capacity.Estimate{}, errNilCluster
	}
	snapshot := n.Snapshots[c.Name]
	if snapshot == nil {
		return capacity.Estimate{NoOpinion: true}, nil
	}
	set, err := n.onNodes(snapshot, components)
	if err != nil {
		return capacity.Estimate{}, ofCluster(c, "", err)
	}
	others, err := n.assumedOnNodes(c, snapshot)
	if err != nil {
		return capacity.Estimate{}, err
	}
	sets := capacity.SetsOnNodes(snapshot, set, others, capacity.MaxReplicas)
	return capacity.Estimate{Replicas: sets, NoOpinion: sets == capacity.MaxReplicas}, nil
}

// besideAssumed returns how many copies of the pod each node has room for beside the
// assumed workloads. It returns nil if there are none.
func (n Nodes) besideAssumed(c *api.Cluster, snapshot *framework.Snapshot, pod *framework.PodInfo) ([]int64, error) {
	others, err := n.assumedOnNodes(c, snapshot)
	if err != nil || len(others) == 0 {
		return nil, err
	}
	return capacity.ReplicasOnNodes(snapshot, pod, others), nil
}

// checkReplicas checks the replicas of a component.
func checkReplicas(components []capacity.Component, i int) error {
	if n := components[i].Replicas; n < 0 {
		return &api.InvalidError{Field: fmt.Sprintf("components[%d].replicas", i), Value: fmt.Sprint(n), Err: errNegative}
	}
	return nil
}

// onNodes finds the nodes that components may run on. With an error it returns those before the
// component that it is about.
func (n Nodes) onNodes(snapshot *framework.Snapshot, components []capacity.Component) ([]capacity.NodeComponent, error) {
	var set []capacity.NodeComponent
	for i := range components {
		k := &components[i]
		if err := checkReplicas(components, i); err != nil {
			return set, err
		}
		pod, verdicts, err := n.judge(snapshot, podOfComponent(k), false)
		if err != nil {
			return set, err
		}
		may := make([]bool, snapshot.Len())
		for i, v := range verdicts {
			may[i] = v.Verdict == scheduling.VerdictFeasible
		}
		set = append(set, capacity.NodeComponent{Replicas: k.Replicas, Pod: pod, May: may})
	}
	return set, nil
}

// podOfComponent returns a named pod for a component.
func podOfComponent(k *capacity.Component) *api.Pod {
	return podOf(&capacity.Replica{Request: k.Request, Pod: k.Pod})
}

// ofCluster adds the cluster and the field's path to an error about a field.
func ofCluster(c *api.Cluster, way string, err error) error {
	if e, ok := err.(*api.InvalidError); ok && e.Object == "" {
		named := *e
		named.Object, named.Field = "cluster "+c.Name, way+e.Field
		return &named
	}
	return err
}

var errNilCluster = &api.InvalidError{Object: "cluster", Value: "null", Err: errNil}

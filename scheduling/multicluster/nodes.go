package multicluster

import (
	"errors"
	"slices"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// Nodes is the accurate estimator: it runs the filters that place pods on the nodes
// of clusters whose snapshots it has.
//
//	estimate = sum over the nodes that pass the filters of capacity.OnNode
//
// The filters judge one more replica on the snapshot as it is. So the estimate is
// exact where resources and the number of pods limit. It is too high where replicas
// exclude each other in other ways (host ports, anti-affinity, topology spread).
// [Federation] finds out by placing them.
//
// Source: Karmada 1.13 and 1.18, the scheduler estimator.
//
// Differs: which filters run.
// Original: Karmada runs a copy of three of them.
// Here: any filters.
// Switch: [Nodes.Filter].
type Nodes struct {
	// Snapshots holds the clusters by name. Nodes only reads them, and has no
	// opinion of other clusters.
	Snapshots map[string]*framework.Snapshot
	// Filter holds filter plugins, as in [scheduling.Profile]. Karmada applies three
	// of kube-scheduler's: NodeUnschedulable, TaintToleration and NodeAffinity.
	Filter []framework.Plugin
	// Assumed holds, by cluster, workloads that were given to the cluster and are
	// not yet in its snapshot; see [capacity.Assumed]. The filters judge their pods on
	// the snapshot as it is, and only on the nodes that these come to. If a filter fails
	// there, the pod and the later components take no more room, and no error follows.
	//
	// A decision spends up to 20,000,000 steps on these pods, [Federation.Place] five
	// times as many: 50 for each component, and one whenever a node is asked about it. A
	// cluster gets an equal share of what the clusters before it left. Pods beyond that
	// take no room, so the estimate may be too high.
	Assumed map[string][]capacity.Assumed

	work *budget // of a decision, for assumed workloads; nil outside
}

// Name returns "scheduler-estimator", Karmada's name.
func (n Nodes) Name() string { return "scheduler-estimator" }

// Estimate adds up the room of the cluster's nodes. A replica without a pod counts
// as one container with the replica's requests.
func (n Nodes) Estimate(c *api.Cluster, replica *capacity.Replica) (capacity.Estimate, error) {
	r, err := n.estimate(c, replica, false)
	return r.Estimate, err
}

// Explain says for every node how many replicas it has room for, or why none may run
// there.
func (n Nodes) Explain(c *api.Cluster, replica *capacity.Replica) (capacity.ClusterReport, error) {
	return n.estimate(c, replica, true)
}

func (n Nodes) estimate(c *api.Cluster, replica *capacity.Replica, explain bool) (capacity.ClusterReport, error) {
	if c == nil {
		return capacity.ClusterReport{Estimator: n.Name()}, errNilCluster
	}
	r := capacity.ClusterReport{Cluster: c.Name, Estimator: n.Name(), From: capacity.FromNodes}
	snapshot := n.Snapshots[c.Name]
	if snapshot == nil {
		r.NoOpinion = true
		return r, nil
	}
	for _, node := range snapshot.All() {
		r.FreePods += max(0, node.AllowedPods-int64(len(node.Pods)))
	}
	pod, verdicts, err := n.judge(snapshot, podOf(replica), explain)
	if err != nil {
		return r, err
	}
	room, err := n.besideAssumed(c, snapshot, pod)
	if err != nil {
		return r, err
	}
	for i, v := range verdicts {
		report := capacity.NodeReport{Node: v.Node, Plugin: v.Plugin, Reasons: v.Reasons}
		if v.Verdict == scheduling.VerdictFeasible {
			report.Replicas, report.Limit = capacity.OnNode(pod, snapshot.Node(v.Node))
			if room != nil {
				report.Replicas = room[i]
			}
		}
		r.Replicas = resource.SatAdd(r.Replicas, report.Replicas)
		if explain {
			r.Nodes = append(r.Nodes, report)
		}
	}
	for _, a := range n.Assumed[c.Name] {
		for _, k := range a.Components {
			r.AssumedPods = resource.SatAdd(r.AssumedPods, k.Replicas)
		}
	}
	r.Replicas = min(r.Replicas, capacity.MaxReplicas)
	return r, nil
}

// judge runs the filters on every node, in the snapshot's order. If no node is
// feasible, it returns verdicts only if all is set.
func (n Nodes) judge(snapshot *framework.Snapshot, pod *api.Pod, all bool) (*framework.PodInfo, []scheduling.NodeExplanation, error) {
	info, err := snapshot.NewPodInfo(pod)
	if err != nil {
		return nil, nil, err
	}
	s, err := n.scheduler()
	if err != nil {
		return nil, nil, err
	}
	var unfit *scheduling.FitError
	_, err = s.Schedule(snapshot, info)
	switch {
	case err == nil:
	case errors.As(err, &unfit):
		if !all {
			return info, nil, nil
		}
	case errors.Is(err, scheduling.ErrNoNodes):
		return info, nil, nil
	default:
		return nil, nil, err
	}
	return info, s.Explain(snapshot, info).Nodes, nil
}

// scheduler returns a scheduler with the filters.
func (n Nodes) scheduler() (*scheduling.Scheduler, error) {
	return scheduling.New(scheduling.Profile{
		Name: n.Name(), Filter: n.Filter,
		Score: []scheduling.Weighted{{Plugin: indifferent{}}},
	})
}

// indifferent scores all nodes alike. Without any scorer, a scheduler would stop at
// the first feasible node.
type indifferent struct{}

func (indifferent) Name() string { return "Indifferent" }

func (indifferent) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

// podOf returns a named pod for a replica.
func podOf(replica *capacity.Replica) *api.Pod {
	pod := &api.Pod{}
	switch {
	case replica == nil:
	case replica.Pod != nil:
		*pod = *replica.Pod
	default:
		pod.Spec.Containers = []api.Container{{Name: "main"}}
		pod.Spec.Containers[0].Resources.Requests = positiveOf(replica.Request)
	}
	if pod.Name == "" {
		pod.Name = "replica"
	}
	return pod
}

// positiveOf drops requests that are not positive: estimators skip negative
// requests, and pods cannot have any.
func positiveOf(request resource.List) resource.List {
	l := request.Clone()
	for _, name := range slices.Clone(l.Names()) {
		if q := l[name]; q.Sign() <= 0 {
			delete(l, name)
		}
	}
	return l
}

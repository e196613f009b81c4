package workload

import (
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// daemonTolerations are the tolerations that the DaemonSet controller adds to its
// pods.
//
// Source: Kubernetes 1.37, pkg/controller/daemon/util.
var daemonTolerations = []api.Toleration{
	exists("node.kubernetes.io/not-ready", api.TaintEffectNoExecute),
	exists("node.kubernetes.io/unreachable", api.TaintEffectNoExecute),
	exists("node.kubernetes.io/disk-pressure", api.TaintEffectNoSchedule),
	exists("node.kubernetes.io/memory-pressure", api.TaintEffectNoSchedule),
	exists("node.kubernetes.io/pid-pressure", api.TaintEffectNoSchedule),
	exists(api.TaintNodeUnschedulable, api.TaintEffectNoSchedule),
}

// networkToleration is added for pods in the host's network.
var networkToleration = exists("node.kubernetes.io/network-unavailable", api.TaintEffectNoSchedule)

func exists(key string, effect api.TaintEffect) api.Toleration {
	return api.Toleration{Key: key, Operator: api.TolerationOpExists, Effect: effect}
}

// daemons makes a pod of a DaemonSet for each node that admits it. A required node
// affinity binds the pod to that node. A scheduler's explanation gives the verdict
// on every node.
func (w *Workload) daemons(nodes []*api.Node) ([]*api.Pod, error) {
	s, err := scheduling.New(scheduling.Profile{
		Filter: []framework.Plugin{filter.NodeName{}, filter.TaintToleration{}, filter.NodeAffinity{}},
		// Without a scorer, the search would end at the first feasible node.
		Score: []scheduling.Weighted{{Plugin: scoring.TaintToleration{}}},
	})
	if err != nil {
		return nil, err
	}
	snap := framework.NewSnapshot(framework.Arrival)
	for _, n := range nodes {
		if err := snap.AddNode(n); err != nil {
			return nil, err
		}
	}
	pattern := w.Pod()
	pattern.Name = w.Name
	info, err := snap.NewPodInfo(pattern)
	if err != nil {
		return nil, err
	}
	var pods []*api.Pod
	for _, n := range s.Explain(snap, info).Nodes {
		if n.Verdict == scheduling.VerdictFeasible {
			p := w.Pod()
			p.Name = w.Name + "-" + n.Node
			p.Spec.Affinity = onNode(p.Spec.Affinity, n.Node)
			pods = append(pods, p)
		}
	}
	return pods, nil
}

// tolerate adds the controller's tolerations to a pod of a DaemonSet.
func tolerate(p *api.Pod) {
	list := append([]api.Toleration{}, p.Spec.Tolerations...)
	if list = append(list, daemonTolerations...); p.Spec.HostNetwork {
		list = append(list, networkToleration)
	}
	p.Spec.Tolerations = list
}

// onNode returns a copy of the affinity that requires the node with that name, in
// place of its earlier requirements on nodes.
func onNode(a *api.Affinity, node string) *api.Affinity {
	var copied api.Affinity
	if a != nil {
		copied = *a
	}
	var nodes api.NodeAffinity
	if copied.NodeAffinity != nil {
		nodes = *copied.NodeAffinity
	}
	nodes.RequiredDuringSchedulingIgnoredDuringExecution = &api.NodeSelector{
		NodeSelectorTerms: []api.NodeSelectorTerm{{MatchFields: []api.NodeSelectorRequirement{
			{Key: fieldNodeName, Operator: api.NodeSelectorOpIn, Values: []string{node}},
		}}},
	}
	copied.NodeAffinity = &nodes
	return &copied
}

package workload

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
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
// affinity binds the pod to that node.
func (w *Workload) daemons(nodes []*api.Node) ([]*api.Pod, error) {
	pattern := w.Pod()
	pattern.Name = w.Name
	info, err := framework.NewPodInfo(pattern, resource.NewSchema())
	if err != nil {
		return nil, err
	}
	var pods []*api.Pod
	seen := make(map[string]bool, len(nodes))
	for i, n := range nodes {
		switch {
		case n == nil:
			return nil, fmt.Errorf("%s: nodes[%d]: is nil", w.Label(), i)
		case seen[n.Name]:
			return nil, fmt.Errorf("%s: nodes[%d]: there is already a node %q", w.Label(), i, n.Name)
		}
		if seen[n.Name] = true; admits(n, info) {
			p := w.Pod()
			p.Name = w.Name + "-" + n.Name
			p.Spec.Affinity = onNode(p.Spec.Affinity, n.Name)
			pods = append(pods, p)
		}
	}
	return pods, nil
}

// admits reports whether the name, the taints and the labels of a node admit a pod of a DaemonSet. Its room
// does not matter.
//
// Source: Kubernetes 1.37, pkg/controller/daemon, predicates.
func admits(n *api.Node, pod *framework.PodInfo) bool {
	name := pod.Pod.Spec.NodeName
	return (name == "" || name == n.Name) && !match.IsTainted(n.Spec.Taints, pod, false) && match.RequiredNodeAffinityOf(pod).Match(n)
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

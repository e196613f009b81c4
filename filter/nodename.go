package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
)

const reasonNodeName = framework.Text("node(s) didn't match the requested node name")

// NodeName keeps a pod with spec.nodeName to that node; other pods pass. The
// rejection of any other node is unresolvable.
//
// Source: kube-scheduler 1.37, plugin NodeName.
type NodeName struct{}

// Name returns "NodeName".
func (NodeName) Name() string { return "NodeName" }

// Scope declares that a verdict reads the pod's spec.nodeName and the node, if that is set.
func (NodeName) Scope(pod *framework.PodInfo) framework.Scope {
	if pod.Pod.Spec.NodeName == "" {
		return framework.Scope{}
	}
	return framework.Scope{Pod: framework.FieldNodeName, Reads: framework.ReadsNode}
}

// Concern implements [incremental.Concerned].
func (NodeName) Concern() framework.PodParts { return framework.PartNodeName }

// ScopeVaries implements [incremental.VaryingScoper].
func (NodeName) ScopeVaries() framework.PodParts { return 0 }

// EventsToRegister names the event that may help a rejected pod: its node is added.
func (p NodeName) EventsToRegister() []queueing.EventHint {
	named := func(pod *framework.PodInfo, node *api.Node) bool { return node.Name == pod.Pod.Spec.NodeName }
	return []queueing.EventHint{onNode(queueing.ActionAdd, became(named)), onSelf(p)}
}

// PreFilter restricts the search to the node that the pod names.
func (p NodeName) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	want := c.Pod.Pod.Spec.NodeName
	if want == "" {
		return framework.PreFiltered{}, framework.Status{}
	}
	names := framework.Scratch[[1]string](c)
	names[0] = want
	return framework.PreFiltered{Filter: p, NodeNames: names[:]}, framework.Status{}
}

// Filter rejects nodes other than the one that the pod names.
func (NodeName) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if want := pod.Pod.Spec.NodeName; want != "" && want != node.Node.Name {
		return framework.UnresolvableStatus(reasonNodeName)
	}
	return framework.Status{}
}

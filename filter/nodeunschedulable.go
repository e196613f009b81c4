package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/runner"
)

const reasonUnschedulable = framework.Text("node(s) were unschedulable")

// NodeUnschedulable rejects cordoned nodes (spec.unschedulable), unless the pod
// tolerates the taint node.kubernetes.io/unschedulable with effect NoSchedule.
// The rejection is unresolvable.
//
// Source: kube-scheduler 1.37, plugin NodeUnschedulable.
type NodeUnschedulable struct {
	// CompareNumbers lets tolerations use the operators Lt and Gt, as the
	// feature TaintTolerationComparisonOperators does. The default is off, as
	// in kube-scheduler 1.37.
	CompareNumbers bool
}

// Name returns "NodeUnschedulable".
func (NodeUnschedulable) Name() string { return "NodeUnschedulable" }

// Scope declares that a verdict reads the pod's tolerations and the node.
func (NodeUnschedulable) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldTolerations, Reads: framework.ReadsNode}
}

// ScopeVaries implements [incremental.VaryingScoper].
func (NodeUnschedulable) ScopeVaries() framework.PodParts { return 0 }

// EventsToRegister names the events that may help a rejected pod: an uncordoned node
// is added, a node is uncordoned, the pod's tolerations change.
func (p NodeUnschedulable) EventsToRegister() []queueing.EventHint {
	open := func(pod *framework.PodInfo, node *api.Node) bool {
		return !node.Spec.Unschedulable || p.tolerated(pod)
	}
	return []queueing.EventHint{onNode(queueing.ActionAdd|queueing.ActionUpdateNodeTaint, became(open)), onSelf(p)}
}

// PreFilter returns no filter for a pod that tolerates cordoned nodes: there is
// nothing to check.
func (p NodeUnschedulable) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if p.tolerated(c.Pod) {
		return framework.PreFiltered{}, framework.Status{}
	}
	return framework.PreFiltered{Filter: cordoned{}}, framework.Status{}
}

// Filter rejects a cordoned node that the pod does not tolerate.
func (p NodeUnschedulable) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if node.Cordoned() && !p.tolerated(pod) {
		return framework.UnresolvableStatus(reasonUnschedulable)
	}
	return framework.Status{}
}

func (p NodeUnschedulable) tolerated(pod *framework.PodInfo) bool {
	if pod.Runner().Parts&runner.ToleratesCordon != 0 {
		return true
	}
	taint := api.Taint{Key: api.TaintNodeUnschedulable, Effect: api.TaintEffectNoSchedule}
	return match.Tolerates(pod.Pod.Spec.Tolerations, &taint, match.Comparison(p.CompareNumbers))
}

// cordoned rejects every cordoned node.
type cordoned struct{}

func (cordoned) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if node.Cordoned() {
		return framework.UnresolvableStatus(reasonUnschedulable)
	}
	return framework.Status{}
}

// FilterNodes implements [incremental.BatchFilter].
func (cordoned) FilterNodes(_ *framework.PodInfo, nodes []*framework.NodeInfo, rejected []int) []int {
	for i, n := range nodes {
		if n.Cordoned() {
			rejected = append(rejected, i)
		}
	}
	return rejected
}

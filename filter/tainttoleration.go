package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/match"
)

const reasonTaint = framework.Text("node(s) had untolerated taint(s)")

// TaintToleration rejects nodes with a taint of effect NoSchedule or NoExecute
// that the pod does not tolerate. The rejection is unresolvable.
//
// Source: kube-scheduler 1.37, plugin TaintToleration.
type TaintToleration struct {
	// CompareNumbers lets tolerations use the operators Lt and Gt, as the
	// feature TaintTolerationComparisonOperators does. The default is off, as
	// in kube-scheduler 1.37.
	CompareNumbers bool
}

// Name returns "TaintToleration".
func (TaintToleration) Name() string { return "TaintToleration" }

// Scope declares that a verdict reads the pod's tolerations and the node.
func (TaintToleration) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldTolerations, Reads: framework.ReadsNode}
}

// ScopeVaries implements [incremental.VaryingScoper].
func (TaintToleration) ScopeVaries() framework.PodParts { return 0 }

// EventsToRegister names the events that may help a rejected pod: a node is added,
// or changed so that the pod now tolerates its taints; the pod's tolerations change.
func (p TaintToleration) EventsToRegister() []queueing.EventHint {
	tolerated := func(pod *framework.PodInfo, node *api.Node) bool {
		return !match.IsTainted(node.Spec.Taints, pod, match.Comparison(p.CompareNumbers))
	}
	return []queueing.EventHint{onNode(queueing.ActionAdd|queueing.ActionUpdateNodeTaint, became(tolerated)), onSelf(p)}
}

// Filter rejects a node with a taint that the pod does not tolerate.
func (p TaintToleration) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if !node.Tainted() {
		return framework.Status{}
	}
	if match.IsTainted(node.Node.Spec.Taints, pod, match.Comparison(p.CompareNumbers)) {
		return framework.UnresolvableStatus(reasonTaint)
	}
	return framework.Status{}
}

// FilterNodes implements [incremental.BatchFilter].
func (p TaintToleration) FilterNodes(pod *framework.PodInfo, nodes []*framework.NodeInfo, rejected []int) []int {
	for i, n := range nodes {
		if n.Tainted() && !p.Filter(pod, n).IsSuccess() {
			rejected = append(rejected, i)
		}
	}
	return rejected
}

// Details implements [framework.Detailer]: every taint that the pod does not tolerate.
func (p TaintToleration) Details(pod *framework.PodInfo, node *framework.NodeInfo) (list []framework.Detail) {
	taints := node.Node.Spec.Taints
	for i := range taints {
		taint := &taints[i]
		if match.IsTainted(taints[i:i+1], pod, match.Comparison(p.CompareNumbers)) {
			list = append(list, framework.Detail{Subject: "taint " + taintText(taint)})
		}
	}
	return list
}

// taintText writes a taint as "kubectl taint" does.
func taintText(t *api.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

package scoring

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// TaintToleration scores how many taints of effect PreferNoSchedule the pod does not
// tolerate ([TaintTolerationScore]). Normalizing gives the node with the most such
// taints 0 and a node without any 100.
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

// Scope declares that a score reads the pod's tolerations and the node.
func (TaintToleration) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldTolerations, Reads: framework.ReadsNode}
}

// ScopeVaries implements [incremental.VaryingScoper].
func (TaintToleration) ScopeVaries() framework.PodParts { return 0 }

// Score counts the node's taints of effect PreferNoSchedule that the pod does
// not tolerate.
func (p TaintToleration) Score(pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	if !node.Tainted() {
		return 0
	}
	return match.CountPreferences(node.Node.Spec.Taints, pod, match.Comparison(p.CompareNumbers))
}

// ScoreNodes implements [incremental.BatchScorer].
func (p TaintToleration) ScoreNodes(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	for i, n := range nodes {
		if scores[i] = 0; n.Tainted() {
			scores[i] = p.Score(pod, n)
		}
	}
}

// NormalizeScore implements [DefaultNormalizeScore], reversed.
func (TaintToleration) NormalizeScore(raw, _, largest int64) int64 {
	return DefaultNormalizeScore(raw, largest, true)
}

// TaintTolerationScore returns how many taints have the effect PreferNoSchedule and
// no matching toleration: fewer is better. Tolerations with the operators Lt and Gt
// tolerate nothing.
//
// Source: kube-scheduler 1.37, CountIntolerableTaintsPreferNoSchedule.
func TaintTolerationScore(taints []api.Taint, tolerations []api.Toleration) int64 {
	return match.UntoleratedPreferences(taints, tolerations, false)
}

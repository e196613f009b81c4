package topo

import (
	"encoding/binary"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// A Rule is a compiled spread constraint.
type Rule struct {
	// Key is the topology key and MaxSkew the allowed skew. If there are fewer
	// domains than MinDomains, the smallest count is taken as 0.
	Key        string
	MaxSkew    int64
	MinDomains int64
	// Self is true if the constraint selects the pod itself.
	Self bool

	pods     match.LabelSelector
	affinity bool // count only nodes that the pod's nodeSelector and affinity allow
	taints   bool // count only nodes whose hard taints the pod tolerates
}

// Rules are the spread constraints of one action, in order.
type Rules struct {
	List []Rule
	// Err reports the problems of the constraints.
	Err error
	// Own is true if the pod has spread constraints, even only of the other action.
	// Defaults do not apply then.
	Own bool

	text string // see spreadKey
	hash uint32 // of text, see shardOf

	workloads uint64 // version of the workloads that gave default rules; 0 for others
}

// HardRules and SoftRules return the pod's own constraints with the actions
// DoNotSchedule and ScheduleAnyway, compiled once per pod.
func HardRules(p *framework.PodInfo) *Rules {
	if !p.HasSpread() {
		return &noRules
	}
	return &rulesOf.Of(p).hard
}

// SoftRules is described at HardRules.
func SoftRules(p *framework.PodInfo) *Rules {
	if !p.HasSpread() {
		return &noRules
	}
	return &rulesOf.Of(p).soft
}

// OwnSpread reports whether the pod has spread constraints of its own, and whether some of
// them have the action. It compiles nothing.
func OwnSpread(p *framework.PodInfo, action api.UnsatisfiableConstraintAction) (own, some bool) {
	if !p.HasSpread() {
		return false, false
	}
	for i := range p.Pod.Spec.TopologySpreadConstraints {
		if p.Pod.Spec.TopologySpreadConstraints[i].WhenUnsatisfiable == action {
			return true, true
		}
	}
	return true, false
}

// podRules are the rules of a pod of both actions.
type podRules struct{ hard, soft Rules }

var rulesOf = framework.NewPodDerived(func(p *framework.PodInfo) *podRules {
	return &podRules{hard: ownRules(p, api.DoNotSchedule), soft: ownRules(p, api.ScheduleAnyway)}
})

func ownRules(p *framework.PodInfo, action api.UnsatisfiableConstraintAction) Rules {
	constraints := p.Pod.Spec.TopologySpreadConstraints
	count := 0
	for i := range constraints {
		if constraints[i].WhenUnsatisfiable == action {
			count++
		}
	}
	r := Rules{Own: true}
	if count == 0 {
		return r
	}
	r.List = make([]Rule, 0, count)
	for i := range constraints {
		c := &constraints[i]
		if c.WhenUnsatisfiable != action {
			continue
		}
		selector, err := match.NewLabelSelectorWith(c.LabelSelector, c.MatchLabelKeys, p.Pod.Labels)
		if err != nil {
			return Rules{Own: true, Err: err}
		}
		r.List = append(r.List, newRule(c, selector))
	}
	r.bind(p)
	return r
}

func newRule(c *api.TopologySpreadConstraint, selector match.LabelSelector) Rule {
	r := Rule{Key: c.TopologyKey, MaxSkew: int64(c.MaxSkew), MinDomains: 1, pods: selector, affinity: true}
	if c.MinDomains != nil {
		r.MinDomains = int64(*c.MinDomains)
	}
	if c.NodeAffinityPolicy != nil {
		r.affinity = *c.NodeAffinityPolicy == api.NodeInclusionPolicyHonor
	}
	if c.NodeTaintsPolicy != nil {
		r.taints = *c.NodeTaintsPolicy == api.NodeInclusionPolicyHonor
	}
	return r
}

// DefaultRules returns the default constraints with the action, for a pod without
// constraints of its own. selector selects the pods that belong together with the
// pod.
func DefaultRules(constraints []api.TopologySpreadConstraint, action api.UnsatisfiableConstraintAction, selector match.LabelSelector, p *framework.PodInfo) *Rules {
	r := new(Rules)
	for i := range constraints {
		if c := &constraints[i]; c.WhenUnsatisfiable == action {
			r.List = append(r.List, newRule(c, selector))
		}
	}
	r.bind(p)
	return r
}

// bind completes the rules with the parts that depend on the pod.
func (r *Rules) bind(p *framework.PodInfo) {
	if len(r.List) == 0 {
		return
	}
	var buffer [256]byte
	b := binary.AppendUvarint(appendBool(buffer[:0], r.Own), uint64(len(r.List)))
	b = match.AppendString(b, p.Pod.Namespace)
	affinity, taints := false, false
	for i := range r.List {
		rule := &r.List[i]
		rule.Self = rule.pods.Matches(p.Pod.Labels)
		b = rule.pods.AppendKey(match.AppendString(b, rule.Key))
		b = appendBool(appendBool(b, rule.affinity), rule.taints)
		affinity, taints = affinity || rule.affinity, taints || rule.taints
	}
	if affinity {
		b = p.AppendClassKey(b, framework.FieldNodeChoice)
	}
	if taints {
		b = p.AppendClassKey(b, framework.FieldTolerations)
	}
	r.text, r.hash = string(b), shardOf(string(b))
}

// HonorsTaints reports whether only nodes whose taints the pod tolerates count.
func (r *Rule) HonorsTaints() bool { return r.taints }

// Selects reports whether the rule's constraint selects the other pod, terminating
// or not, and whether it counts such a pod on a node. It counts no terminating
// pods, and no pods at all if the selector is empty.
func (r *Rule) Selects(other *framework.PodInfo) (selected, counted bool) {
	if !r.pods.Matches(other.Pod.Labels) {
		return false, false
	}
	return true, !terminating(other.Pod) && !r.pods.SelectsEverything()
}

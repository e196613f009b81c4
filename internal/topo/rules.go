package topo

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// A Rule is a compiled spread constraint.
type Rule struct {
	// Key is the topology key, MaxSkew the skew that is allowed, and MinDomains
	// below how many domains the smallest count is taken to be 0.
	Key        string
	MaxSkew    int64
	MinDomains int64
	// Self tells that the constraint selects the pod itself.
	Self bool

	pods     match.LabelSelector
	affinity bool // only nodes that the pod's nodeSelector and affinity allow count
	taints   bool // only nodes whose hard taints the pod tolerates count
}

// Rules are the spread constraints of one action, in order.
type Rules struct {
	List []Rule
	// Err is what is wrong with them.
	Err error
	// Own tells that the pod has spread constraints, be they of the other
	// action: then defaults do not apply.
	Own bool

	// Keys in Tables.spreads of what is counted: for Hard, and for Soft with and
	// without strict.
	hard, strict, loose string

	workloads workloads // that default rules follow from
}

// HardRules and SoftRules return the pod's own constraints with the actions
// DoNotSchedule and ScheduleAnyway, compiled once per pod.
func HardRules(p *framework.PodInfo) *Rules {
	if !p.HasSpread() {
		return &noRules
	}
	return hardRules.Of(p)
}

// SoftRules is described at HardRules.
func SoftRules(p *framework.PodInfo) *Rules {
	if !p.HasSpread() {
		return &noRules
	}
	return softRules.Of(p)
}

var (
	hardRules = framework.NewPodDerived(func(p *framework.PodInfo) *Rules { return ownRules(p, api.DoNotSchedule) })
	softRules = framework.NewPodDerived(func(p *framework.PodInfo) *Rules { return ownRules(p, api.ScheduleAnyway) })
)

func ownRules(p *framework.PodInfo, action api.UnsatisfiableConstraintAction) *Rules {
	constraints := p.Pod.Spec.TopologySpreadConstraints
	r := &Rules{Own: len(constraints) > 0}
	for i := range constraints {
		c := &constraints[i]
		if c.WhenUnsatisfiable != action {
			continue
		}
		selector, err := match.NewLabelSelector(c.LabelSelector)
		if err != nil {
			return &Rules{Own: true, Err: err}
		}
		r.List = append(r.List, newRule(c, withLabelKeys(selector, c.MatchLabelKeys, p.Pod.Labels)))
	}
	r.bind(p)
	return r
}

// withLabelKeys adds to a selector that pods have the same values of these
// labels as this pod. Keys that it has no label for add nothing.
func withLabelKeys(s match.LabelSelector, keys []string, labels map[string]string) match.LabelSelector {
	same := map[string]string{}
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			same[key] = value
		}
	}
	if len(same) == 0 {
		return s
	}
	return match.LabelsOf(same).And(s)
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

// DefaultRules returns those of the default constraints that have the action,
// for a pod without constraints of its own that belongs with the pods that the
// selector selects.
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

// bind completes the rules with what depends on the pod.
func (r *Rules) bind(p *framework.PodInfo) {
	if len(r.List) == 0 {
		return
	}
	b := appendString(nil, p.Pod.Namespace)
	affinity, taints := false, false
	for i := range r.List {
		rule := &r.List[i]
		rule.Self = rule.pods.Matches(p.Pod.Labels)
		b = rule.pods.AppendKey(appendString(b, rule.Key))
		b = fmt.Appendf(b, "%t %t;", rule.affinity, rule.taints)
		affinity, taints = affinity || rule.affinity, taints || rule.taints
	}
	if affinity {
		b = appendString(b, p.ClassKey(framework.FieldNodeChoice))
	}
	if taints {
		b = appendString(b, p.ClassKey(framework.FieldTolerations))
	}
	text := fmt.Sprintf("%t ", r.Own) + string(b)
	r.hard, r.strict, r.loose = "h"+text, "s"+text, "l"+text
}

// HonorsTaints tells that nodes count only where the pod tolerates their taints.
func (r *Rule) HonorsTaints() bool { return r.taints }

// Selects reports whether the rule's constraint selects the other pod, be it
// terminating, and whether it counts such a pod on a node: it does not count
// terminating pods, nor any where the selector asks for nothing.
func (r *Rule) Selects(other *framework.PodInfo) (selected, counted bool) {
	if !r.pods.Matches(other.Pod.Labels) {
		return false, false
	}
	return true, !terminating(other.Pod) && !r.pods.SelectsEverything()
}

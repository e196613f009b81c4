package topo

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/runner"
)

// replicas recognize a pod by its controller: replicas of one template have equal labels and
// constraints, so what was found out about one of them holds for all. A look at the
// controller and a comparison cost less than the texts that find the same for any pod, in
// [Tables.classOf] and [ShareRules]. The zero value is empty. It is emptied when it
// is full.
type replicas struct {
	of    map[api.UID]*replica
	bytes int // about what was put in
}

// A replica is what a pod of a controller looks like that came lately. It shares no memory
// with the pod that the pod's owner may change.
type replica struct {
	namespace string
	labels    []label
	counted   *runner.Counted // what it counts as; nil if that is not known

	constraints []plainConstraint
	rules       *podRules // of these; nil if they are not known

	unlike int // pods in a row that were not like the one before
}

type label struct{ key, value string }

// A plainConstraint is a spread constraint without expressions, minDomains and policies.
type plainConstraint struct {
	maxSkew           int32
	key               string
	whenUnsatisfiable api.UnsatisfiableConstraintAction
	selects           bool // there is a selector
	labels            []label
	labelKeys         []string
}

// plainMost is how many bytes the texts of a replica's constraints have at most.
const plainMost = 1 << 10

// unlikeMost is how many pods of a controller in a row may differ. Then it is taken for one
// whose pods are never alike, such as those of a StatefulSet.
const unlikeMost = 4

// known returns the replica that the pod is like, nil if none is known. Right after note, it
// is the pod itself.
func (t *Tables) known(p *framework.PodInfo) *replica {
	owner := p.Pod.ControllerRef()
	if owner == nil {
		return nil
	}
	r := t.replicas.of[owner.UID]
	if r == nil || r.unlike > unlikeMost || !r.like(p.Pod) {
		return nil
	}
	return r
}

// note returns the replica in which to note what was found out about the pod, nil if that
// helps nobody.
func (t *Tables) note(p *framework.PodInfo) *replica {
	owner := p.Pod.ControllerRef()
	if owner == nil || terminating(p.Pod) {
		return nil
	}
	l := &t.replicas
	r := l.of[owner.UID]
	switch {
	case r == nil:
	case r.unlike > unlikeMost:
		return nil
	case r.like(p.Pod):
		return r
	}
	fresh := &replica{namespace: p.Pod.Namespace, labels: labelsOf(p.Pod.Labels)}
	if r != nil {
		fresh.unlike = r.unlike + 1
	}
	bytes := len(owner.UID) + 2*textLen(fresh.labels) // counted repeats them
	if l.of == nil || len(l.of) >= literalsMost || l.bytes+bytes > literalsBytes {
		*l = replicas{of: map[api.UID]*replica{}}
	}
	l.of[owner.UID] = fresh
	l.bytes += bytes
	return fresh
}

// like reports whether the pod counts as the replica does, unless it has terms.
func (r *replica) like(p *api.Pod) bool {
	return p.Namespace == r.namespace && !terminating(p) && equalLabels(p.Labels, r.labels)
}

// count makes a pod without terms count as the replica does, if that is known.
func (r *replica) count(p *framework.PodInfo) *runner.Counted {
	if r.counted == nil || hasTerms(p) {
		return nil
	}
	r.unlike = 0
	p.Runner().Counted.Store(r.counted)
	return r.counted
}

// rulesFor returns the compiled rules of a pod that is like the replica, nil if they are not
// known. Rules of pods that require something of a node depend on that, too.
func (r *replica) rulesFor(p *framework.PodInfo) *podRules {
	if r.rules == nil || demands(p) || !slices.EqualFunc(r.constraints, p.Pod.Spec.TopologySpreadConstraints, plainConstraint.is) {
		return nil
	}
	r.unlike = 0
	return r.rules
}

// noteRules notes the compiled rules of a pod that is like the replica, if its constraints
// are plain.
func (r *replica) noteRules(p *framework.PodInfo, rules *podRules) {
	if demands(p) {
		return
	}
	r.constraints, r.rules = nil, nil
	left := plainMost
	for i := range p.Pod.Spec.TopologySpreadConstraints {
		c := &p.Pod.Spec.TopologySpreadConstraints[i]
		plain := plainConstraint{maxSkew: c.MaxSkew, key: c.TopologyKey, whenUnsatisfiable: c.WhenUnsatisfiable, labelKeys: slices.Clone(c.MatchLabelKeys)}
		if plain.selects = c.LabelSelector != nil; plain.selects {
			plain.labels = labelsOf(c.LabelSelector.MatchLabels)
		}
		if left -= plain.textLen(); left < 0 || !plain.is(*c) {
			return
		}
		r.constraints = append(r.constraints, plain)
	}
	r.rules = rules
}

// is reports whether the other constraint is the same, and as plain.
func (c plainConstraint) is(o api.TopologySpreadConstraint) bool {
	if c.maxSkew != o.MaxSkew || c.key != o.TopologyKey || c.whenUnsatisfiable != o.WhenUnsatisfiable || c.selects != (o.LabelSelector != nil) ||
		o.MinDomains != nil || o.NodeAffinityPolicy != nil || o.NodeTaintsPolicy != nil || !slices.Equal(c.labelKeys, o.MatchLabelKeys) {
		return false
	}
	return !c.selects || len(o.LabelSelector.MatchExpressions) == 0 && equalLabels(o.LabelSelector.MatchLabels, c.labels)
}

// textLen is about how many bytes the texts of the constraint have.
func (c *plainConstraint) textLen() int {
	n := len(c.key) + len(c.whenUnsatisfiable) + textLen(c.labels)
	for _, key := range c.labelKeys {
		n += len(key)
	}
	return n
}

// textLen is how many bytes labels have.
func textLen(labels []label) (n int) {
	for _, x := range labels {
		n += len(x.key) + len(x.value)
	}
	return n
}

// labelsOf lists labels, in any order.
func labelsOf(labels map[string]string) []label {
	list := make([]label, 0, len(labels))
	for key, value := range labels {
		list = append(list, label{key, value})
	}
	return list
}

// equalLabels reports whether these are all of the labels.
func equalLabels(labels map[string]string, list []label) bool {
	if len(labels) != len(list) {
		return false
	}
	for i := range list {
		if value, ok := labels[list[i].key]; !ok || value != list[i].value {
			return false
		}
	}
	return true
}

package topo

import (
	"encoding/binary"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// literals are the compiled rules of pods that came lately, by what the rules are compiled
// from. Most pods are replicas, so rules are compiled for the first of them only. The zero
// value is empty. It is emptied when it is full.
type literals struct {
	rules map[string]*podRules
	bytes int // of the keys
}

// literalsMost is the maximum number of rules in literals, and literalsBytes that of bytes
// of their keys: users write what stands in them.
const (
	literalsMost  = 1 << 12
	literalsBytes = 4 << 20
)

// ShareRules gives the pod the compiled rules of an equal pod that came before, if there is
// one, and compiles them otherwise. HardRules and SoftRules do the same for a single pod.
func ShareRules(s *framework.Snapshot, p *framework.PodInfo) {
	if p.HasSpread() && rulesOf.Known(p) == nil {
		tables.Of(s).shareRules(p)
	}
}

func (t *Tables) shareRules(p *framework.PodInfo) {
	if like := t.known(p); like != nil {
		if r := like.rulesFor(p); r != nil {
			rulesOf.Share(p, r)
			like.count(p)
			return
		}
	}
	r := t.rulesLike(p)
	if like := t.note(p); like != nil {
		like.noteRules(p, r)
	}
}

// rulesLike gives the pod the rules of a pod with the same literal.
func (t *Tables) rulesLike(p *framework.PodInfo) *podRules {
	l := &t.literals
	t.text = appendLiteral(t.text[:0], p)
	if r := l.rules[string(t.text)]; r != nil {
		return rulesOf.Share(p, r)
	}
	if l.rules == nil || len(l.rules) >= literalsMost || l.bytes+len(t.text) > literalsBytes {
		*l = literals{rules: map[string]*podRules{}}
	}
	r := rulesOf.Of(p)
	l.rules[string(t.text)] = r
	l.bytes += len(t.text)
	return r
}

// appendLiteral appends all that the pod's own rules are compiled from: its constraints, its
// labels as far as these look at them, its namespace and what else [Rules.bind] reads.
func appendLiteral(b []byte, p *framework.PodInfo) []byte {
	spec := &p.Pod.Spec
	b = match.AppendString(b, p.Pod.Namespace)
	b = binary.AppendUvarint(b, uint64(len(spec.TopologySpreadConstraints)))
	for i := range spec.TopologySpreadConstraints {
		b = appendConstraint(b, &spec.TopologySpreadConstraints[i], p.Pod.Labels)
	}
	if len(spec.NodeSelector) > 0 || spec.Affinity != nil {
		b = p.AppendClassKey(append(b, 1), framework.FieldNodeChoice)
	} else {
		b = append(b, 0)
	}
	if len(spec.Tolerations) > 0 {
		b = p.AppendClassKey(append(b, 1), framework.FieldTolerations)
	}
	return b
}

// appendConstraint appends a constraint, and the labels of its pod that it looks at.
func appendConstraint(b []byte, c *api.TopologySpreadConstraint, labels map[string]string) []byte {
	b = match.AppendString(binary.AppendVarint(b, int64(c.MaxSkew)), c.TopologyKey)
	b = match.AppendString(b, string(c.WhenUnsatisfiable))
	b = appendBool(b, c.MinDomains != nil)
	if c.MinDomains != nil {
		b = binary.AppendVarint(b, int64(*c.MinDomains))
	}
	for _, policy := range [...]*api.NodeInclusionPolicy{c.NodeAffinityPolicy, c.NodeTaintsPolicy} {
		b = appendBool(b, policy != nil)
		if policy != nil {
			b = match.AppendString(b, string(*policy))
		}
	}
	look := func(key string) {
		value, ok := labels[key]
		b = match.AppendString(appendBool(match.AppendString(b, key), ok), value)
	}
	b = binary.AppendUvarint(b, uint64(len(c.MatchLabelKeys)))
	for _, key := range c.MatchLabelKeys {
		look(key)
	}
	if b = appendBool(b, c.LabelSelector != nil); c.LabelSelector == nil {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(c.LabelSelector.MatchLabels)))
	var few [8]string
	keys := few[:0]
	for key := range c.LabelSelector.MatchLabels {
		keys = append(keys, key)
	}
	if len(keys) > 1 {
		slices.Sort(keys)
	}
	for _, key := range keys {
		look(key)
		b = match.AppendString(b, c.LabelSelector.MatchLabels[key])
	}
	b = binary.AppendUvarint(b, uint64(len(c.LabelSelector.MatchExpressions)))
	for i := range c.LabelSelector.MatchExpressions {
		e := &c.LabelSelector.MatchExpressions[i]
		look(e.Key)
		b = appendStrings(match.AppendString(b, string(e.Operator)), e.Values)
	}
	return b
}

// AppendMalformed appends what tells apart pods with malformed constraints, which have no
// rules. AppendKey never begins like this.
func AppendMalformed(b []byte, p *framework.PodInfo) []byte {
	return p.AppendClassKey(append(b, 2), framework.FieldSpread)
}

package topo

import (
	"encoding/binary"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// What plugins append to the class key of a pod: not its labels, but what selectors say
// about them.

// AppendAffinityKey appends a text that is equal for pods with the same Affinity: the
// same counters, and whether the pod is the first of its group. It appends nothing for
// a pod that nothing counts for.
func AppendAffinityKey(b []byte, s *framework.Snapshot, p *framework.PodInfo) []byte {
	a := Of(s).Affinity(p)
	if a == nil || a.requiresNothing() && a.prefersNothing() {
		return b
	}
	return a.appendCounts(b)
}

// appendCounts appends which counts there are.
func (a *Affinity) appendCounts(b []byte) []byte {
	t := a.tables
	for _, list := range [...][]Count{a.Attract, a.Repel, a.Barred, a.Demand} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, c := range list {
			b = binary.AppendUvarint(b, t.counters[c.id].serial)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(a.Prefer)))
	for i := range a.Prefer {
		w := &a.Prefer[i]
		b = binary.AppendVarint(binary.AppendUvarint(b, t.counters[w.id].serial), w.Weight)
	}
	b = appendBool(b, a.Self)
	if x := a.Others; x != nil {
		b[len(b)-1] |= 2
		b = match.AppendString(b, x.text) // a digest: others cannot make the key long
	}
	return b
}

// followNamespaces notices that namespaces have changed.
func (t *Tables) followNamespaces() {
	if v := framework.ObjectsVersion[api.Namespace](t.snapshot); v != t.namespaces {
		t.clock++
		t.namespaces, t.named = v, t.clock
		t.newTerms()
	}
}

// AppendKey appends a text that is equal for pods with the same rules and counters. The
// rules are those that the counts are of.
func (s *Spread) AppendKey(b []byte, r *Rules) []byte {
	b = appendBool(b, s.strict)
	for i := range r.List {
		rule := &r.List[i]
		b = binary.AppendUvarint(match.AppendString(b, rule.Key), s.tables.counters[s.usage.ids[i]].serial)
		b = binary.AppendVarint(binary.AppendVarint(b, rule.MaxSkew), rule.MinDomains)
		b = appendBool(b, rule.Self)
	}
	return b
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

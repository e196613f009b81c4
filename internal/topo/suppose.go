package topo

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// What pods would count if they were on a node. Nothing is added to the tables for it, so
// class keys and answers that are kept stand.

// Stale reports whether some counters stand for selectors that matched nobody: then the
// methods of this file cannot tell. It is never true while pods are nominated, unless the
// binding is older.
func (a *Affinity) Stale() bool { return a.found.vacant }

// Stale is that of [Affinity].
func (s *Spread) Stale() bool { return s.found.vacant }

// Selects reports whether the counter counts the pod, if it is on a node that counts.
func (c Count) Selects(p *framework.PodInfo) bool {
	return c.tables.counters[c.id].pods.has(looksOf(p.Pod))
}

// BarredBy reports whether a required anti-affinity term of the other pod would keep the pod,
// which these counts were asked for, off the node, if the other pod were there.
func (a *Affinity) BarredBy(p *api.Pod, other *framework.PodInfo, n *framework.NodeInfo) bool {
	terms := TermsOf(other).RequiredAnti
	if len(terms) == 0 {
		return false
	}
	labels := a.namespaceLabels(p.Namespace)
	for i := range terms {
		t := &terms[i]
		if _, ok := n.Node.Labels[t.Key]; ok && t.Matches(p.Namespace, labels, p.Labels) {
			return true
		}
	}
	return false
}

// IsRepelled reports whether the pod, which these counts were asked for, is kept off by its required anti-affinity
// term of that number, once another pod like it has it on a node. It is like [Affinity.Repels], but the
// pod's namespace need not be known.
func (a *Affinity) IsRepelled(p *api.Pod, term int) bool {
	return a.traits.terms.RequiredAnti[term].Matches(p.Namespace, a.namespaceLabels(p.Namespace), p.Labels)
}

// namespaceLabels are the labels of a namespace, none if it is not known.
func (a *Affinity) namespaceLabels(name string) map[string]string {
	if n := framework.Lookup[api.Namespace](a.tables.snapshot, name); n != nil {
		return n.Labels
	}
	return nil
}

package topo

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/match"
)

// Vacant selectors: those that match no pod on a node, and match none that was there
// lately. Most selectors of a pod that is the first of its app are. So are those with a
// topology key that no node has. They all count alike, so they share the counter of nobody,
// and terms of that kind are left out. Pods that differ only in such selectors are of one
// class.
//
// A vacant selector may match a pod that comes. A pod like no other makes a class of pods
// (class.go), and a node may be the first with a topology key; then all bindings with vacant
// selectors are resolved again before they are used, and class keys are found again.

// nobody is the set of no pods.
var nobody = func() podSet {
	s := podSet{parts: []podPart{{pods: match.Nothing()}}}
	s.key, s.leads = s.newKey(), s.findTargets() // now, as goroutines share it
	return s
}()

// A vacancy is what the tables know of vacant selectors.
//
// Invariant: if promised is set, some binding was used as vacant since keyVersion changed.
// Then addClass and wake change it. So while a class key holds that was found for a vacant
// selector, the selector is vacant.
type vacancy struct {
	promised  bool
	nominated bool   // pods are nominated, which vacant selectors may match: none is vacant
	ended     uint64 // time when bindings were last given up: a selector may be vacant again
}

func (v *vacancy) allowed() bool { return !v.nominated }

// newKeys begins a new version of class keys.
func (t *Tables) newKeys() {
	t.keyVersion = t.snapshot.NewVersion()
	t.vacancy.promised = false
}

// newTerms notes that the namespaces have changed, which terms may select.
func (t *Tables) newTerms() {
	t.newKeys()
	t.termVersion = t.keyVersion
	t.termNews = newHistory[termNews](t.clock, t.limits.termNews)
}

// noteTerm notes that a term has come or is gone.
func (t *Tables) noteTerm(n termNews) {
	t.newKeys()
	t.termVersion = t.keyVersion
	t.termNews.add(t.clock, n)
}

// followNominations makes no selector vacant while pods are nominated to nodes: those are
// not counted, and yet decisions are made as if they were.
func (t *Tables) followNominations() {
	if is := t.snapshot.Nominations() > 0; is != t.vacancy.nominated {
		t.vacancy.nominated = is
		t.newKeys()
	}
}

// A resolution is when a binding was resolved, and whether some of its selectors were
// vacant then.
type resolution struct {
	vacant bool
	at     uint64 // Tables.keyVersion
}

// old reports whether the binding must be resolved again.
func (r *resolution) old(t *Tables) bool {
	if r.vacant && r.at == t.keyVersion {
		t.vacancy.promised = true
		return false
	}
	return r.vacant
}

// resolved is the resolution of a binding made now.
func (t *Tables) resolved(vacant bool) resolution {
	t.vacancy.promised = t.vacancy.promised || vacant
	return resolution{vacant, t.keyVersion}
}

// ended is a time before which the binding may have had other counters.
func (r *resolution) ended(t *Tables) uint64 {
	if r.vacant {
		return t.vacancy.ended
	}
	return 0
}

// KeySource is the source of KeyVersion, for [incremental.SharedKeyer].
const KeySource = "internal/topo"

// KeyVersion identifies all that the class keys of this package read besides the pod: the
// terms of the pods in the cluster, the namespaces, services and controllers, and, as far
// as keys rely on it, which selectors match nobody.
func KeyVersion(s *framework.Snapshot) uint64 {
	t := tables.Of(s)
	if t.tracking {
		t.followNamespaces()
		t.followNominations()
	} else {
		t.followTerms()
	}
	if v := t.workloadsVersion(); v != t.defaultsVersion {
		t.defaultsVersion = v
		t.newKeys()
	}
	return t.keyVersion
}

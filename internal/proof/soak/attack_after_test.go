package soak

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestAttackTermsStay: a tenant has 200 pods at a time, each with 50 terms of ever new
// topology keys, which no node has, that match pods of all namespaces. Innocent pods slow
// down meanwhile, and do not come back to their rate once the tenant's pods are gone.
func TestAttackTermsStay(t *testing.T) {
	w, err := newTown()
	if err != nil {
		t.Fatal(err)
	}
	control, err := newTown()
	if err != nil {
		t.Fatal(err)
	}
	rounds := func(n int, before func(i int)) (relative float64, absolute time.Duration) {
		w.took, control.took = nil, nil
		for i := range n {
			if before != nil {
				before(i)
			}
			if err := errors.Join(w.round(nil), control.round(nil)); err != nil {
				t.Fatal(err)
			}
		}
		relative = w.rate() / control.rate()
		slices.Sort(w.took)
		return relative, w.took[len(w.took)/2]
	}
	relative, took := rounds(40, nil)
	t.Logf("before: %.0f %%, %v a round", 100*relative, took)
	var ps []*api.Pod
	n := 0
	relative, took = rounds(60, func(int) {
		for range 5 {
			n++
			b := hpod(n)
			for k := range 50 {
				b = b.PreferPodAffinity(5, fmt.Sprint("key", n, "-", k), "app")
			}
			p := api.Clone(b.Obj())
			inAllNamespaces(p)
			ps = append(ps, p)
			w.d.Apply(lifecycle.Update(p))
		}
		if len(ps) > 200 {
			del(w, ps[:5])
			ps = ps[5:]
		}
		w.settle()
	})
	t.Logf("beside the tenant: %.1f %%, %v a round", 100*relative, took)
	del(w, ps)
	w.settle()
	for _, p := range w.d.Snapshot().All() {
		for _, q := range p.Pods {
			if q.Pod.Namespace == "hostile" {
				t.Fatal("a hostile pod is left")
			}
		}
	}
	for range 8 {
		relative, took = rounds(100, nil)
		t.Logf("100 rounds (10,000 innocent pods) later: %.1f %%, %v a round", 100*relative, took)
	}
	if relative < 0.8 {
		t.Errorf("the innocent rate stays at %.1f %%", 100*relative)
	}
	t.Logf("heap %d MB", inUse()>>20)
}

package topo

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func putService(t *testing.T, s *framework.Snapshot, name, app string) {
	t.Helper()
	o := &api.Service{ObjectMeta: api.ObjectMeta{Name: name}}
	o.Spec.Selector = map[string]string{"app": app}
	if err := framework.Put(s, o); err != nil {
		t.Fatal(err)
	}
}

// TestUncounted: nothing is counted or indexed until somebody asks for counts, or keys have been found often.
func TestUncounted(t *testing.T) {
	s := on(t, []string{"a"}, []string{"b"})
	for i := range 6 {
		add(t, s, web(fmt.Sprint("web", i)), "a")
	}
	putService(t, s, "web", "web")
	f := s.Fork()
	p := info(t, f, web("asks"))
	KeyVersion(f)
	if !Uncounted(f) || KnowsDefaults(f) {
		t.Fatal("a snapshot that nobody has asked has counted or indexed something")
	}
	keys := 0
	for ; Uncounted(f); keys++ {
		if keys > 1000 {
			t.Fatal("keys never make tables count")
		}
		AppendUncounted(nil, f, p)
	}
	if want := countingShare * 6 / 2; keys != want {
		t.Errorf("%d keys were found before tables count, want %d", keys, want)
	}
	if g := f.Fork(); !Uncounted(g) {
		t.Error("a fork counts at once, though nobody has asked for counts")
	}
	tables := Of(f)
	if tables.tracking {
		t.Error("pods are counted, though none has terms")
	}
	q := info(t, f, spread(api.ScheduleAnyway, api.LabelHostname))
	tables.Soft(q, SoftRules(q), true)
	if !tables.tracking || Uncounted(f) {
		t.Error("pods are not counted, though somebody asked for counts")
	}
	if g := f.Fork(); Uncounted(g) {
		t.Error("a fork does not know what is counted")
	}
	checkTables(t, tables)
}

// TestUncountedVersion: what keys read changes their version before anything is counted, too.
func TestUncountedVersion(t *testing.T) {
	s := on(t, []string{"a"})
	add(t, s, web("there"), "a")
	at := KeyVersion(s)
	changes := func(what string, want bool, change func()) {
		t.Helper()
		change()
		now := KeyVersion(s)
		if now != at != want {
			t.Errorf("%s: the version has changed: %v, want %v", what, now != at, want)
		}
		if at = now; Of(s).tracking != (s.PodsWithAffinity() > 0) {
			t.Errorf("%s: tables count without need", what)
		}
	}
	changes("nothing", false, func() {})
	changes("a service comes", true, func() { putService(t, s, "web", "web") })
	mark := s.Begin()
	changes("another comes", true, func() { putService(t, s, "db", "db") })
	changes("it is rolled back", true, func() { s.Rollback(mark) })
	changes("services are indexed", true, func() { workloadsOf(s) })
	changes("a pod comes", false, func() { add(t, s, web("comes"), "a") })
	var h *framework.PodInfo
	changes("the first pod with terms comes", true, func() { h = add(t, s, hermit("hermit", api.LabelHostname), "a") })
	if err := s.RemovePod(h, "a"); err != nil {
		t.Fatal(err)
	}
	f := s.Fork()
	if !Of(f).tracking {
		t.Error("a fork has forgotten what is counted")
	}
}

// TestTermsBeforeCounts: while nobody asks about terms, they are not counted; the first question counts those
// that have come meanwhile.
func TestTermsBeforeCounts(t *testing.T) {
	s := on(t, []string{"a"}, []string{"b"})
	KeyVersion(s) // makes tables
	h := add(t, s, hermit("hermit", api.LabelHostname), "a")
	if v := KeyVersion(s); tables.Of(s).tracking {
		t.Errorf("terms are counted for version %d of keys", v)
	}
	if err := tables.Of(s).Check(s); err != nil {
		t.Error(err)
	}
	p := info(t, s, web("asks"))
	if a := Of(s).Affinity(p); a == nil || len(a.Barred) != 1 || a.Barred[0].Total() != 1 {
		t.Errorf("the term is not known: %+v", a)
	}
	if err := s.RemovePod(h, "a"); err != nil {
		t.Fatal(err)
	}
	if a := Of(s).Affinity(p); a != nil && a.Bars() {
		t.Error("the term still counts")
	}
	checkTables(t, Of(s))
}

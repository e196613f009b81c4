package framework_test

import (
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
)

func TestChanges(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "a", "b", "c") // slots 0, 1, 2
	p := podInfo(t, s, plainPod("p"))
	start := s.Version()
	check := func(step string, since uint64, want ...int) {
		t.Helper()
		if got, ok := s.Changes(since); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: Changes(%d) = %v, %t, want %v, true", step, since, got, ok, want)
		}
	}
	check("nothing", start)
	must(t, s.AddPod(p, "b"))
	check("a pod came", start, 1)
	middle := s.Version()
	s.Touch(s.Node("c"))
	must(t, s.UpdateNode(plainNode("a")))
	must(t, s.RemovePod(p, "b"))
	check("all", start, 1, 2, 0, 1)
	check("later ones", middle, 2, 0, 1)
	check("none since now", s.Version())

	m := s.Begin()
	must(t, s.AddPod(p, "a"))
	now := s.Version()
	s.Rollback(m)
	check("taken back", now, 0)

	before := s.Version()
	must(t, s.RemoveNode("a"))
	must(t, s.AddNode(plainNode("d")))
	check("a node went, another came", before, 0, 0)

	if got, ok := s.Changes(s.Version() + 1); ok {
		t.Errorf("Changes of the future = %v, true", got)
	}
	f := s.Fork()
	if f.Version() != 0 {
		t.Errorf("Version of a fork = %d, want 0", f.Version())
	}
}

// Who is far behind is told so, and never something wrong.
func TestChangesForgets(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "a", "b")
	nodes := []*framework.NodeInfo{s.Node("a"), s.Node("b")}
	const remembered = 8192
	var touched []int // by version
	for range int(s.Version()) {
		touched = append(touched, -1)
	}
	for i := range 3 * remembered {
		n := nodes[i*i%3%2]
		s.Touch(n)
		touched = append(touched, n.Slot())
		if uint64(len(touched)) != s.Version() {
			t.Fatalf("Version() = %d after %d changes", s.Version(), len(touched))
		}
		for _, back := range []int{0, 1, remembered, 2 * remembered} {
			since := len(touched) - back
			if since < 2 {
				continue
			}
			got, ok := s.Changes(uint64(since))
			if !ok && back <= remembered {
				t.Fatalf("Changes has forgotten what happened %d changes ago", back)
			}
			if ok && i%512 == 0 && !slices.Equal(got, touched[since:]) {
				t.Fatalf("Changes(%d) at version %d differs from what happened", since, len(touched))
			}
		}
	}
	if _, ok := s.Changes(0); ok {
		t.Error("Changes(0) still knows everything")
	}
}

//go:build full

package framework_test

import (
	"fmt"
	"math/rand/v2"
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

// TestRunGeneration: two snapshots of one origin whose run generations are equal have
// the same nodes there, whatever happened to them.
func TestRunGeneration(t *testing.T) {
	type run [framework.RunSize]struct {
		node       *framework.NodeInfo
		generation uint64
		pods       int
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := snapshotOf(t, framework.Arrival)
		serial := 0
		for ; serial < 300; serial++ {
			must(t, s.AddNode(plainNode(fmt.Sprint("n", serial))))
		}
		p := podInfo(t, s, plainPod("p"))
		snapshots, known, same := []*framework.Snapshot{s}, map[uint64]run{}, 0
		record := func(s *framework.Snapshot) {
			for slot := 0; slot < s.SlotLimit(); slot += framework.RunSize {
				var now run
				for i := range now {
					if n := s.AtSlot(slot + i); n != nil {
						now[i].node, now[i].generation, now[i].pods = n, n.Generation(), len(n.Pods)
					}
				}
				g := s.RunGeneration(slot / framework.RunSize)
				if was, ok := known[g]; ok && was != now {
					t.Fatalf("seed %d: RunGeneration(%d) = %d for nodes that differ", seed, slot/framework.RunSize, g)
				} else if ok {
					same++
				}
				known[g] = now
			}
		}
		for range 300 {
			s := snapshots[r.IntN(len(snapshots))]
			n := s.At(r.IntN(s.Len()))
			mark := s.Begin()
			switch r.IntN(9) {
			case 0:
				s.Commit(mark)
				must(t, s.RemoveNode(n.Name()))
			case 1:
				s.Commit(mark)
				serial++
				must(t, s.AddNode(plainNode(fmt.Sprint("n", serial))))
			case 2:
				s.Commit(mark)
				must(t, s.UpdateNode(plainNode(n.Name())))
			case 3:
				must(t, s.Nominate(p, n.Name(), ""))
				if record(s); r.IntN(2) == 0 {
					s.Rollback(mark)
				}
			case 4:
				s.Touch(n)
				record(s)
				s.Rollback(mark)
			case 5:
				if len(snapshots) < 6 {
					snapshots = append(snapshots, s.Fork())
				}
			default:
				must(t, s.AddPodAt(p, n))
				if record(s); r.IntN(2) == 0 {
					s.Rollback(mark)
				}
			}
			s.Commit(mark)
			record(s)
			if g := s.RunGeneration(s.SlotLimit() / framework.RunSize); g != 0 {
				t.Fatalf("RunGeneration beyond the last slot = %d, want 0", g)
			}
		}
		if same == 0 {
			t.Errorf("seed %d: no run generation was seen twice", seed)
		}
	}
}

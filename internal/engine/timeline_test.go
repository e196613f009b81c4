package engine

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"pgregory.net/rapid"
)

// TestTimelineTellsWhatChanged compares what a timeline says with generations
// that are noted apart, over histories that are longer than a timeline is.
func TestTimelineTellsWhatChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		for i := range 40 {
			if err := s.AddNode(framework.MakeNode(fmt.Sprintf("n%d", i), "4", "8Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		pod, err := s.NewPodInfo(framework.MakePod("p").Obj())
		if err != nil {
			t.Fatal(err)
		}
		e := New(nil, DefaultBudget)
		o := orderOf(s, nil)
		e.timelineOf(s, o)
		type memory struct {
			entry       uint64
			generations []uint64
		}
		var seen []memory
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			m := memory{entry: e.timelineOf(s, o).end()}
			for slot := range s.Slots() {
				if n := s.AtSlot(slot); n != nil {
					m.generations = append(m.generations, n.Generation())
				}
			}
			seen = append(seen, m)
			changes := rapid.SampledFrom([]int{0, 1, 15, 300, timelineLimit}).Draw(t, "changes")
			first, step := rapid.IntRange(0, 39).Draw(t, "first"), rapid.IntRange(0, 3).Draw(t, "step")
			for i := range changes {
				n := s.AtSlot((first + i*step) % 40)
				mark := s.Begin()
				if err := s.Assume(pod, n); err != nil {
					t.Fatal(err)
				}
				if i%3 == 0 {
					s.Rollback(mark)
				} else {
					s.Commit(mark)
				}
				if i%2 == 0 {
					e.timelineOf(s, o)
				}
			}
		}
		tl := e.timelineOf(s, o)
		for _, m := range seen {
			listed := map[int32]bool{}
			for _, slot := range tl.since(m.entry, o, nil) {
				if listed[slot] {
					t.Fatalf("since(%d) has slot %d twice", m.entry, slot)
				}
				listed[slot] = true
			}
			for slot, was := range m.generations {
				is := s.AtSlot(slot).Generation()
				if is != was && !listed[int32(slot)] {
					t.Fatalf("since(%d) lacks slot %d, whose generation was %d and is %d", m.entry, slot, was, is)
				}
				if stood := tl.stood(int32(slot), is, m.entry); stood == listed[int32(slot)] {
					t.Fatalf("stood(%d, %d, %d) = %v, but listed is the same", slot, is, m.entry, stood)
				}
			}
		}
	})
}

// TestTimelinesAreFew: of many snapshots in turn, those used last are followed.
func TestTimelinesAreFew(t *testing.T) {
	e := New(nil, DefaultBudget)
	s := framework.NewSnapshot(framework.Arrival)
	for range 3 * timelinesMost {
		e.clock++
		f := s.Fork()
		if got := e.timelineOf(f, orderOf(f, nil)).snapshot; got != f {
			t.Fatalf("timelineOf returned that of another snapshot")
		}
		e.clock++
		if got := e.timelineOf(s, orderOf(s, nil)); got != e.timelineOf(s, orderOf(s, nil)) {
			t.Fatalf("the timeline in use was given up")
		}
	}
	if len(e.timelines) != timelinesMost {
		t.Errorf("%d timelines, want %d", len(e.timelines), timelinesMost)
	}
}

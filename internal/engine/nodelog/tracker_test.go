package nodelog

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/changelog"
	"pgregory.net/rapid"
)

// TestTrackerTellsWhatChanged compares what a tracker says with generations
// that are noted apart, over histories that are longer than its log.
func TestTrackerTellsWhatChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		for i := range 40 {
			if err := s.AddNode(api.MakeNode(fmt.Sprintf("n%d", i), "4", "8Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		pod, err := s.NewPodInfo(api.MakePod("p").Obj())
		if err != nil {
			t.Fatal(err)
		}
		e := new(recent)
		o := OrderOf(s, nil)
		e.of(s, o)
		type memory struct {
			entry       uint64
			generations []uint64
		}
		var seen []memory
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			m := memory{entry: e.of(s, o).End()}
			for slot := range s.SlotLimit() {
				if n := s.AtSlot(slot); n != nil {
					m.generations = append(m.generations, n.Generation())
				}
			}
			seen = append(seen, m)
			changes := rapid.SampledFrom([]int{0, 1, 15, 300, logLimit}).Draw(t, "changes")
			first, step := rapid.IntRange(0, 39).Draw(t, "first"), rapid.IntRange(0, 3).Draw(t, "step")
			for i := range changes {
				n := s.AtSlot((first + i*step) % 40)
				mark := s.Begin()
				if err := s.AddPodAt(pod, n); err != nil {
					t.Fatal(err)
				}
				if i%3 == 0 {
					s.Rollback(mark)
				} else {
					s.Commit(mark)
				}
				if i%2 == 0 {
					e.of(s, o)
				}
			}
		}
		tl := e.of(s, o)
		for _, m := range seen {
			listed := map[int32]bool{}
			for _, slot := range tl.Since(m.entry, o, nil) {
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
				if stood := tl.Stood(int32(slot), is, m.entry); stood == listed[int32(slot)] {
					t.Fatalf("stood(%d, %d, %d) = %v, but listed is the same", slot, is, m.entry, stood)
				}
			}
		}
	})
}

// TestTrackersAreFew: of many snapshots in turn, those used last are followed.
func TestTrackersAreFew(t *testing.T) {
	e := new(recent)
	s := framework.NewSnapshot(framework.Arrival)
	for range 3 * most {
		e.clock++
		f := s.Fork()
		if got := e.of(f, OrderOf(f, nil)).Snapshot; got != f {
			t.Fatalf("of returned the tracker of another snapshot")
		}
		e.clock++
		if got := e.of(s, OrderOf(s, nil)); got != e.of(s, OrderOf(s, nil)) {
			t.Fatalf("the tracker in use was dropped")
		}
	}
	if len(e.list) != most {
		t.Errorf("%d trackers, want %d", len(e.list), most)
	}
}

// TestTrackerKnowsNodes compares trackers of several forks in turn with their
// snapshots, over histories in which nodes come and go, in more than one chunk of
// slots, in which pods are refused, and changes are taken back.
func TestTrackerKnowsNodes(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := framework.NewSnapshot(framework.ZoneInterleaved)
		serial := 0
		come := func(name string) *api.Node {
			return api.MakeNode(name, "4", "8Gi").Zone(fmt.Sprint("z", r.IntN(3))).Obj()
		}
		for range []int{1, 3, 40, 255, 300}[seed%5] {
			serial++
			must(t, s.AddNode(come(fmt.Sprint("n", serial))))
		}
		small, err := s.NewPodInfo(api.MakePod("small").Requests("1m", "1").Obj())
		must(t, err)
		huge, err := s.NewPodInfo(api.MakePod("huge").Requests("1m", "7E").Obj())
		must(t, err)

		change := func(s *framework.Snapshot) {
			if s.Len() == 0 {
				serial++
				must(t, s.AddNode(come(fmt.Sprint("n", serial))))
				return
			}
			n := s.At(r.IntN(min(s.Len(), 5)))
			switch r.IntN(12) {
			case 0:
				serial++
				must(t, s.AddNode(come(fmt.Sprint("n", serial))))
			case 1:
				must(t, s.RemoveNode(n.Name()))
			case 2:
				must(t, s.UpdateNode(come(n.Name())))
			case 3, 4, 5:
				_ = s.AddPod(huge, n.Name()) // the second is refused
			case 6:
				s.Touch(n)
			case 7:
				mark := s.Begin()
				must(t, s.AddPodAt(small, n))
				s.Touch(n)
				s.Rollback(mark)
			default:
				must(t, s.AddPodAt(small, n))
			}
		}

		e := new(recent)
		snapshots := []*framework.Snapshot{s}
		type memory struct {
			tracker     *Tracker
			entry       uint64
			nodeSet     uint64
			generations map[int32]uint64
		}
		var seen []memory
		for range 150 {
			s := snapshots[r.IntN(len(snapshots))]
			for range r.IntN(4) {
				change(s)
			}
			if r.IntN(8) == 0 && len(snapshots) < most+2 {
				snapshots = append(snapshots, s.Fork())
			}
			e.clock++
			e.order = OrderOf(s, e.order)
			tl := e.of(s, e.order)
			if err := e.Check(s); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			m := memory{tl, tl.End(), s.NodeSet(), map[int32]uint64{}}
			for place, slot := range s.Slots() {
				n := s.AtSlot(slot)
				if tl.At[place] != n {
					t.Fatalf("seed %d: At[%d] is not the node of the snapshot", seed, place)
				}
				m.generations[int32(slot)] = n.Generation()
			}
			for _, was := range seen {
				if was.tracker != tl || was.nodeSet != s.NodeSet() {
					continue
				}
				listed := map[int32]bool{}
				for _, slot := range tl.Since(was.entry, e.order, nil) {
					if listed[slot] {
						t.Fatalf("seed %d: since(%d) has slot %d twice", seed, was.entry, slot)
					}
					listed[slot] = true
				}
				for slot, g := range m.generations {
					if g != was.generations[slot] && !listed[slot] {
						t.Fatalf("seed %d: since(%d) lacks slot %d", seed, was.entry, slot)
					}
					if tl.Stood(slot, g, was.entry) == listed[slot] {
						t.Fatalf("seed %d: stood(%d, %d, %d) is %v", seed, slot, g, was.entry, listed[slot])
					}
				}
			}
			seen = append(seen, m)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// recent is what an engine has of all this.
type recent struct {
	Recent
	clock uint64
	order *Order
}

func (r *recent) of(s *framework.Snapshot, o *Order) *Tracker { return r.Of(s, o, r.clock) }

// TestCheckFindsFaults plants a fault in each part of a tracker.
func TestCheckFindsFaults(t *testing.T) {
	for name, plant := range map[string]func(*Tracker){
		"node":       func(t *Tracker) { t.At[1] = t.At[0] },
		"generation": func(t *Tracker) { t.nodes[1].generation++ },
		"entry":      func(t *Tracker) { t.nodes[1].entry = t.log.End() },
		"order":      func(t *Tracker) { t.Order.Place[1] = 0 },
	} {
		s := framework.NewSnapshot(framework.Arrival)
		for i := range 3 {
			must(t, s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()))
		}
		var r Recent
		tracker := r.Of(s, OrderOf(s, nil), 1)
		if err := r.Check(s); err != nil {
			t.Fatal(err)
		}
		if plant(tracker); r.Check(s) == nil {
			t.Errorf("%s: Check() finds nothing", name)
		}
	}
}

var logLimit = new(changelog.Log[int32]).Limit()

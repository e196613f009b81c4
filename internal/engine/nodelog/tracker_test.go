package nodelog

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/changelog"
	"github.com/berth-sched/berth/internal/proof/effort"
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
		e := newRecent()
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
			for _, slot := range tl.Since(m.entry, nil) {
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
			}
		}
	})
}

// TestTrackerKnowsNodes compares trackers of several forks in turn with their
// snapshots, over histories in which nodes come and go, in more than one chunk of
// slots, in which pods are refused, and changes are taken back.
func TestTrackerKnowsNodes(t *testing.T) {
	for seed := range uint64(effort.Of(10, 30)) {
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

		e := newRecent()
		snapshots := []*framework.Snapshot{s}
		type memory struct {
			entry       uint64
			generations map[int32]uint64
		}
		var seen []memory
		for range 150 {
			s := snapshots[r.IntN(len(snapshots))]
			for range r.IntN(4) {
				change(s)
			}
			if r.IntN(8) == 0 && len(snapshots) < 6 {
				snapshots = append(snapshots, s.Fork())
			}
			e.order = OrderOf(s, e.order)
			tl := e.of(s, e.order)
			if err := tl.Check(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			m := memory{tl.End(), map[int32]uint64{}}
			for place, slot := range s.Slots() {
				n := s.AtSlot(slot)
				if tl.Nodes()[place] != n {
					t.Fatalf("seed %d: At[%d] is not the node of the snapshot", seed, place)
				}
				m.generations[int32(slot)] = n.Generation()
			}
			for _, was := range seen {
				listed := map[int32]bool{}
				for _, slot := range tl.Since(was.entry, nil) {
					if listed[slot] {
						t.Fatalf("seed %d: since(%d) has slot %d twice", seed, was.entry, slot)
					}
					listed[slot] = true
				}
				for slot, g := range m.generations {
					if g != was.generations[slot] && !listed[slot] {
						t.Fatalf("seed %d: since(%d) lacks slot %d", seed, was.entry, slot)
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
	tracker *Tracker
	order   *Order
}

func newRecent() *recent { return &recent{tracker: NewTracker()} }

func (r *recent) of(s *framework.Snapshot, o *Order) *Tracker {
	r.tracker.Follow(s, o)
	return r.tracker
}

// TestCheckFindsFaults plants a fault in each part of a tracker.
func TestCheckFindsFaults(t *testing.T) {
	for name, plant := range map[string]func(*Tracker){
		"node":       func(t *Tracker) { t.at[1] = t.at[0] },
		"generation": func(t *Tracker) { t.nodes[1].generation++ },
		"entry":      func(t *Tracker) { t.nodes[1].entry = t.log.End() },
		"order":      func(t *Tracker) { t.Order.Place[1] = 0 },
		"run":        func(t *Tracker) { t.runs[0]-- },
		"no node":    func(t *Tracker) { t.nodes[9].generation = 5 },
	} {
		s := framework.NewSnapshot(framework.Arrival)
		for i := range 3 {
			must(t, s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()))
		}
		tracker := NewTracker()
		tracker.Follow(s, OrderOf(s, nil))
		if err := tracker.Check(); err != nil {
			t.Fatal(err)
		}
		if plant(tracker); tracker.Check() == nil {
			t.Errorf("%s: Check() finds nothing", name)
		}
	}
}

var logLimit = new(changelog.Log[int32]).Limit()

// TestFollowCountsWhatItCompares: nothing for a snapshot that it follows already, and the runs
// that differ for a fork.
func TestFollowCountsWhatItCompares(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	const nodes = 10 * framework.RunSize
	for i := range nodes {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	tracker := NewTracker()
	follow := func(s *framework.Snapshot, want int) {
		t.Helper()
		if got := tracker.Follow(s, OrderOf(s, tracker.Order)); got != want {
			t.Errorf("%d slots compared, want %d", got, want)
		}
	}
	add := func(s *framework.Snapshot, name string) {
		t.Helper()
		p, err := s.NewPodInfo(api.MakePod("p-" + name).Obj())
		if err == nil {
			err = s.AddPod(p, name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	follow(s, nodes)
	f := s.Fork()
	add(s, "n3")
	follow(s, 0)
	add(f, "n20")
	add(f, "n21")
	add(f, "n77")
	follow(f, 3*framework.RunSize) // n3, too, is another one there
	add(f, "n90")
	follow(f, 0)
	follow(f.Fork(), framework.RunSize) // n90's run has not been compared since
}

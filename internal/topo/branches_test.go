package topo

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// TestForksSayWhatDiffers asks forks, and the snapshot that they are of, what differs from each other.
func TestForksSayWhatDiffers(t *testing.T) {
	root := on(t, []string{"a", zone, "x"}, []string{"b", zone, "y"}, []string{"c", zone, "z"}, []string{"d", zone, "w"})
	add(t, root, web("first"), "a")
	pod := info(t, root, hermit("asks", zone))
	affinity := func(s *framework.Snapshot) *Affinity { return Of(s).Affinity(pod) }
	before := affinity(root).AppendFilterState(nil)
	add(t, root, web("second"), "b")
	now := affinity(root).AppendFilterState(nil)
	left, right := root.Fork(), root.Fork()
	add(t, left, web("left"), "c")
	inLeft := affinity(left).AppendFilterState(nil)
	inner := left.Fork()
	add(t, inner, web("inner"), "d")
	add(t, right, web("right"), "d")
	add(t, root, web("later"), "c")
	later := affinity(root).AppendFilterState(nil)
	afterwards := root.Fork()
	for _, tt := range []struct {
		name  string
		in    *framework.Snapshot
		from  []byte
		known bool
		dirty string
	}{
		{"the same snapshot", root, before, true, "b c"},
		{"a fork, from long before it", left, before, true, "b c"},
		{"a fork, from when it was made", left, now, true, "c"},
		{"its origin", left, affinity(left).AppendOrigin(nil), true, "c"},
		{"its origin, in a sibling", right, affinity(left).AppendOrigin(nil), true, "d"},
		{"its origin, in the root", root, affinity(left).AppendOrigin(nil), true, "c"},
		{"the origin of a fork of a fork", inner, affinity(inner).AppendOrigin(nil), true, "d"},
		{"a fork of a fork, from the root", inner, now, true, "c d"},
		{"a sibling", right, inLeft, false, ""},
		{"the root, from a fork", root, inLeft, false, ""},
		{"a fork, from a time of the root after it", left, later, false, ""},
		{"a later fork", afterwards, later, true, ""},
		{"other counts", right, Of(root).Affinity(info(t, root, hermit("other", api.LabelHostname))).AppendFilterState(nil), false, ""},
		{"no state", right, nil, false, ""},
		{"half a state", right, now[:1], false, ""},
	} {
		var dirty []string
		known := affinity(tt.in).FilterChangedFrom(tt.from, func(slot int) { dirty = append(dirty, tt.in.AtSlot(slot).Name()) })
		slices.Sort(dirty)
		if got := fmt.Sprint(slices.Compact(dirty)); known != tt.known || known && got != "["+tt.dirty+"]" {
			t.Errorf("%s: known %t, %s; want %t, [%s]", tt.name, known, got, tt.known, tt.dirty)
		}
	}
	if b := affinity(root).AppendOrigin(nil); len(b) > 0 {
		t.Errorf("a snapshot that is no fork has the origin %x", b)
	}
}

// TestPastIsBounded asks the end of a long chain of forks about its beginning.
func TestPastIsBounded(t *testing.T) {
	s := on(t, []string{"a", zone, "x"})
	add(t, s, web("there"), "a")
	pod := info(t, s, hermit("asks", zone))
	first := Of(s).Affinity(pod).AppendFilterState(nil)
	for i := range 2 * pastMost {
		s = s.Fork()
		a := Of(s).Affinity(pod)
		if got, want := a.FilterChangedFrom(first, func(int) {}), i < pastMost; got != want {
			t.Errorf("fork %d tells what has changed: %t, want %t", i+1, got, want)
		}
	}
	if got := len(Of(s).past); got != pastMost {
		t.Errorf("%d branches are known, want %d", got, pastMost)
	}
}

// TestLogIsNotOverwritten lets a fork read the changes of the time before, while the snapshot that it is of
// makes so many that it drops the older half of them.
func TestLogIsNotOverwritten(t *testing.T) {
	s := on(t, []string{"a", zone, "x"}, []string{"b", zone, "y"})
	add(t, s, web("there"), "a")
	pod := info(t, s, hermit("asks", zone))
	a := Of(s).Affinity(pod)
	longBefore := a.AppendFilterState(nil)
	for range usual.changes/2 - 2 {
		i := add(t, s, web("1"), "a")
		if err := s.RemovePod(i, "a"); err != nil {
			t.Fatal(err)
		}
	}
	before := a.AppendFilterState(nil)
	add(t, s, web("at last"), "b")
	f := s.Fork()
	for range usual.changes {
		i := add(t, s, web("1"), "a")
		if err := s.RemovePod(i, "a"); err != nil {
			t.Fatal(err)
		}
	}
	var dirty []string
	ok := Of(f).Affinity(pod).FilterChangedFrom(before, func(slot int) { dirty = append(dirty, f.AtSlot(slot).Name()) })
	if !ok || !slices.Equal(dirty, []string{"b"}) {
		t.Errorf("the fork names %v, %t, want b", dirty, ok)
	}
	add(t, f, web("in the fork"), "b") // which now keeps a few changes of the time before
	if Of(f).Affinity(pod).FilterChangedFrom(longBefore, func(int) {}) {
		t.Error("the fork tells of changes that it has forgotten")
	}
	dirty = nil
	if ok := Of(f).Affinity(pod).FilterChangedFrom(before, func(slot int) { dirty = append(dirty, f.AtSlot(slot).Name()) }); !ok || !slices.Equal(dirty, []string{"b"}) {
		t.Errorf("then the fork names %v, %t, want b", dirty, ok)
	}
}

// TestSizesGoToForks finds out the sizes for a set of feasible nodes in one fork, and asks another.
func TestSizesGoToForks(t *testing.T) {
	s := on(t, []string{"a", zone, "x"}, []string{"b", zone, "y"})
	add(t, s, web("there"), "a")
	p := info(t, s, spread(api.ScheduleAnyway, zone))
	Of(s)
	soft := func(s *framework.Snapshot, strict bool) *Spread { return Of(s).Soft(p, SoftRules(p), strict) }
	set := s.NewVersion()
	before := soft(s, true)
	before.RememberSized(set, before.Sized([]int{2}))
	if len(before.tables.commons.weighings) > 0 {
		t.Error("sizes are noted where there are no forks")
	}
	left, right := s.Fork(), s.Fork()
	if sizes, _, ok := soft(left, true).SizedFor(set); !ok || !slices.Equal(sizes, []int{2}) {
		t.Errorf("the sizes that were known before are %v, %t in a fork, want 2", sizes, ok)
	}
	set = s.NewVersion()
	x := soft(left, true)
	x.RememberSized(set, x.Sized([]int{2}))
	if sizes, version, ok := soft(right, true).SizedFor(set); !ok || !slices.Equal(sizes, []int{2}) || version != soft(right, true).Sized(sizes) {
		t.Errorf("the sizes are %v, %t, want 2", sizes, ok)
	}
	if _, _, ok := soft(right, false).SizedFor(set); ok {
		t.Error("the sizes are those of a Spread that leaves no node out")
	}
	if err := right.RemoveNode("b"); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := soft(right, true).SizedFor(set); ok {
		t.Error("the sizes are known after a node has gone")
	}
	for range 2 * weighingsMost {
		x.RememberSized(s.NewVersion(), x.Sized([]int{2}))
	}
	if got := len(x.tables.commons.weighings); got > weighingsMost {
		t.Errorf("%d weighings are known, want at most %d", got, weighingsMost)
	}
}

// TestGroupsGoToForks divides the nodes of forks by a key that nobody knew when one of them got another label.
func TestGroupsGoToForks(t *testing.T) {
	s := on(t, []string{"a", "rack", "1"}, []string{"b", "rack", "1"})
	p := info(t, s, spread(api.ScheduleAnyway, "rack"))
	Of(s)
	left, right, same := s.Fork(), s.Fork(), s.Fork()
	n := *left.Node("a").Node
	n.Labels = map[string]string{"rack": "2"}
	if err := left.UpdateNode(&n); err != nil {
		t.Fatal(err)
	}
	groups := func(s *framework.Snapshot) incremental.Groups { return Of(s).Soft(p, SoftRules(p), true).SoftGroups() }
	if got := groups(left).Count; got != 2 {
		t.Errorf("%d groups where the nodes are in two racks, want 2", got)
	}
	x, y := groups(right), groups(same)
	if x.Count != 1 || y.Count != 1 || &x.Of[0] != &y.Of[0] {
		t.Errorf("%d and %d groups where the nodes are in one rack, want 1, which both have in common", x.Count, y.Count)
	}
}

// TestForkReadsWhileOthersCount: a fork reads the changes of the time before, in its own goroutine, while the
// snapshot that it is of makes others.
func TestForkReadsWhileOthersCount(t *testing.T) {
	s := on(t, []string{"a", zone, "x"}, []string{"b", zone, "y"})
	add(t, s, web("there"), "a")
	pod := info(t, s, hermit("asks", zone))
	a := Of(s).Affinity(pod)
	for range usual.changes/2 - 2 { // the next changes make the log drop some
		i := add(t, s, web("1"), "a")
		if err := s.RemovePod(i, "a"); err != nil {
			t.Fatal(err)
		}
	}
	before := a.AppendFilterState(nil)
	add(t, s, web("at last"), "b")
	left, right := s.Fork(), s.Fork()
	add(t, right, web("in the fork"), "a") // so it has a log of its own
	var wait sync.WaitGroup
	var done atomic.Bool
	for _, f := range []*framework.Snapshot{left, right} {
		wait.Go(func() {
			for !done.Load() {
				a, names := Of(f).Affinity(pod), 0
				if !a.FilterChangedFrom(before, func(int) { names++ }) || names == 0 {
					t.Error("the fork does not know what has changed before it was made")
					return
				}
			}
		})
	}
	for range usual.changes {
		i := add(t, s, web("1"), "a")
		if err := s.RemovePod(i, "a"); err != nil {
			t.Fatal(err)
		}
	}
	done.Store(true)
	wait.Wait()
}

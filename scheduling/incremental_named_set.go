package scheduling

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/pick"
)

// A namedSet is the nodes of some names.
//
// Invariant: as long as the snapshot has the node set, slots are those of the nodes that it
// has, each once, in its order.
type namedSet struct {
	names   []string // a plugin's, which does not change
	nodeSet uint64
	slots   []int
}

// is reports whether the set is that of the names. Mostly the plugin returns the same list.
func (s *namedSet) is(names []string) bool {
	return len(s.names) == len(names) && (&s.names[0] == &names[0] || slices.Equal(s.names, names))
}

// How many sets are remembered, and how many names they may have in all.
const (
	namedSetsMost  = 64
	namedNamesMost = 1 << 18
)

// namedSets are the sets that PreFilters have named last: pods of one pool have the same.
type namedSets struct {
	list  []namedSet
	names int // in all
	next  int // the one that is replaced next, if the list is full
}

// of returns the set of the names, one at least. It costs O(1) for a list that is known,
// O(names) for an equal one, and O(names x log names) for another one.
func (x *namedSets) of(f *incrementalPath, snap *framework.Snapshot, bound *boundPlugins) *namedSet {
	names := bound.nodes
	for i := range x.list {
		if s := &x.list[i]; s.nodeSet == snap.NodeSet() && s.is(names) {
			return s
		}
	}
	if x.names+len(names) > namedNamesMost {
		*x = namedSets{}
	}
	if len(x.list) < namedSetsMost {
		x.list = append(x.list, namedSet{})
		x.next = len(x.list) - 1
	}
	s := &x.list[x.next]
	x.next = (x.next + 1) % namedSetsMost
	x.names += len(names) - len(s.names)
	*s = namedSet{bound.lastingNodes(), snap.NodeSet(), f.slotsNamed(snap, names)}
	return s
}

// slotsNamed lists the slots of the named nodes that there are, each once, in the snapshot's
// order.
func (f *incrementalPath) slotsNamed(snap *framework.Snapshot, names []string) []int {
	slots := make([]int, 0, len(names))
	for _, name := range names {
		if n := snap.Node(name); n != nil {
			slots = append(slots, n.Slot())
		}
	}
	slices.SortFunc(slots, func(a, b int) int { return cmp.Compare(f.engine.Place(snap, a), f.engine.Place(snap, b)) })
	return slices.Compact(slots)
}

// isNamedAside is isAside for a pod for which the reference path's PreFilters have named nodes.
func (f *incrementalPath) isNamedAside() bool {
	r := &f.s.reference
	f.unnamed = true
	defer func() { f.unnamed = false }()
	return f.isAside(&f.balances.named, &r.cycle, f.extentOf(len(r.bound.nodes), r.cycle.Snapshot.Len()))
}

// decideAmongNamed decides among the nodes that the reference path's PreFilters have named. It
// is not ok if the engine has no answer. The filters must then be bound again.
func (f *incrementalPath) decideAmongNamed(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (err error, ok bool) {
	s, r := f.s, &f.s.reference
	set := f.sets.of(f, snap, &r.bound)
	if len(set.slots) == 0 {
		return nil, false
	}
	r.cycle.Reset(pod, snap, d.Number, pick.Seed(s.profile.Seed, d.Number))
	f.unnamed = true
	defer func() { f.unnamed = false }()
	before := f.engine.Evaluated()
	v, ok := f.find(&r.cycle, 0, snap.Len())
	if ok {
		f.class.named = true
		f.by, f.early.known, f.interest, f.among = byNamedSet, false, noInterest, set
		err, ok = f.chooseAmong(snap, v, set.slots, d)
	}
	// What does not depend on nodes is not saved: the PreFilters have been asked.
	b, x, evaluated := &f.balances.named, f.extentOf(len(r.bound.nodes), snap.Len()), f.evaluatedSince(before)+keyCost
	if !ok {
		b.note(x, evaluated, 0)
		return nil, false
	}
	b.note(x, evaluated, d.Evaluated)
	if err == nil && d.Feasible == 0 {
		err = f.namedSetFitError(snap, v, set)
	}
	return err, true
}

// namedSetFitError counts why no node is feasible, those that are not named without looking
// at them.
func (f *incrementalPath) namedSetFitError(snap *framework.Snapshot, v *engine.View, set *namedSet) *FitError {
	r := &f.s.reference
	list := countAmong(v, set.slots)
	if n := snap.Len() - len(set.slots); n > 0 {
		list = append(list, counted{filter: excluded, status: r.bound.absent, nodes: n})
	}
	return &FitError{
		Pod: r.cycle.Pod.Pod.Key(), Nodes: snap.Len(), Restricting: slices.Clone(r.bound.restricting),
		Rejections: f.s.plugins.rejections(list),
	}
}

// verifyNamedSet compares the verdicts on the named nodes, and that there are no others, and
// the totals.
func (f *incrementalPath) verifyNamedSet(snap *framework.Snapshot, differ func(string, any, any) error) error {
	members := map[int]bool{}
	for _, slot := range f.among.slots {
		members[slot] = true
	}
	for i, want := range f.reference.verdicts {
		if slot := f.reference.slots[i]; members[slot] == (want.filter == excluded) {
			return differ("whether node "+snap.AtSlot(slot).Name()+" is named", want.filter != excluded, members[slot])
		}
	}
	return f.verifyWithin(snap, differ)
}

package gang

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// A reprieval puts back units, as long as every pod of the group still passes the filters
// on its node, each counted there before the next is asked.
//
// While the pods are separate, a unit matters only to the pods on its nodes: then only
// these are asked. So it is for a unit that is in conflict with no pod of the group, if
// conflicts are all that they read or take beyond their nodes: leaving out the pods of the
// group on other nodes then changes no answer that was a yes. Otherwise all are asked.
//
// Invariant: while separate is set, failing holds the nodes whose pods of the group do not
// all pass, as the snapshot is between two units. While it is not set, but conflicts is,
// all pass.
type reprieval struct {
	*Placer
	snap   *framework.Snapshot
	g      *Group
	placed []Placement

	separate  bool
	sure      bool                   // it is known whether conflicts can be set
	conflicts *scheduling.Conflicts  // of the pods; nil: all are asked
	onNode    map[string][]Placement // in order
	failing   map[string]bool

	keysAt uint64               // where classes hold
	open   []*framework.PodInfo // a pod of each class, if other pods may change what PreFilters say of it
}

// reprieval begins to put back units, now that all of them are out.
func (p *Placer) reprieval(snap *framework.Snapshot, g *Group, placed []Placement) *reprieval {
	x := &reprieval{Placer: p, snap: snap, g: g, placed: placed, onNode: map[string][]Placement{}, failing: map[string]bool{}}
	for _, at := range placed {
		x.onNode[at.Node] = append(x.onNode[at.Node], at)
	}
	x.separate = !slices.ContainsFunc(placed, x.reserves) && x.stillSeparate()
	if !x.separate {
		return x
	}
	for node, list := range x.onNode {
		ok, err := x.pass(list)
		if err != nil {
			x.separate = false // the first unit will meet it again
			return x
		}
		if !ok {
			x.failing[node] = true
		}
	}
	return x
}

// reserves reports whether a pod may take what is not on its node.
func (x *reprieval) reserves(at Placement) bool { return holdsClaims(x.g.Pods[at.index]) }

// findClasses finds a pod of each class again if classes may have changed; false if a pod
// has none.
func (x *reprieval) findClasses() bool {
	at := x.sched.ClassKeysAt(x.snap)
	if at == x.keysAt {
		return true
	}
	x.keysAt, x.open = at, nil
	seen := map[string]bool{}
	for _, at := range x.placed {
		pod := x.g.Pods[at.index]
		key, ok, err := x.sched.ClassKey(x.snap, pod)
		if err != nil || !ok {
			x.keysAt = 0 // nothing is known
			return false
		}
		if !seen[key] {
			seen[key] = true
			x.open = append(x.open, pod)
		}
	}
	return true
}

// stillSeparate reports whether no pod reads or takes what is not on its node, now that
// other pods have come. While classes hold, only those are asked that other pods may change:
// a group may have as many classes as pods, and this is asked for each unit.
func (x *reprieval) stillSeparate() bool {
	if !x.findClasses() {
		return false
	}
	var open []*framework.PodInfo
	for _, pod := range x.open {
		f, err := x.sched.Filtering(x.snap, pod)
		if err != nil || !f.NodeOnly() || !f.ReservesNothing() {
			return false
		}
		if f.ChangesWithPods() {
			open = append(open, pod)
		}
	}
	x.open = open
	return true
}

// putBack puts back the units that may return, in order, and returns the others.
func (x *reprieval) putBack(units []*Unit) (gone []*Unit, err error) {
	for _, u := range units {
		ok, err := x.mayReturn(u)
		if err != nil {
			return nil, err
		}
		if !ok {
			gone = append(gone, u)
		}
	}
	return gone, nil
}

// mayReturn puts a unit back if every pod of the group then still passes.
func (x *reprieval) mayReturn(u *Unit) (bool, error) {
	if !x.separate && !x.sure {
		if err := x.findConflicts(); err != nil {
			return false, err
		}
	}
	mark := x.snap.Begin()
	if err := u.putBack(x.snap); err != nil {
		x.snap.Rollback(mark)
		return false, err
	}
	separate := x.separate && x.stillSeparate()
	ok, err := false, error(nil)
	if separate || !x.separate && x.apart(u) {
		ok, err = x.passBeside(u)
	} else {
		ok, err = x.pass(x.placed)
	}
	if !ok || err != nil {
		x.snap.Rollback(mark)
		return false, err
	}
	x.snap.Commit(mark)
	x.separate = separate
	clear(x.failing)
	return true, nil
}

// findConflicts finds with which pods the group can be in conflict, if that is all that
// matters, and all pods pass.
func (x *reprieval) findConflicts() error {
	x.sure = true
	var c scheduling.Conflicts
	for _, at := range x.placed {
		f, err := x.sched.Filtering(x.snap, x.g.Pods[at.index])
		if err != nil || !c.Add(f) {
			return err
		}
	}
	ok, err := x.pass(x.placed)
	if ok {
		x.conflicts = &c
		clear(x.failing)
	}
	return err
}

// apart reports whether no pod of a unit is in conflict with a pod of the group.
func (x *reprieval) apart(u *Unit) bool {
	return x.conflicts != nil && !slices.ContainsFunc(u.Members, func(m Member) bool { return x.conflicts.With(m.Pod) })
}

// passBeside reports whether all pods pass now that a unit is back.
func (x *reprieval) passBeside(u *Unit) (bool, error) {
	asked := make(map[string]bool, len(u.Members))
	for _, m := range u.Members {
		if asked[m.Node] {
			continue
		}
		asked[m.Node] = true
		if ok, err := x.pass(x.onNode[m.Node]); err != nil || !ok {
			return false, err
		}
	}
	for node := range x.failing {
		if !asked[node] {
			return false, nil
		}
	}
	return true, nil
}

// pass reports whether pods pass the filters on their nodes, each counted there before the
// next is asked.
func (x *reprieval) pass(placed []Placement) (bool, error) {
	mark := x.snap.Begin()
	defer x.snap.Rollback(mark)
	for _, at := range placed {
		pod := x.g.Pods[at.index]
		f, err := x.sched.Filtering(x.snap, pod)
		if err != nil {
			return false, err
		}
		n := x.snap.Node(at.Node)
		v, err := f.Node(n)
		if err != nil || !v.Status.IsSuccess() {
			return false, nil // as kube-scheduler, which takes an error for a no
		}
		if err := f.Place(pod, n); err != nil {
			return false, nil
		}
	}
	return true, nil
}

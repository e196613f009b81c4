package scheduling

import (
	"context"
	"errors"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/pick"
)

// A NodeSet is some of the nodes of a snapshot, such as a rack, in the snapshot's order.
// Decisions can be limited to it: see [Scheduler.PlaceWithin]. It holds for the snapshot
// and its forks until a node comes, goes or changes.
type NodeSet struct {
	slots   []int
	members []uint64 // a bit for each slot
	nodeSet uint64
}

// NewNodeSet returns the set of the nodes. A nil snapshot, and a node that is nil, that
// the snapshot does not have, or that is there twice, is an [*api.InvalidError].
func NewNodeSet(snap *framework.Snapshot, nodes []*framework.NodeInfo) (*NodeSet, error) {
	if snap == nil {
		return nil, &api.InvalidError{Object: "snapshot", Err: errors.New("is nil")}
	}
	if err := checkNodes(nodes); err != nil {
		return nil, err
	}
	set := &NodeSet{members: make([]uint64, (snap.SlotLimit()+63)/64), nodeSet: snap.NodeSet()}
	for _, n := range nodes {
		switch at := snap.Node(n.Name()); {
		case at == nil || at.Slot() != n.Slot():
			return nil, &api.InvalidError{Object: "node " + n.Name(), Err: errors.New("is not in the snapshot")}
		case set.has(n):
			return nil, &api.InvalidError{Object: "node " + n.Name(), Err: errors.New("is in the list twice")}
		}
		set.members[n.Slot()/64] |= 1 << (n.Slot() % 64)
	}
	set.slots = make([]int, 0, len(nodes))
	for _, slot := range snap.Slots() {
		if set.members[slot/64]&(1<<(slot%64)) != 0 {
			set.slots = append(set.slots, slot)
		}
	}
	return set, nil
}

// Len is the number of nodes in the set.
func (n *NodeSet) Len() int { return len(n.slots) }

// Slots lists the slots of the nodes in the snapshot's order. It must not be changed.
func (n *NodeSet) Slots() []int { return n.slots }

// slotsOf returns the slots of the set, or all slots for nil.
func (n *NodeSet) slotsOf(s *framework.Snapshot) []int {
	if n == nil {
		return s.Slots()
	}
	return n.slots
}

// lenIn is the number of nodes in the set, or of all nodes for nil.
func (n *NodeSet) lenIn(s *framework.Snapshot) int {
	if n == nil {
		return s.Len()
	}
	return len(n.slots)
}

// has reports whether the node is in the set; nil has all nodes.
func (n *NodeSet) has(node *framework.NodeInfo) bool {
	return n == nil || n.members[node.Slot()/64]&(1<<(node.Slot()%64)) != 0
}

var (
	errNilSet = errors.New("is nil")
	errOldSet = errors.New("was made for other nodes; make it again with NewNodeSet")
)

// ScheduleWithin is Schedule among the nodes of the set: only they are filtered and
// scored, and only they count in errors. What plugins prepare for a pod they prepare
// from the whole cluster: domains of spreading and pods of affinity terms outside of the
// set count. The pod's nomination to a node outside is ignored. A nil set, or one that
// was made before the nodes changed, is an [*api.InvalidError].
//
// Source: kube-scheduler 1.37, schedule_one_podgroup.go: how a placement of a pod group
// restricts the cycle of its pods.
//
// Cost: for a pod of a class seen before, a few nanoseconds for each node of the set,
// plus what changed since.
func (s *Scheduler) ScheduleWithin(snap *framework.Snapshot, pod *framework.PodInfo, within *NodeSet) (d Decision, err error) {
	if pod, err = s.acceptWithin(snap, pod, within); err != nil {
		return d, err
	}
	if err = s.scheduleWithin(context.Background(), snap, pod, within, &d); err == nil {
		err = s.tellReserved(snap, pod, d.node, &d)
	}
	return d, err
}

func (s *Scheduler) acceptWithin(snap *framework.Snapshot, pod *framework.PodInfo, within *NodeSet) (*framework.PodInfo, error) {
	pod, err := s.accept(snap, pod)
	if err != nil {
		return nil, err
	}
	switch {
	case within == nil:
		return nil, &api.InvalidError{Object: "node set", Err: errNilSet}
	case within.nodeSet != snap.NodeSet():
		return nil, &api.InvalidError{Object: "node set", Err: errOldSet}
	}
	return pod, nil
}

// PlaceWithin is Place among the nodes of the set; see [Scheduler.ScheduleWithin].
func (s *Scheduler) PlaceWithin(snap *framework.Snapshot, pod *framework.PodInfo, within *NodeSet) (d Decision, err error) {
	if pod, err = s.acceptWithin(snap, pod, within); err != nil {
		return d, err
	}
	if err = s.scheduleWithin(context.Background(), snap, pod, within, &d); err != nil {
		return d, err
	}
	return d, s.assumeAndTell(snap, pod, &d)
}

// A Position is where a scheduler stands: the number of its next decision, which gives
// the decision's seed, and where its next search begins.
type Position struct {
	number uint64
	start  int
}

// Numbered returns the position with another number and the same start.
func (p Position) Numbered(number uint64) Position { return Position{number, p.start} }

// Position returns where the scheduler stands. A what-if that makes decisions and takes
// them back goes back there with [Scheduler.Seek], so that later decisions are those
// that would have been made without it. The zero Position is that of a new scheduler.
func (s *Scheduler) Position() Position { return Position{s.number, s.start} }

// Seek makes the next decision the one at the position. If several schedulers share one
// snapshot, one per profile, let each seek the position of the one that decided last: they
// then count their decisions together, like kube-scheduler's profiles.
func (s *Scheduler) Seek(p Position) {
	s.number, s.start = p.number, p.start
	s.reference.extended.answer.known = false
	s.failure = failure{}
}

// answerWithin is answer among some of the nodes.
func (f *incrementalPath) answerWithin(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (err error, ok bool) {
	s, r := f.s, &f.s.reference
	c := &r.cycle
	d.TieRule, d.Number, d.start = s.profile.TieRule, s.number, s.start
	if pod.IsNominated() || len(r.within.slots) == 0 || !f.isNoted(pod) && mayName(pod) ||
		s.plugins.interest(pod) != noInterest {
		return nil, false
	}
	c.Reset(pod, snap, s.number, pick.Seed(s.profile.Seed, s.number))
	f.by, f.early.known, f.interest = byWithin, false, noInterest
	slots := r.within.slots
	b, x := &f.balances.within, f.extentOf(s.plugins.wanted(len(slots), s.profile.Percentage), snap.Len())
	f.stepped, f.spelled, f.long = nil, 0, false
	if f.isAside(b, c, x) {
		return nil, false
	}
	before := f.engine.Evaluated()
	v, ok := f.find(c, 0, snap.Len())
	if ok {
		err, ok = f.chooseAmong(snap, v, slots, d)
	}
	if !ok {
		b.note(x, f.evaluatedSince(before)+f.spelled, 0)
		return nil, false
	}
	b.note(x, f.evaluatedSince(before)+f.spelled, d.Evaluated)
	if err == nil && d.Feasible == 0 {
		err = &FitError{Pod: pod.Pod.Key(), Nodes: len(slots), Rejections: s.plugins.rejections(countAmong(v, slots))}
	}
	return err, true
}

// chooseAmong decides among the nodes of the slots, which are in the snapshot's order. Without
// an error, d.Feasible is 0 if none of them is feasible. It is not ok if the engine has no
// answer.
func (f *incrementalPath) chooseAmong(snap *framework.Snapshot, v *engine.View, slots []int, d *Decision) (err error, ok bool) {
	s, r := f.s, &f.s.reference
	f.found, d.Evaluated = v.Within(slots, d.start%len(slots), s.plugins.wanted(len(slots), s.profile.Percentage), f.found)
	found := f.found.Slots
	d.advance, d.Feasible = d.Evaluated, len(found)
	r.feasible, r.rated, r.extended.answered = r.feasible[:0], nil, nil
	switch len(found) {
	case 0:
		return nil, true
	case 1:
		d.TiedNodes = 1
		d.choose(snap.AtSlot(found[0]), 0)
		return nil, true
	}
	if !f.found.Scored {
		if f.found.Totals, ok = v.TotalsAmong(found, f.found.Totals[:0]); !ok {
			return nil, false
		}
	}
	r.totals, f.found.Totals = f.found.Totals, r.totals
	if rule := s.profile.TieRule; rule == ByName || rule == Custom { // others look at no node
		for _, slot := range found {
			r.feasible = append(r.feasible, snap.AtSlot(slot))
		}
	}
	largest := r.best()
	d.TiedNodes = len(r.tied)
	place, err := r.choose(s.profile.TieRule, s.profile.TieBreak, r.cycle.Seed)
	if err != nil {
		return err, true
	}
	d.choose(snap.AtSlot(found[place]), largest)
	return nil, true
}

// countAmong counts why the nodes of the slots are not feasible.
func countAmong(v *engine.View, slots []int) (list []counted) {
	for _, x := range v.RejectionsWithin(slots) {
		list = append(list, counted{filter: x.At, status: x.Status, nodes: x.Nodes})
	}
	return list
}

// verifyWithin compares the verdicts on all nodes of the set, and the totals.
func (f *incrementalPath) verifyWithin(snap *framework.Snapshot, differ func(string, any, any) error) error {
	r, v := f.reference, f.engine.View()
	for i, want := range r.verdicts {
		node := snap.AtSlot(r.slots[i])
		place, _ := v.Place(node.Slot())
		got := v.State(place)
		switch {
		case want.filter == unvisited, want.filter == excluded:
		case got.Feasible != (want.filter == passed):
			return differ("the verdict on node "+node.Name(), want.status, got.Status)
		case !got.Feasible && (got.At != int(want.filter) || got.Status.String() != want.status.String()):
			return differ("the reason on node "+node.Name(), want.status, got.Status)
		}
	}
	if len(r.feasible) > 1 && !slices.Equal(r.totals, f.s.reference.totals) {
		return differ("the totals of the nodes of the set", r.totals, f.s.reference.totals)
	}
	return nil
}

package preemption

import "github.com/berth-sched/berth/framework"

// A tally counts the refusals of all nodes where removing pods may help, as long as
// none of them is a candidate. Then an attempt looks at the nodes that have changed
// since the one before, and at no others: a class of pods that wait for room costs what
// happens in the cluster, not what the cluster holds.
//
// Invariant: if on is set, then but for the changed slots, each node whose verdict is
// Unschedulable refuses, and is counted where of says; no other node is counted.
type tally struct {
	on      bool
	refused refusals
	of      []int32 // by slot: place in refused, and 1; 0 for none
	changed []int   // slots to look at again
}

// mostRefusals bounds the different refusals of a tally. Those that count no node any
// more stay until it is made anew.
const mostRefusals = 64

// local is a [framework.Verdicts] that can tell whether each verdict depends on the
// class of the pod, on the node and on the node's pods alone.
type local interface{ Local() bool }

// mayTally reports whether a tally holds in this attempt: nothing but changes of nodes
// changes an answer. Filters are asked twice about nodes with nominated pods.
func (r *run) mayTally() bool {
	if r.memory == nil || r.cycle.Snapshot.Nominations() > 0 {
		return false
	}
	l, ok := r.verdicts.(local)
	return ok && l.Local()
}

// tallied returns the refusals of all nodes, if the tally is on and stays so.
func (r *run) tallied() (refusals, bool) {
	t := &r.memory.class.tally
	if !t.on {
		return nil, false
	}
	for _, slot := range t.changed {
		t.drop(slot)
		node := r.cycle.Snapshot.AtSlot(slot)
		if node == nil {
			continue
		}
		if _, status := r.verdicts.Verdict(node); status.Code() != framework.Unschedulable {
			continue
		}
		a := r.ask(slot)
		if a.refused == nil || a.failed() || r.elsewhere || len(t.refused) > mostRefusals {
			t.on = false
			return nil, false
		}
		t.count(slot, *a.refused)
	}
	t.changed = t.changed[:0]
	return t.refused, true
}

// reset empties the tally for a snapshot with so many slots, and turns it off.
func (t *tally) reset(slots int) {
	if cap(t.of) < slots {
		t.of = make([]int32, slots)
	}
	t.of = t.of[:slots]
	clear(t.of)
	t.on, t.refused, t.changed = false, nil, t.changed[:0]
}

// count counts the refusal of a node that is not counted.
func (t *tally) count(slot int, status framework.Status) {
	if more := slot + 1 - len(t.of); more > 0 {
		t.of = append(t.of, make([]int32, more)...)
	}
	t.of[slot] = int32(t.refused.add(status)) + 1
}

// drop takes a node out of the tally, if it is counted.
func (t *tally) drop(slot int) {
	if slot < len(t.of) && t.of[slot] > 0 {
		t.refused[t.of[slot]-1].nodes--
		t.of[slot] = 0
	}
}

package preemption

import (
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// An answer is what trying one node came to.
//
// Invariant: either refused says why the node is no candidate, or candidate is
// one, violates tells whether it violates budgets, and merits are its values;
// budgets that are not among the guards made no difference, and none did where the
// node is refused.
type answer struct {
	candidate *Candidate
	refused   *framework.Status
	guards    guards
	merits    merits
	violates  bool
}

// merits are what [Criteria] say of a candidate, in order. They are kept beside
// it: to look at its victims, which lie all over the memory, costs more than all
// else of an attempt for which the answers are known.
type merits [5]int64

// ask tries the node of the slot, unless it is known what comes of it. The answer
// stands until the run has ended.
func (r *run) ask(slot int) *answer {
	if r.memory != nil {
		return r.recall(slot)
	}
	return r.answer(r.cycle.Snapshot.AtSlot(slot))
}

// answer tries the node.
func (r *run) answer(node *framework.NodeInfo) *answer {
	candidate, status := r.try(node)
	if !status.IsSuccess() {
		return &answer{refused: &status}
	}
	a := answerOf(candidate)
	a.guards = r.asked
	return a
}

func answerOf(c *Candidate) *answer {
	a := &answer{candidate: c, violates: c.Violations > 0}
	for i, criterion := range Criteria() {
		a.merits[i] = criterion(c)
	}
	return a
}

// failed reports whether it could not be decided whether the node is a candidate.
func (a *answer) failed() bool { return a.refused != nil && a.refused.Code() == framework.Error }

// bytes is the memory that the answer holds, itself not counted.
func (a *answer) bytes() int {
	switch {
	case a.candidate != nil:
		return int(unsafe.Sizeof(*a.candidate)) + cap(a.candidate.Victims)*int(unsafe.Sizeof(framework.Victim{}))
	case a.refused != nil:
		return int(unsafe.Sizeof(*a.refused))
	}
	return 0
}

// bestOf returns the first of the answers that no other is better than, by
// [Criteria].
func bestOf(list []*answer) *answer {
	for i := range len(merits{}) {
		list = best(list, func(a *answer) int64 { return a.merits[i] })
	}
	return list[0]
}

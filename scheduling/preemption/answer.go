package preemption

import (
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// An answer is the result of trying one node.
//
// Invariant: either refused says why the node is no candidate, or candidate is set,
// violates reports whether it violates budgets, and merits are its values. Budgets
// outside guards had no influence; if the node is refused, no budget had any.
type answer struct {
	candidate *Candidate
	refused   *framework.Status
	guards    guards
	merits    merits
	violates  bool
}

// merits are the values of [Criteria] for a candidate, in order. They are stored
// next to the candidate: reading its victims, which are scattered in memory, would
// cost more than the rest of an attempt with known answers.
type merits [5]int64

// ask tries the node of the slot, unless the result is known. The answer is valid
// until the run has ended.
func (r *run) ask(slot int) *answer {
	if r.memory != nil {
		return r.cachedAnswer(slot)
	}
	return r.answer(r.cycle.Snapshot.AtSlot(slot))
}

// answer tries the node.
func (r *run) answer(node *framework.NodeInfo) *answer {
	r.failed = false
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

// failed reports whether the attempt to decide about the node ended in an error.
func (a *answer) failed() bool { return a.refused != nil && a.refused.Code() == framework.Error }

// bytes is the memory that the answer refers to, without the answer itself.
func (a *answer) bytes() int {
	switch {
	case a.candidate != nil:
		return int(unsafe.Sizeof(*a.candidate)) + cap(a.candidate.Victims)*int(unsafe.Sizeof(framework.Victim{}))
	case a.refused != nil:
		return int(unsafe.Sizeof(*a.refused))
	}
	return 0
}

// bestOf returns the best of the answers by [Criteria], the first among equals.
func bestOf(list []*answer) *answer {
	for i := range len(merits{}) {
		list = best(list, func(a *answer) int64 { return a.merits[i] })
	}
	return list[0]
}

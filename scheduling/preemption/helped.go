package preemption

import "github.com/berth-sched/berth/framework"

// lister is [framework.Verdicts] that know where the nodes are that a removal
// could help, so that not each of them has to be asked for.
type lister interface {
	// Rejected appends to slots those of the nodes whose status has the code, in
	// the snapshot's order. It says what Verdict says of each.
	Rejected(code framework.Code, slots []int) []int
}

// slots lists the slots of the nodes that a removal could help, in the snapshot's
// order.
func (r *run) slots() (slots []int) {
	if r.memory != nil {
		slots = r.memory.slots[:0]
		defer func() { r.memory.slots = slots }()
	}
	if l, ok := r.verdicts.(lister); ok {
		return l.Rejected(framework.Unschedulable, slots)
	}
	for _, n := range r.cycle.Snapshot.All() {
		if _, status := r.verdicts.Verdict(n); status.Code() == framework.Unschedulable {
			slots = append(slots, n.Slot())
		}
	}
	return slots
}

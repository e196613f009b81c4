package preemption

import "github.com/berth-sched/berth/framework"

// lister is a [framework.Verdicts] that can list the nodes where removing pods may
// help, so that not every node has to be looked up.
type lister interface {
	// Rejected appends to slots the slots of the nodes whose status has the code, in
	// the snapshot's order. It agrees with Verdict for each node.
	Rejected(code framework.Code, slots []int) []int
}

// slots lists the slots of the nodes where removing pods may help, in the snapshot's
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

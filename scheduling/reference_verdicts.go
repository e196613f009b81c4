package scheduling

import "github.com/berth-sched/berth/framework"

// verdicts answers from a finished search of the reference path.
type verdicts struct {
	path   *referencePath
	places []int // place in the snapshot's order by slot; -1 for none
}

// Verdict implements [framework.Verdicts].
func (v *verdicts) Verdict(node *framework.NodeInfo) (plugin string, s framework.Status) {
	r := v.path
	if !r.bound.rejected.IsSuccess() {
		return r.bound.rejectedBy, r.bound.rejected
	}
	if v.places == nil {
		v.index(r.cycle.Snapshot)
	}
	if slot := node.Slot(); slot < len(v.places) && v.places[slot] >= 0 {
		w := &r.verdicts[v.places[slot]]
		if w.filter >= 0 {
			plugin = r.plugins.filterName(w.filter)
		}
		return plugin, v.status(w)
	}
	return "", r.bound.absent
}

// status returns the status of a node with the verdict; a node that was never looked
// at is absent.
func (v *verdicts) status(w *verdict) framework.Status {
	switch {
	case w.filter >= 0:
		return w.status
	case w.filter == passed:
		return framework.Status{}
	}
	return v.path.bound.absent
}

func (v *verdicts) index(s *framework.Snapshot) {
	v.places = make([]int, s.SlotLimit())
	for i := range v.places {
		v.places[i] = -1
	}
	for place, slot := range s.Slots() {
		v.places[slot] = place
	}
}

// Rejected appends to slots the nodes whose status has the code, in the snapshot's
// order. Package preemption uses it in place of a Verdict call per node.
func (v *verdicts) Rejected(code framework.Code, slots []int) []int {
	r := v.path
	if !r.bound.rejected.IsSuccess() {
		if r.bound.rejected.Code() == code {
			slots = append(slots, r.cycle.Snapshot.Slots()...)
		}
		return slots
	}
	for place, slot := range r.cycle.Snapshot.Slots() {
		if v.status(&r.verdicts[place]).Code() == code {
			slots = append(slots, slot)
		}
	}
	return slots
}

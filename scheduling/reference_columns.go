package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// searchByColumns filters all nodes, one filter after the other, from place start
// on. No node stops the search, so the order of asking makes no difference, and a
// filter runs faster over many nodes in a row. It returns false if a filter fails.
// The caller must then search node by node, to find the node at which the search
// ends.
func (r *referencePath) searchByColumns(s *framework.Snapshot, start int) (ok bool) {
	defer func() {
		if p := recover(); p != nil || !ok {
			r.feasible, ok = r.feasible[:0], false
		}
	}()
	slots := r.slots
	r.places = slices.Grow(r.places[:0], len(slots))[:len(slots)]
	r.feasible = slices.Grow(r.feasible[:0], len(slots))[:len(slots)]
	for k := range r.feasible {
		place := start + k
		if place >= len(slots) {
			place -= len(slots)
		}
		r.places[k], r.feasible[k] = place, s.AtSlot(slots[place])
		r.verdicts[place].filter = passed
	}
	for i := range r.bound.filters {
		if !r.filterColumn(&r.bound.filters[i]) {
			return false
		}
	}
	r.visited = len(slots)
	return true
}

// filterColumn asks one filter about the nodes that are left and drops those that it
// rejects; places are the places of these nodes.
func (r *referencePath) filterColumn(f *boundFilter) bool {
	if f.Batch == nil {
		return r.leave(f, 0, func(int) bool { return true })
	}
	r.rejected = f.Batch.FilterNodes(r.cycle.Pod, r.feasible, r.rejected[:0])
	if len(r.rejected) == 0 {
		return true
	}
	next := 0
	ok := r.leave(f, r.rejected[0], func(k int) bool {
		if next == len(r.rejected) || r.rejected[next] != k {
			return false
		}
		next++
		return true
	})
	return ok && next == len(r.rejected)
}

// leave asks the filter about the nodes from index from on for which asks is true,
// and drops those that it rejects. It returns false if the filter fails.
func (r *referencePath) leave(f *boundFilter, from int, asks func(k int) bool) bool {
	left := from
	for k := from; k < len(r.feasible); k++ {
		n, place := r.feasible[k], r.places[k]
		if asks(k) {
			if status := f.Filter.Filter(r.cycle.Pod, n); !status.IsSuccess() {
				if !status.IsRejected() {
					return false
				}
				r.verdicts[place] = verdict{int32(f.At), status}
				continue
			}
		}
		r.feasible[left], r.places[left] = n, place
		left++
	}
	r.feasible, r.places = r.feasible[:left], r.places[:left]
	return true
}

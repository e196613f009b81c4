package engine

// Within appends to found the slots of the feasible nodes among the given ones, as a
// search finds them that begins at place start of slots and ends after want of them. It
// also returns how many nodes the search visits. The query's Want must be the number of
// all nodes.
//
// It reads four bytes for each node.
func (v *View) Within(slots []int, start, want int, found []int) (list []int, evaluated int) {
	c := v.class
	leaves, places := c.totals.tree.Leaves, c.order().Place
	open := !c.someShut()
	for k := range slots {
		at := start + k
		if at >= len(slots) {
			at -= len(slots)
		}
		slot := slots[at]
		if leaves[places[slot]] < 0 || !open && !c.isFeasible(int32(slot)) {
			continue
		}
		if len(found) == want {
			return found, k
		}
		found = append(found, slot)
	}
	return found, len(slots)
}

// someShut reports whether some group is shut.
func (c *class) someShut() bool {
	for _, r := range c.groups.shut {
		if r != feasible {
			return true
		}
	}
	return false
}

// RejectionsWithin lists the reasons of the given nodes that are not feasible. The list is
// valid until the next call.
func (v *View) RejectionsWithin(slots []int) []Rejection {
	c, nodes := v.class, v.counters()
	for _, slot := range slots {
		nodes[c.finalReason(c.ownReason(int32(slot)), int(c.groups.division.of[slot]))]++
	}
	return v.listCounted()
}

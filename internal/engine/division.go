package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// groupsMost bounds how many groups a class divides the nodes into: the tree
// keeps a summary of each.
const groupsMost = 64

// A division puts every node into one group of nodes that some plugins cannot
// tell apart: the coarsest division that is fine enough for all of them.
//
// Invariant: it never changes; two nodes have one group exactly when each source
// has them in one; slots lists each group in order. That of a single group is the
// order's own.
type division struct {
	sources []framework.Groups // those of the plugins
	order   *order
	count   int       // 0: there would be too many groups
	of      []uint8   // by slot
	places  []uint8   // by place; nil for one group
	slots   [][]int32 // of each group
}

// divide returns the division by all of the sources.
func divide(o *order, sources []framework.Groups) *division {
	d := &division{sources: sources, order: o, count: 1, of: make([]uint8, len(o.place))}
	for _, s := range sources {
		if !d.refine(s) {
			d.count = 0
			return d
		}
	}
	if d.count == 1 {
		d.slots = [][]int32{o.slots}
		return d
	}
	d.slots, d.places = make([][]int32, d.count), make([]uint8, (len(o.slots)+fan-1)/fan*fan)
	for place, slot := range o.slots {
		g := d.of[slot]
		d.slots[g], d.places[place] = append(d.slots[g], slot), g
	}
	return d
}

// refine divides each group by one more source; false when there would be too
// many groups, or the source does not cover all nodes.
func (d *division) refine(s framework.Groups) bool {
	if s.Count > groupsMost {
		return false
	}
	numbers := make([]int, d.count*s.Count) // of the pairs of groups that have a node, from 1 on
	count := 0
	for _, slot := range d.order.slots {
		if int(slot) >= len(s.Of) || uint32(s.Of[slot]) >= uint32(s.Count) {
			return false
		}
		n := &numbers[int(d.of[slot])*s.Count+int(s.Of[slot])]
		if *n == 0 {
			if count++; count > groupsMost {
				return false
			}
			*n = count
		}
		d.of[slot] = uint8(*n - 1)
	}
	d.count = max(1, count)
	return true
}

// same reports whether both are the groups of one list.
func same(a, b framework.Groups) bool {
	return a.Count == b.Count && a.Prepared == b.Prepared && len(a.Of) == len(b.Of) && (len(a.Of) == 0 || &a.Of[0] == &b.Of[0])
}

// knows reports whether the division is fine enough for the groups.
func (d *division) knows(g framework.Groups) bool {
	return g.Count == 1 || slices.ContainsFunc(d.sources, func(s framework.Groups) bool {
		return len(s.Of) == len(g.Of) && &s.Of[0] == &g.Of[0]
	})
}

// divisions are those used lately; classes share them.
type divisions struct{ list []*division }

const divisionsMost = 32

// find returns the division of the nodes by all of the sources; nil when there
// would be too many groups.
func (l *divisions) find(o *order, sources []framework.Groups) *division {
	i := slices.IndexFunc(l.list, func(d *division) bool { return d.order == o && slices.EqualFunc(d.sources, sources, same) })
	if i < 0 {
		if len(l.list) >= divisionsMost {
			l.list = slices.Delete(l.list, 0, divisionsMost/2)
		}
		i = len(l.list)
		l.list = append(l.list, divide(o, slices.Clone(sources)))
	}
	if d := l.list[i]; d.count > 0 {
		return d
	}
	return nil
}

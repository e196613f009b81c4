package engine

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/nodelog"
	"github.com/berth-sched/berth/internal/engine/tree"
)

// groupsMost bounds how many groups a class divides the nodes into: the tree
// keeps a summary of each.
const groupsMost = 64

// A division puts every node into one group of nodes that some plugins treat alike. It
// is the coarsest division that is fine enough for all of these plugins.
//
// Invariant: it never changes. Two nodes have one group exactly if each source has them
// in one group. slots lists each group in order; a single group has the order's own
// list.
type division struct {
	sources []incremental.Groups // of the plugins
	order   *nodelog.Order
	count   int       // 0: there would be too many groups
	of      []uint8   // by slot
	places  []uint8   // by place; nil for one group
	slots   [][]int32 // of each group
	first   []int32   // of the slots of each group; empty if there are no nodes
}

// divide returns the division by all of the sources.
func divide(o *nodelog.Order, sources []incremental.Groups) *division {
	d := &division{sources: sources, order: o, count: 1, of: make([]uint8, len(o.Place))}
	for _, s := range sources {
		if !d.refine(s) {
			d.count = 0
			return d
		}
	}
	if d.count == 1 {
		d.slots, d.first = [][]int32{o.Slots}, o.Slots[:min(1, len(o.Slots))]
		return d
	}
	d.slots, d.places = make([][]int32, d.count), make([]uint8, (len(o.Slots)+tree.Fan-1)/tree.Fan*tree.Fan)
	for place, slot := range o.Slots {
		g := d.of[slot]
		d.slots[g], d.places[place] = append(d.slots[g], slot), g
	}
	for _, slots := range d.slots {
		d.first = append(d.first, slots[0])
	}
	return d
}

// refine divides each group by one more source; false if there would be too many
// groups, or if the source does not cover all nodes.
func (d *division) refine(s incremental.Groups) bool {
	if s.Count > groupsMost {
		return false
	}
	numbers := make([]int, d.count*s.Count) // of the pairs of groups that have a node, from 1 on
	count := 0
	for _, slot := range d.order.Slots {
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
func same(a, b incremental.Groups) bool {
	return a.Count == b.Count && a.Prepared == b.Prepared && len(a.Of) == len(b.Of) && (len(a.Of) == 0 || &a.Of[0] == &b.Of[0])
}

// knows reports whether the division is fine enough for the groups.
func (d *division) knows(g incremental.Groups) bool {
	return g.Count == 1 || slices.ContainsFunc(d.sources, func(s incremental.Groups) bool {
		return len(s.Of) == len(g.Of) && &s.Of[0] == &g.Of[0]
	})
}

// shows reports whether there are groups, and the division is fine enough for them.
func (d *division) shows(g incremental.Groups) bool { return g.Count > 0 && d.knows(g) }

// finer reports whether a plugin with the groups wants a finer division. refused are
// groups that were too many.
func finer(g, refused incremental.Groups, d *division) bool {
	return g.Count > 1 && !d.knows(g) && !same(g, refused)
}

// divisions keeps those used last; classes share them.
type divisions struct{ list []*division }

const divisionsMost = 32

// find returns the division of the nodes by all of the sources; nil if there would be
// too many groups.
func (l *divisions) find(o *nodelog.Order, sources []incremental.Groups) *division {
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

// check returns what does not hold of the division, nil if all does.
func (d *division) check() error {
	listed := 0
	for g, slots := range d.slots {
		listed += len(slots)
		for i, slot := range slots {
			place := d.order.Place[slot]
			if int(d.of[slot]) != g || d.places != nil && int(d.places[place]) != g {
				return fmt.Errorf("division: slot %d is listed in group %d, but is of group %d", slot, g, d.of[slot])
			}
			if i > 0 && d.order.Place[slots[i-1]] >= place {
				return fmt.Errorf("division: group %d is not in order", g)
			}
			for _, s := range d.sources {
				if first := slots[0]; s.Of[first] != s.Of[slot] {
					return fmt.Errorf("division: slots %d and %d are of one group, but a source tells them apart", first, slot)
				}
			}
		}
	}
	seen := map[string]int{}
	for g, slot := range d.first {
		var groups []int
		for _, s := range d.sources {
			groups = append(groups, int(s.Of[slot]))
		}
		if key := fmt.Sprint(groups); d.count > 1 {
			if other, ok := seen[key]; ok {
				return fmt.Errorf("division: no source tells the groups %d and %d apart", other, g)
			}
			seen[key] = g
		}
		if d.slots[g][0] != slot {
			return fmt.Errorf("division: group %d begins with slot %d, want %d", g, slot, d.slots[g][0])
		}
	}
	if listed != len(d.order.Slots) || len(d.slots) != d.count {
		return fmt.Errorf("division: %d groups list %d nodes, want %d with %d", len(d.slots), listed, d.count, len(d.order.Slots))
	}
	return nil
}

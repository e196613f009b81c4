package engine

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/berth-sched/berth/internal/engine/slotlist"
	"github.com/berth-sched/berth/internal/engine/tree"
)

// A grouping is a tree over the rows of a base that is divided into groups. The classes of
// the base share it if nothing but groups, and exceptions to them, tells nodes apart:
//
//	class "web, spread by host and zone"     class "db, spread by host and zone"
//	  offsets    zone-a +40  zone-b +60        offsets    zone-a +80  zone-b +20
//	  exceptions 3: -22      7: -45            exceptions 2: -30
//	                     \                    /
//	                 one tree of rows by zone, which follows each
//	                 row once, however many classes there are
//
// So that exceptions can lower a total, each leaf has some headroom on top. Exceptions are
// written into the tree for the class that asks, and taken out for the next: all that
// exceed their group and, of those that fall behind, only the ones that would be among the
// best without. Every other total in the tree is too high, but below the best one.
//
// Invariant (after find): the leaf of a place is the row of its node, with headroom and
// raised on top if that is feasible. raised is 0 but for the slots of list. counts[i][g]
// is how many rows of group g have the reason i.
type grouping struct {
	division *division
	headroom int32
	epoch    uint64 // of the base that the tree was built in
	entry    uint64 // of the base's log, the first that the tree does not know of
	used     uint64

	tree   tree.Tree
	counts [][]int32
	raised []int32 // by slot
	list   []int32
	looked []exceptional // memory of raise
}

// groupings are those of a base.
type groupings struct {
	list  []*grouping
	clock uint64
}

// groupingsMost bounds the groupings of a base. The one used longest ago makes room.
const groupingsMost = 4

// find returns the grouping by a division, with that headroom, up to date with the base.
func (l *groupings) find(b *base, d *division, headroom int32) *grouping {
	l.clock++
	i := slices.IndexFunc(l.list, func(g *grouping) bool { return g.division == d && g.headroom == headroom })
	switch {
	case i >= 0:
	case len(l.list) < groupingsMost:
		i = len(l.list)
		l.list = append(l.list, &grouping{division: d, headroom: headroom})
	default:
		i = 0
		for k, g := range l.list {
			if g.used < l.list[i].used {
				i = k
			}
		}
		l.list[i].division, l.list[i].headroom, l.list[i].epoch = d, headroom, 0
	}
	g := l.list[i]
	g.used = l.clock
	g.follow(b)
	return g
}

// follow brings the tree up to date with the rows of the base.
func (g *grouping) follow(b *base) {
	slots, ok := b.log.Since(g.entry)
	if g.epoch != b.epoch || !ok {
		g.build(b)
		return
	}
	g.entry = b.log.End()
	for _, slot := range slots {
		g.put(b, slot)
	}
}

// build finds all from the rows.
func (g *grouping) build(b *base) {
	d, o := g.division, b.rows.order
	g.epoch, g.entry = b.epoch, b.log.End()
	g.counts, g.list = g.counts[:0], g.list[:0]
	g.raised = slotlist.AtLeast(g.raised, len(b.rows.nodes))
	clear(g.raised)
	g.tree.Empty()
	g.tree.Reset(len(o.Slots), d.count, d.places)
	for place, slot := range o.Slots {
		x := b.rows.of(slot)
		g.count(x, slot, 1)
		g.tree.Leaves[place] = g.leaf(x, slot)
	}
	g.tree.Build()
}

// leaf is that of a node with the row.
func (g *grouping) leaf(x row, slot int32) int32 {
	if x < 0 {
		return int32(x)
	}
	return int32(x) + g.headroom + g.raised[slot]
}

// put writes the leaf of a node.
func (g *grouping) put(b *base, slot int32) {
	place := b.rows.order.Place[slot]
	now, was := b.rows.of(slot), g.tree.Leaves[place]
	if was < 0 || now < 0 {
		g.count(row(was), slot, -1)
		g.count(now, slot, 1)
	}
	g.tree.Set(int(place), g.leaf(now, slot))
}

// count counts a row among those of its group with its reason.
func (g *grouping) count(x row, slot, by int32) {
	if x >= 0 {
		return
	}
	for int(x.reason()) >= len(g.counts) {
		g.counts = append(g.counts, make([]int32, g.division.count))
	}
	g.counts[x.reason()][g.division.of[slot]] += by
}

// counted is how many rows of a group have the reason.
func (g *grouping) counted(reason, group int) int {
	if reason >= len(g.counts) {
		return 0
	}
	return int(g.counts[reason][group])
}

// raiseRounds is how often raise writes exceptions, at first those that exceed their group,
// then those among the best nodes. The last time it writes all of them.
const raiseRounds = 4

// raise writes exceptions of a class into the tree, whose offsets are the class's.
//
// Invariant (afterwards): the best total, and which nodes have it, are right.
func (g *grouping) raise(c *class) {
	for _, slot := range g.list {
		g.raised[slot] = 0
		g.put(c.base, slot)
	}
	g.list = g.list[:0]
	if len(c.columns.excepting) == 0 {
		return
	}
	g.look(c)
	g.write(c, func(x *exceptional) bool { return x.excess > 0 })
	for range raiseRounds - 1 {
		best := c.totals.tree.Root().Best
		if !g.write(c, func(x *exceptional) bool { return x.total == best && x.excess < 0 }) {
			return
		}
	}
	g.write(c, func(x *exceptional) bool { return x.excess < 0 })
}

// An exceptional is an exception of a class, the total of its node without, and by how much
// it exceeds its group. The total is right until the exception is written.
type exceptional struct{ slot, total, excess int32 }

// look lists the exceptions of a class. One of several columns is listed several times.
func (g *grouping) look(c *class) {
	l, places := &c.columns, c.order().Place
	g.looked = g.looked[:0]
	for _, i := range l.excepting {
		s, weight := l.list[i].scores.(*exceptScores), l.list[i].scorer.Weight
		for k, slot := range s.slots {
			x := exceptional{slot, c.totals.tree.Total(int(places[slot])), int32(s.list[k].excess * weight)}
			if len(l.excepting) > 1 {
				x.excess = l.excess(slot)
			}
			g.looked = append(g.looked, x)
		}
	}
}

// write writes the exceptions that are wanted into the tree, each once, and reports whether
// there was one.
func (g *grouping) write(c *class, want func(*exceptional) bool) (found bool) {
	for i := range g.looked {
		if x := &g.looked[i]; want(x) && g.raised[x.slot] == 0 {
			g.raised[x.slot], found = x.excess, true
			g.list = append(g.list, x.slot)
			g.put(c.base, x.slot)
		}
	}
	return found
}

func (g *grouping) bytes() int {
	n := int(unsafe.Sizeof(*g)) + g.tree.Bytes() + 4*(cap(g.raised)+cap(g.list)) + 12*cap(g.looked)
	for i := range g.counts {
		n += 24 + 4*cap(g.counts[i])
	}
	return n
}

func (l *groupings) bytes() (n int) {
	for _, g := range l.list {
		n += g.bytes()
	}
	return n
}

// check returns what does not follow from the rows, nil if all does. The grouping must be
// up to date.
func (g *grouping) check(b *base) error {
	counts := make([]int32, len(g.counts)*g.division.count)
	for place, slot := range b.rows.order.Slots {
		x := b.rows.of(slot)
		if got, want := g.tree.Leaves[place], g.leaf(x, slot); got != want {
			return fmt.Errorf("grouping: slot %d has the leaf %d, want %d", slot, got, want)
		}
		if g.raised[slot] != 0 && !slices.Contains(g.list, slot) {
			return fmt.Errorf("grouping: slot %d is raised by %d, but not listed", slot, g.raised[slot])
		}
		if x < 0 && int(x.reason()) >= len(g.counts) {
			return fmt.Errorf("grouping: nothing counts the reason %d of slot %d", x.reason(), slot)
		}
		if x < 0 {
			counts[int(x.reason())*g.division.count+int(g.division.of[slot])]++
		}
	}
	for i, want := range counts {
		if got := g.counts[i/g.division.count][i%g.division.count]; got != want {
			return fmt.Errorf("grouping: %d nodes of group %d are counted with the reason %d, want %d", got, i%g.division.count, i/g.division.count, want)
		}
	}
	return nil
}

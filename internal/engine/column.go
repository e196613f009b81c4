package engine

import (
	"slices"
	"time"
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// A column keeps one scorer's raw scores apart from the rows, because they are
// normalized over the feasible nodes or because they are not kept with them.
// There are three kinds:
//
//	by value  ByRange is set: the nodes are in buckets of equal raw scores, so
//	          that a range that moves costs a step for each bucket and for each
//	          node whose normalized score really changes
//	by node   otherwise: raw and, with ByNodes, norm by slot
//	grouped   the scorer does not tell the nodes of a group apart: one raw score
//	          for each group
//
// Invariant (after refresh, while active): every feasible node has its raw score
// here or in base.kept; unless stale, every normalized score is that of the
// present range.
type column struct {
	scorer Scorer
	kept   int // index in base.kept of the raw scores, -1 for a live scorer

	active  bool   // the scorer takes part in this decision
	known   bool   // the raw scores of a live scorer are those of version
	version uint64 // of its DomainTracker
	since   uint64 // the class's feasibleVersion that they belong to
	objects uint64 // the snapshot's objects and time that they belong to
	now     time.Time
	stale   bool // scores may have changed since they were normalized
	touched []int32

	groups  framework.Groups
	refused framework.Groups // groups of which there would be too many
	shown   bool             // the division knows the groups
	grouped bool

	values []int64 // grouped: raw by group
	out    []bool  // grouped: left out of the range
	shares []int64 // grouped: weighted, normalized

	raw  []int64 // by node, of a live scorer
	norm []int64 // by node, with ByNodes

	buckets buckets
}

// byValue reports whether the column keeps buckets.
func (col *column) byValue() bool { return col.scorer.ByRange != nil && !col.grouped }

// adopt gives the scorer its column, a new one if need be.
func (c *class) adopt(s Scorer, kept int) {
	i := slices.IndexFunc(c.columns, func(col column) bool { return col.scorer.At == s.At })
	if i < 0 {
		i = len(c.columns)
		c.columns = slices.Grow(c.columns, 1)[:i+1] // with the memory of an earlier class
		col := &c.columns[i]
		col.active, col.grouped, col.groups, col.refused = false, false, framework.Groups{}, framework.Groups{}
	}
	col := &c.columns[i]
	if (col.scorer.ByRange != nil) != (s.ByRange != nil) || (col.scorer.ByNodes != nil) != (s.ByNodes != nil) {
		col.active = false
	}
	col.scorer, col.kept = s, kept
	var groups framework.Groups
	if by, ok := s.Scorer.(framework.Grouper); ok && kept < 0 {
		groups = by.Groups()
	}
	if !same(groups, col.groups) {
		col.groups, c.division = groups, nil
	}
	if col.active {
		return
	}
	col.active = true
	if c.division != nil {
		col.choose(c.division)
	}
	col.empty(c)
}

// empty forgets all scores.
func (col *column) empty(c *class) {
	col.known, col.stale, c.retotal = false, true, true
	col.touched = col.touched[:0]
	slots := len(c.base.fixedly)
	switch {
	case col.grouped:
	case col.scorer.ByRange != nil:
		col.buckets.reset(slots)
		if c.division != nil {
			col.buckets.groups, col.buckets.groupOf = c.division.count, c.division.of
		}
	default:
		if col.kept < 0 {
			col.raw = resize(col.raw, slots)
		}
		if col.scorer.ByNodes != nil {
			col.norm = resize(col.norm, slots)
		}
	}
}

// wants reports whether the scorer could be shown groups if the division were
// finer.
func (col *column) wants(d *division) bool {
	return col.active && col.groups.Count > 1 && !d.knows(col.groups) && !same(col.groups, col.refused)
}

// columnsWant reports whether some column does.
func (c *class) columnsWant() bool {
	for i := range c.columns {
		if c.columns[i].wants(c.division) {
			return true
		}
	}
	return false
}

// choose decides whether the scorer is asked by group, and reports whether that
// is new.
func (col *column) choose(d *division) bool {
	if col.shown = col.groups.Count > 0 && d.knows(col.groups); !col.shown {
		col.refused = col.groups
	}
	was := col.grouped
	col.grouped = col.shown && !col.groups.Prepared && col.scorer.ByNodes == nil
	return col.grouped != was
}

// divided adapts the column to another division.
func (col *column) divided(c *class) {
	if !col.active {
		return
	}
	switch {
	case col.choose(c.division):
		col.empty(c)
	case col.grouped:
		col.known = false
	case col.scorer.ByRange != nil:
		col.buckets.divide(c.base.order, c.division)
	}
}

// turned follows a group that was opened or shut.
func (col *column) turned(c *class, group int, open bool) {
	if !col.active {
		return
	}
	col.stale = true
	if !open || col.kept >= 0 || col.grouped || !c.scored {
		return
	}
	for _, slot := range c.division.slots[group] {
		if c.own(slot) == feasible {
			col.touched = append(col.touched, slot)
		}
	}
}

// enter brings the column up to date with a feasible node that changed; was
// tells whether it was feasible before.
func (col *column) enter(c *class, slot int32, was bool) {
	switch {
	case col.grouped:
	case col.kept < 0:
		// Its scorer is bound later in this decision. While nothing is scored the
		// list must not grow forever.
		if len(col.touched) > len(c.tree.leaves) {
			col.touched, col.known = col.touched[:0], false
		}
		if !was || !ofNode(col.scorer.Reads) {
			col.touched = append(col.touched, slot)
		}
	case was && c.base.kept[col.kept].fixed && !c.building:
		// The node is the same, and so is its score.
	case col.scorer.ByRange != nil:
		col.place(c, slot, c.base.kept[col.kept].raw[slot])
	default:
		col.stale = true
	}
}

// leave takes a node that is no longer feasible out of the column.
func (col *column) leave(slot int32) {
	if !col.grouped {
		if col.stale = true; col.scorer.ByRange != nil {
			col.buckets.remove(slot)
		}
	}
}

// place puts a node into the bucket of its raw score.
func (col *column) place(c *class, slot int32, raw int64) {
	if col.buckets.place(slot, int(c.division.of[slot]), raw, col.excludes(c, slot)) {
		col.stale = true
	}
}

// excludes reports whether the scorer leaves the node out of the range.
func (col *column) excludes(c *class, slot int32) bool {
	return col.scorer.Except != nil && col.scorer.Except.Excludes(c.base.snapshot.AtSlot(int(slot)))
}

// score is the weighted, normalized score of a node, unless its group has it.
func (col *column) score(slot int32) int64 {
	switch {
	case col.scorer.ByRange != nil:
		return col.buckets.norm(slot) * col.scorer.Weight
	case col.scorer.ByNodes != nil:
		return col.norm[slot] * col.scorer.Weight
	}
	return col.raw[slot] * col.scorer.Weight
}

func (col *column) size() int {
	n := 8*(cap(col.raw)+cap(col.norm)+cap(col.values)+cap(col.shares)) + cap(col.out) + 4*cap(col.touched)
	return n + col.buckets.bytes() + int(unsafe.Sizeof(*col))
}

package engine

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// exceptScores are the scores of a live scorer that treats the nodes of a group alike,
// but for a few exceptions: one raw score for each group, and one for each exception.
// The normalized score of the group is the offset of the group in the tree, so a change
// of a whole zone is one step. An exception has in its leaf by how much it exceeds its
// group. All leaves have MaxNodeScore on top, so that none is negative, and the offsets
// have that much less.
//
// Invariant (after normalize): a feasible node that is no exception has the raw score of
// its group. at and bits have the slots of list. excess is that in the leaves, but for
// the slots of moved.
type exceptScores struct {
	raw   []int64 // by group
	norms []int64 // normalized, by group
	out   []bool  // left out of the range, by group
	few   []int32 // feasible exceptions, by group

	list  []exception
	slots []int32         // of list
	at    map[int32]int32 // index in list, by slot
	bits  []uint64        // by slot
	moved []int32

	feasible uint64 // version of the feasible nodes in norms
}

// An exception is a node with a raw score of its own.
type exception struct {
	raw      int64
	excess   int64 // of the normalized score, over that of the group
	feasible bool  // when normalize was called last
}

// exceptionsMost is to how many nodes there may be one exception. With more, the nodes
// are asked one by one.
const exceptionsMost = 4

func (s *exceptScores) reset(c *class, _ *column) {
	for len(s.bits)*64 < len(c.base.rows.nodes) {
		s.bits = append(s.bits, 0)
	}
	s.forgetAll()
}

// forgetAll forgets the exceptions. All totals must be added up.
func (s *exceptScores) forgetAll() {
	if s.at == nil {
		s.at = map[int32]int32{}
	}
	s.list, s.slots, s.moved = s.list[:0], s.slots[:0], s.moved[:0]
	clear(s.at)
	clear(s.bits)
}

func (s *exceptScores) divide(*class, *column)                 {}
func (s *exceptScores) set(*class, *column, int32, int64) bool { return false }
func (s *exceptScores) remove(int32)                           {}
func (s *exceptScores) settled()                               { s.moved = s.moved[:0] }
func (s *exceptScores) constant() (int64, bool)                { return 0, false }

func (s *exceptScores) eachMoved(f func(slot int32)) {
	for _, slot := range s.moved {
		f(slot)
	}
}

// norm is MaxNodeScore and the excess over the node's group.
func (s *exceptScores) norm(slot int32) int64 { return framework.MaxNodeScore + s.excess(slot) }

// excess is by how much the normalized score of a node exceeds that of its group.
func (s *exceptScores) excess(slot int32) int64 {
	if s.bits[slot/64]>>(slot%64)&1 == 0 {
		return 0
	}
	return s.list[s.at[slot]].excess
}

func (s *exceptScores) size() int {
	const entry = 24 // of the map, about
	return 8*(cap(s.raw)+cap(s.norms)+cap(s.bits)) + cap(s.out) + 4*(cap(s.few)+cap(s.moved)+cap(s.slots)) +
		(int(unsafe.Sizeof(exception{}))+entry)*cap(s.list)
}

func (s *exceptScores) String() string {
	return fmt.Sprintf("by group, raw %v, with %d exceptions", s.raw, len(s.list))
}

// refresh asks for the scores of the groups, and for those of the exceptions that may
// have changed, which are the column's touched ones.
func (s *exceptScores) refresh(c *class, col *column) {
	s.askGroups(c, col)
	for _, slot := range col.touched {
		if c.order().Has(slot) {
			s.ask(c, col, slot)
		}
	}
}

// refreshAll asks for all scores.
func (s *exceptScores) refreshAll(c *class, col *column) {
	s.forgetAll()
	c.base.evaluated += int64(len(c.order().Slots))
	c.totals.need(allTotals)
	col.touched, c.columns.tracking = col.touched[:0], col
	c.ask.exceptions(col.scorer.Scorer.(incremental.ExceptionScorer), c.columns.touch)
	s.refresh(c, col)
}

// slotsSince are those of the exceptions of now, and of those that there were when there was the first of some anchors:
// each of these is an exception now, or has been asked about since.
func (s *exceptScores) slotsSince(anchors []anchor) []int32 {
	slots := slices.Clip(s.slots)
	for i := range anchors {
		slots = append(slots, anchors[i].away...)
	}
	return slots
}

// crowded reports whether there are too many exceptions.
func (s *exceptScores) crowded(c *class) bool {
	return len(s.list)*exceptionsMost > len(c.order().Slots)
}

// askGroups asks for the raw score of every group.
func (s *exceptScores) askGroups(c *class, col *column) {
	d, scorer := c.groups.division, col.scorer.Scorer.(incremental.ExceptionScorer)
	s.raw, s.out = slotlist.AtLeast(s.raw, d.count)[:d.count], slotlist.AtLeast(s.out, d.count)[:d.count]
	s.norms, s.few = slotlist.AtLeast(s.norms, d.count)[:d.count], slotlist.AtLeast(s.few, d.count)[:d.count]
	for g, slots := range d.slots {
		if len(slots) > 0 {
			s.raw[g] = c.ask.groupScore(scorer, slots[0])
			s.out[g] = c.ask.excludes(col.scorer.Except, slots[0])
		}
	}
	col.stale = true
}

// ask asks for the raw score of a node. A node that has that of its group is no
// exception.
func (s *exceptScores) ask(c *class, col *column, slot int32) {
	g := c.groups.division.of[slot]
	raw := c.ask.score(col.scorer.Scorer, slot)
	i, known := s.at[slot]
	switch {
	case raw == s.raw[g]:
		if known {
			s.drop(i)
		}
	case known:
		s.list[i].raw = raw
	default:
		s.at[slot] = int32(len(s.list))
		s.bits[slot/64] |= 1 << (slot % 64)
		s.list, s.slots = append(s.list, exception{raw: raw}), append(s.slots, slot)
	}
	col.stale = true
}

// drop removes an exception from the list.
func (s *exceptScores) drop(i int32) {
	slot, last := s.slots[i], len(s.list)-1
	s.list[i], s.slots[i] = s.list[last], s.slots[last]
	s.at[s.slots[i]] = i
	s.list, s.slots = s.list[:last], s.slots[:last]
	delete(s.at, slot)
	s.bits[slot/64] &^= 1 << (slot % 64)
	s.moved = append(s.moved, slot)
}

// normalize adds the score of each group to the offset of the group.
func (s *exceptScores) normalize(c *class, col *column) (moved int) {
	if col.stale || s.feasible != c.versions.feasible {
		s.renew(c, col)
		col.stale, s.feasible = false, c.versions.feasible
	}
	s.addOffsets(c, col, c.totals.tree.Offset)
	return len(s.moved)
}

func (s *exceptScores) addOffsets(c *class, col *column, offsets []int64) {
	for g, norm := range s.norms[:c.groups.division.count] {
		offsets[g] += (norm - framework.MaxNodeScore) * col.scorer.Weight
	}
}

// renew normalizes all scores.
func (s *exceptScores) renew(c *class, col *column) {
	c.base.walked += int64(len(s.list))
	low, high := s.limits(c)
	for g := range s.norms {
		s.norms[g] = 0
		if s.common(c, g) && !s.out[g] {
			s.norms[g] = s.normalized(c, col, s.raw[g], low, high)
		}
	}
	of := c.groups.division.of
	var known [16]struct {
		raw, norm int64
		ok        bool
	} // by the last bits of raw: exceptions are much alike
	for i := range s.list {
		e, slot := &s.list[i], s.slots[i]
		if !e.feasible {
			continue
		}
		excess := -s.norms[of[slot]]
		if !s.out[of[slot]] {
			k := &known[e.raw&15]
			if !k.ok || k.raw != e.raw {
				k.raw, k.norm, k.ok = e.raw, s.normalized(c, col, e.raw, low, high), true
			}
			excess += k.norm
		}
		if excess != e.excess {
			e.excess = excess
			if !c.shares() {
				s.moved = append(s.moved, slot)
			}
		}
	}
}

// limits returns the smallest and largest raw score of the feasible nodes.
func (s *exceptScores) limits(c *class) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	of := c.groups.division.of
	clear(s.few)
	for i := range s.list {
		e, slot := &s.list[i], s.slots[i]
		if e.feasible = c.isFeasible(slot); !e.feasible {
			continue
		}
		s.few[of[slot]]++
		if !s.out[of[slot]] {
			low, high = min(low, e.raw), max(high, e.raw)
		}
	}
	for g := range s.raw {
		if s.common(c, g) && !s.out[g] {
			low, high = min(low, s.raw[g]), max(high, s.raw[g])
		}
	}
	return low, high
}

// common reports whether a feasible node of the group has the group's score.
func (s *exceptScores) common(c *class, g int) bool {
	return c.totals.tree.FeasibleIn(g) > int(s.few[g])
}

func (s *exceptScores) normalized(c *class, col *column, raw, low, high int64) int64 {
	c.ask.guard.Enter()
	x := col.scorer.ByRange.NormalizeScore(raw, low, high)
	c.ask.guard.Leave()
	if uint64(x) > uint64(framework.MaxNodeScore) {
		c.state = unusable
	}
	return x
}

func (s *exceptScores) check(c *class, col *column) error {
	for i, slot := range s.slots {
		if at, ok := s.at[slot]; !ok || int(at) != i || s.bits[slot/64]>>(slot%64)&1 == 0 {
			return fmt.Errorf("the exception of slot %d is not found", slot)
		}
	}
	if len(s.at) != len(s.list) || len(s.slots) != len(s.list) {
		return fmt.Errorf("%d exceptions are found, want %d", len(s.at), len(s.list))
	}
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, slot := range c.order().Slots {
		if !c.isFeasible(slot) {
			continue
		}
		g := c.groups.division.of[slot]
		raw, out := s.raw[g], s.out[g]
		if i, ok := s.at[slot]; ok {
			raw = s.list[i].raw
		}
		want, wantOut := c.ask.score(col.scorer.Scorer, slot), c.ask.excludes(col.scorer.Except, slot)
		if raw != want || out != wantOut {
			return fmt.Errorf("slot %d has the raw score %d, left out: %v, want %d, %v", slot, raw, out, want, wantOut)
		}
		if !out {
			low, high = min(low, raw), max(high, raw)
		}
	}
	return s.checkNorms(c, col, low, high)
}

// checkNorms normalizes all raw scores again, which are right.
func (s *exceptScores) checkNorms(c *class, col *column, low, high int64) error {
	for _, slot := range c.order().Slots {
		if !c.isFeasible(slot) {
			continue
		}
		g, want := c.groups.division.of[slot], int64(0)
		raw, out := s.raw[g], s.out[g]
		if i, ok := s.at[slot]; ok {
			raw = s.list[i].raw
		}
		if !out {
			want = s.normalized(c, col, raw, low, high)
		}
		if got := s.norm(slot) - framework.MaxNodeScore + s.norms[g]; got != want {
			return fmt.Errorf("slot %d has the normalized score %d, want %d", slot, got, want)
		}
	}
	return nil
}

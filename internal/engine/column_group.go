package engine

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// groupScores are the scores of a live scorer that treats the nodes of a group alike:
// one raw score for each group, which becomes the offset of the group in the tree.
//
// Invariant (after normalize): adds has the weighted, normalized score of each group that has
// feasible nodes and is in the range, else 0. known are right for the range low to high.
type groupScores struct {
	values []int64 // raw, by group
	out    []bool  // left out of the range, by group
	adds   []int64 // by group

	low, high int64
	known     [8]knownScore // by the last bits of raw: groups are much alike
	feasible  uint64        // version of the feasible nodes in adds
	counted   []uint8       // memory of renew: the groups that have feasible nodes
}

// A knownScore is what a raw score adds to totals.
type knownScore struct {
	raw, add int64
	ok       bool
}

func (s *groupScores) reset(*class, *column)                  { s.known = [8]knownScore{} }
func (s *groupScores) divide(*class, *column)                 {}
func (s *groupScores) set(*class, *column, int32, int64) bool { return false }
func (s *groupScores) remove(int32)                           {}
func (s *groupScores) eachMoved(func(slot int32))             {}
func (s *groupScores) settled()                               {}
func (s *groupScores) constant() (int64, bool)                { return 0, false }
func (s *groupScores) norm(int32) int64                       { return 0 }
func (s *groupScores) size() int {
	return int(unsafe.Sizeof(*s)) + 8*(cap(s.values)+cap(s.adds)) + cap(s.out) + cap(s.counted)
}

func (s *groupScores) String() string { return fmt.Sprintf("by group, raw %v", s.values) }

// ask asks the scorer about one node of every group that has feasible nodes.
func (s *groupScores) ask(c *class, col *column) {
	d := c.groups.division
	s.values, s.out = slotlist.AtLeast(s.values, d.count), slotlist.AtLeast(s.out, d.count)
	for g, slot := range d.first {
		if c.totals.tree.FeasibleIn(g) > 0 {
			s.askOne(c, col, g, slot)
		}
	}
}

func (s *groupScores) askOne(c *class, col *column, group int, slot int32) {
	s.values[group] = c.ask.score(col.scorer.Scorer, slot)
	s.out[group] = c.ask.excludes(col.scorer.Except, slot)
	col.stale = true
}

// askTouched does the same for the groups of the scorer that the column's touched has.
// Several groups of the class may lie in one of them.
func (s *groupScores) askTouched(c *class, col *column) {
	touched := uint64(0) // groupsMost bits
	for _, group := range col.touched {
		touched |= 1 << uint32(group)
	}
	d := c.groups.division
	for g, slot := range d.first {
		if touched>>col.groups.Of[slot]&1 != 0 && c.totals.tree.FeasibleIn(g) > 0 {
			s.askOne(c, col, g, slot)
		}
	}
}

// normalize adds the score of each group to the offset of the group.
func (s *groupScores) normalize(c *class, col *column) (moved int) {
	if col.stale || s.feasible != c.versions.feasible {
		s.renew(c, col)
		col.stale, s.feasible = false, c.versions.feasible
	}
	offsets := c.totals.tree.Offset
	for g, x := range s.adds[:len(offsets)] {
		offsets[g] += x
	}
	return 0
}

// renew normalizes the scores over the groups that have feasible nodes. What is known stands
// while the range does.
func (s *groupScores) renew(c *class, col *column) {
	n := c.groups.division.count
	s.adds = slotlist.AtLeast(s.adds, n)
	clear(s.adds)
	values, out, adds := s.values[:n], s.out[:n], s.adds[:n]
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	s.counted = c.totals.tree.FeasibleGroups(s.counted[:0])
	for _, g := range s.counted {
		if !out[g] {
			low, high = min(low, values[g]), max(high, values[g])
		}
	}
	if low != s.low || high != s.high {
		s.low, s.high, s.known = low, high, [8]knownScore{}
	}
	for _, g := range s.counted {
		if out[g] {
			continue
		}
		raw := values[g]
		k := &s.known[raw&7]
		if !k.ok || k.raw != raw {
			k.raw, k.add, k.ok = raw, s.normalized(c, col, raw, low, high)*col.scorer.Weight, true
		}
		adds[g] = k.add
	}
}

func (s *groupScores) normalized(c *class, col *column, raw, low, high int64) int64 {
	x := raw
	if col.scorer.ByRange != nil {
		c.ask.guard.Enter()
		x = col.scorer.ByRange.NormalizeScore(raw, low, high)
		c.ask.guard.Leave()
	}
	if uint64(x) > uint64(framework.MaxNodeScore) {
		c.state = unusable
	}
	return x
}

func (s *groupScores) check(c *class, col *column) error {
	for g, slots := range c.groups.division.slots {
		if c.totals.tree.FeasibleIn(g) == 0 {
			continue
		}
		for _, slot := range []int32{slots[0], slots[len(slots)-1]} {
			if want := c.ask.score(col.scorer.Scorer, slot); s.values[g] != want {
				return fmt.Errorf("group %d has the raw score %d, but slot %d has %d", g, s.values[g], slot, want)
			}
		}
	}
	return nil
}

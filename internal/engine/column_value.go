package engine

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/bucket"
)

// valueScores are the scores of a scorer that is normalized by range: the nodes are in
// buckets of equal raw scores, so a range that moves costs one step for each bucket and
// one for each node whose normalized score really changes. While all nodes have one raw
// score, as with most scorers of most pods, there are no buckets.
//
// Invariant: with spread oneRaw, every feasible node has the raw score raw and is in the
// range, and same is right unless the column is stale.
type valueScores struct {
	spread  spread
	raw     int64
	same    int64 // the normalized score of raw
	buckets bucket.Buckets
}

// A spread is how many raw scores there are.
type spread uint8

const (
	noRaw   spread = iota // no node has a score yet
	oneRaw                // all have the same
	manyRaw               // the nodes are in buckets
)

func (s *valueScores) reset(*class, *column) { s.spread = noRaw }

// start takes one raw score for all nodes.
func (s *valueScores) start(raw int64) { s.spread, s.raw = oneRaw, raw }

// fill puts all nodes into buckets, when the first of them gets another raw score. Those
// whose scores are set later may be among them.
func (s *valueScores) fill(c *class) {
	groups, of := 1, []uint8(nil)
	if d := c.groups.division; d != nil {
		groups, of = d.count, d.of
	}
	s.buckets.Reset(len(c.base.rows.nodes), groups, of)
	if s.spread == oneRaw {
		for _, slot := range c.order().Slots {
			if c.ownReason(slot) == feasible {
				s.buckets.Place(slot, s.raw)
			}
		}
	}
	s.spread = manyRaw
}

func (s *valueScores) divide(c *class, _ *column) {
	if s.spread == manyRaw {
		s.buckets.Divide(c.order().Slots, c.groups.division.count, c.groups.division.of)
	}
}

func (s *valueScores) set(c *class, col *column, slot int32, raw int64) bool {
	out := c.ask.excludes(col.scorer.Except, slot)
	switch {
	case s.spread == noRaw && !out:
		s.spread, s.raw = oneRaw, raw
		return true
	case s.spread == oneRaw && raw == s.raw && !out:
		return false
	case s.spread != manyRaw:
		s.fill(c)
	}
	if out {
		return s.buckets.LeaveOut(slot)
	}
	return s.buckets.Place(slot, raw)
}

func (s *valueScores) remove(slot int32) {
	if s.spread == manyRaw {
		s.buckets.Remove(slot)
	}
}

func (s *valueScores) normalize(c *class, col *column) (moved int) {
	if !col.stale {
		return 0
	}
	col.stale = false
	ok := true
	switch s.spread {
	case oneRaw:
		s.same, ok = s.normalized(c, col)
	case manyRaw:
		moved, ok = s.buckets.Settle(col.scorer.ByRange, c.totals.tree.Shut, c.ask.guard)
	}
	if !ok {
		c.state = unusable
	}
	return moved
}

// normalized asks for the normalized score of all nodes; not ok if it is out of bounds.
func (s *valueScores) normalized(c *class, col *column) (norm int64, ok bool) {
	c.ask.guard.Enter()
	norm = col.scorer.ByRange.NormalizeScore(s.raw, s.raw, s.raw)
	c.ask.guard.Leave()
	return norm, uint64(norm) <= uint64(framework.MaxNodeScore)
}

func (s *valueScores) eachMoved(f func(slot int32)) {
	if s.spread == manyRaw {
		s.buckets.EachMoved(f)
	}
}

func (s *valueScores) settled() {
	if s.spread == manyRaw {
		s.buckets.Settled()
	}
}

func (s *valueScores) constant() (int64, bool) {
	if s.spread == manyRaw {
		return s.buckets.Constant()
	}
	return s.same, s.spread == oneRaw
}

func (s *valueScores) norm(slot int32) int64 {
	if s.spread == manyRaw {
		return s.buckets.Norm(slot)
	}
	return s.same
}

// uniform reports whether any part of the nodes has the scores that all nodes have.
func (s *valueScores) uniform() bool {
	return s.spread == oneRaw || s.spread == manyRaw && s.buckets.Uniform()
}

func (s *valueScores) size() int { return s.buckets.Bytes() }

func (s *valueScores) String() string {
	if s.spread == manyRaw {
		return "by value, " + s.buckets.String()
	}
	return fmt.Sprintf("by value, raw %d gives all nodes %d", s.raw, s.same)
}

func (s *valueScores) check(c *class, col *column) error {
	if s.spread == manyRaw {
		return s.checkBuckets(c, col)
	}
	for _, slot := range c.order().Slots {
		if !c.isFeasible(slot) {
			continue
		}
		want, out := col.askAgain(c, slot), c.ask.excludes(col.scorer.Except, slot)
		if s.spread == noRaw || out || want != s.raw {
			return fmt.Errorf("slot %d has the raw score %d, left out: false, want %d, %v", slot, s.raw, want, out)
		}
	}
	if want, _ := s.normalized(c, col); s.spread == oneRaw && !col.stale && want != s.same {
		return fmt.Errorf("all nodes have the normalized score %d, want %d", s.same, want)
	}
	return nil
}

func (s *valueScores) checkBuckets(c *class, col *column) error {
	if err := s.buckets.Check(); err != nil {
		return err
	}
	if !col.stale {
		if err := s.buckets.CheckNorms(col.scorer.ByRange, c.totals.tree.Shut); err != nil {
			return err
		}
	}
	for _, slot := range c.order().Slots {
		raw, out, has := s.buckets.Has(slot)
		switch {
		case c.ownReason(slot) != feasible && has:
			return fmt.Errorf("slot %d is not feasible, but has the raw score %d", slot, raw)
		case !c.isFeasible(slot):
			continue
		case !has:
			return fmt.Errorf("slot %d is feasible, but has no raw score", slot)
		}
		want, wantOut := col.askAgain(c, slot), c.ask.excludes(col.scorer.Except, slot)
		if out != wantOut || !out && raw != want {
			return fmt.Errorf("slot %d has the raw score %d, left out: %v, want %d, %v", slot, raw, out, want, wantOut)
		}
	}
	return nil
}

// askAgain is the raw score of a node, found anew.
func (col *column) askAgain(c *class, slot int32) int64 {
	if !col.isLive() {
		return c.base.plugins.normalized[col.kept].raw[slot]
	}
	return c.ask.score(col.scorer.Scorer, slot)
}

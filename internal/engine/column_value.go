package engine

import (
	"fmt"

	"github.com/berth-sched/berth/internal/engine/bucket"
)

// valueScores are the scores of a scorer that is normalized by range: the nodes are in
// buckets of equal raw scores, so a range that moves costs one step for each bucket and
// one for each node whose normalized score really changes.
type valueScores struct{ buckets bucket.Buckets }

func (s *valueScores) reset(c *class, _ *column) {
	groups, of := 1, []uint8(nil)
	if d := c.groups.division; d != nil {
		groups, of = d.count, d.of
	}
	s.buckets.Reset(len(c.base.rows.nodes), groups, of)
}

func (s *valueScores) divide(c *class, _ *column) {
	s.buckets.Divide(c.order().Slots, c.groups.division.count, c.groups.division.of)
}

func (s *valueScores) set(c *class, col *column, slot int32, raw int64) bool {
	if c.ask.excludes(col.scorer.Except, slot) {
		return s.buckets.LeaveOut(slot)
	}
	return s.buckets.Place(slot, raw)
}

func (s *valueScores) remove(slot int32) { s.buckets.Remove(slot) }

func (s *valueScores) normalize(c *class, col *column) (moved int) {
	if !col.stale {
		return 0
	}
	col.stale = false
	moved, ok := s.buckets.Settle(col.scorer.ByRange, c.totals.tree.Shut, c.ask.guard)
	if !ok {
		c.state = unusable
	}
	return moved
}

func (s *valueScores) eachMoved(f func(slot int32)) { s.buckets.EachMoved(f) }
func (s *valueScores) settled()                     { s.buckets.Settled() }
func (s *valueScores) constant() (int64, bool)      { return s.buckets.Constant() }
func (s *valueScores) norm(slot int32) int64        { return s.buckets.Norm(slot) }
func (s *valueScores) size() int                    { return s.buckets.Bytes() }
func (s *valueScores) String() string               { return "by value, " + s.buckets.String() }

func (s *valueScores) check(c *class, col *column) error {
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
		case c.own(slot) != feasible && has:
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
	if col.kept >= 0 {
		return c.base.plugins.normalized[col.kept].raw[slot]
	}
	return c.ask.score(col.scorer.Scorer, slot)
}

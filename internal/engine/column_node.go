package engine

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// nodeScores are the scores of a live scorer that needs no normalization, or of one
// that normalizes a list of nodes: by slot.
type nodeScores struct {
	raw        []int64 // of a live scorer
	normalized []int64 // if the scorer normalizes
	final      []int64 // whichever of them counts
}

func (s *nodeScores) reset(c *class, col *column) {
	slots := len(c.base.rows.nodes)
	if col.isLive() {
		s.raw = slotlist.AtLeast(s.raw, slots)
	}
	if s.final = s.raw; col.scorer.ByNodes != nil {
		s.normalized = slotlist.AtLeast(s.normalized, slots)
		s.final = s.normalized
	}
}

func (s *nodeScores) divide(*class, *column) {}

func (s *nodeScores) set(c *class, col *column, slot int32, raw int64) bool {
	if !col.isLive() {
		return true // the base has it
	}
	if col.scorer.ByNodes == nil && uint64(raw) > uint64(framework.MaxNodeScore) {
		c.state = unusable
	}
	s.raw[slot] = raw
	return true
}

func (s *nodeScores) remove(int32) {}

// normalize asks the scorer's own normalization about all feasible nodes.
func (s *nodeScores) normalize(c *class, col *column) (moved int) {
	if col.scorer.ByNodes == nil || !col.stale && c.totals.todo < allTotals {
		return 0
	}
	nodes, scores := c.feasibleNodes(), s.rawOf(c, col)
	c.ask.guard.Enter()
	col.scorer.ByNodes.NormalizeScores(nodes, scores)
	c.ask.guard.Leave()
	for i, n := range nodes {
		if uint64(scores[i]) > uint64(framework.MaxNodeScore) {
			c.state = unusable
		}
		s.normalized[n.Slot()] = scores[i]
	}
	col.stale = false
	c.totals.need(allTotals)
	return 0
}

// rawOf lists the raw scores of the feasible nodes, which feasibleNodes has listed.
func (s *nodeScores) rawOf(c *class, col *column) []int64 {
	l := c.base.lists
	l.scores = slotlist.AtLeast(l.scores, len(l.feasible))
	raw := s.raw
	if !col.isLive() {
		raw = c.base.plugins.normalized[col.kept].raw
	}
	for i, n := range l.feasible {
		l.scores[i] = raw[n.Slot()]
	}
	return l.scores[:len(l.feasible)]
}

func (s *nodeScores) eachMoved(func(slot int32)) {}
func (s *nodeScores) settled()                   {}
func (s *nodeScores) constant() (int64, bool)    { return 0, false }
func (s *nodeScores) norm(slot int32) int64      { return s.final[slot] }
func (s *nodeScores) size() int                  { return 8 * (cap(s.raw) + cap(s.normalized)) }
func (s *nodeScores) String() string             { return "by node" }

func (s *nodeScores) check(c *class, col *column) error {
	for _, slot := range c.order().Slots {
		if !c.isFeasible(slot) || !col.isLive() {
			continue
		}
		if want := col.askAgain(c, slot); s.raw[slot] != want {
			return fmt.Errorf("slot %d has the raw score %d, want %d", slot, s.raw[slot], want)
		}
	}
	if col.scorer.ByNodes == nil {
		return nil
	}
	nodes, scores := c.feasibleNodes(), s.rawOf(c, col)
	col.scorer.ByNodes.NormalizeScores(nodes, scores)
	for i, n := range nodes {
		if got := s.normalized[n.Slot()]; got != scores[i] {
			return fmt.Errorf("slot %d has the normalized score %d, want %d", n.Slot(), got, scores[i])
		}
	}
	return nil
}

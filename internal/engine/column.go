package engine

import (
	"math"

	"github.com/berth-sched/berth/framework"
)

// A column keeps one scorer's raw scores apart from the rows, because they are
// normalized over the feasible nodes or because they are not kept with them.
//
// Invariant: raw[slot] is the scorer's answer for every node in range, and [low, high] is the range of those answers, reached
// by atLow and atHigh nodes; without feasible nodes low > high. norm is used
// by scorers with a normalization of their own.
type column struct {
	scorer Scorer
	raw    []int64
	norm   []int64
	low    int64
	high   int64
	atLow  int
	atHigh int
	stale  bool // the range has to be found anew

	active   bool   // the scorer takes part in this decision
	fixed    bool   // answers stand while only a node's pods change
	touched  []int  // slots whose answers have to be renewed in this decision
	feasible uint64 // the class's feasibleVersion that raw belongs to
	version  uint64 // the DomainTracker's version that raw belongs to
	known    bool
}

// normalized returns the node's score in [0,100].
func (col *column) normalized(slot int) int64 {
	switch {
	case col.scorer.ByRange != nil:
		return col.scorer.ByRange.NormalizeScore(col.raw[slot], col.low, col.high)
	case col.scorer.ByNodes != nil:
		return col.norm[slot]
	default:
		return col.raw[slot]
	}
}

// renew asks the scorer about a feasible node; was tells whether the node was
// feasible, and so in the range, before.
func (col *column) renew(c *class, n *framework.NodeInfo, was bool) {
	slot := n.Slot()
	x := col.scorer.Scorer.Score(c.live, n)
	if was {
		if col.raw[slot] == x {
			return
		}
		col.drop(c, col.raw[slot])
	}
	col.raw[slot] = x
	col.take(c, x)
}

func (col *column) take(c *class, x int64) {
	if col.scorer.ByNodes != nil {
		c.retotal = true
		return
	}
	if col.scorer.ByRange == nil || col.stale {
		return
	}
	if x < col.low {
		col.low, col.atLow = x, 0
		c.retotal = true
	}
	if x > col.high {
		col.high, col.atHigh = x, 0
		c.retotal = true
	}
	if x == col.low {
		col.atLow++
	}
	if x == col.high {
		col.atHigh++
	}
}

func (col *column) drop(c *class, x int64) {
	if col.scorer.ByNodes != nil {
		c.retotal = true
		return
	}
	if col.scorer.ByRange == nil || col.stale {
		return
	}
	if x == col.low {
		col.atLow--
	}
	if x == col.high {
		col.atHigh--
	}
	if col.atLow == 0 || col.atHigh == 0 {
		col.stale, c.retotal = true, true
	}
}

// rescan finds the range anew.
func (col *column) rescan(c *class) {
	col.low, col.high, col.atLow, col.atHigh, col.stale = math.MaxInt64, math.MinInt64, 0, 0, false
	for _, slot := range c.order.slots {
		if c.rows[slot].final != feasible {
			continue
		}
		x := col.raw[slot]
		switch {
		case x < col.low:
			col.low, col.atLow = x, 1
		case x == col.low:
			col.atLow++
		}
		switch {
		case x > col.high:
			col.high, col.atHigh = x, 1
		case x == col.high:
			col.atHigh++
		}
	}
}

// renormalize asks the scorer's own normalization about all feasible nodes.
func (col *column) renormalize(c *class, nodes []*framework.NodeInfo, buffer []int64) {
	for i, n := range nodes {
		buffer[i] = col.raw[n.Slot()]
	}
	col.scorer.ByNodes.NormalizeScores(nodes, buffer)
	for i, n := range nodes {
		col.norm[n.Slot()] = buffer[i]
	}
}

// A gate keeps the verdicts of one filter apart from the rows.
//
// Invariant: reasons[slot] is the filter's answer wherever no filter before it
// rejected the node; elsewhere it means nothing.
type gate struct {
	filter  Filter
	reasons []int32
	active  bool // the filter takes part in this decision
	was     bool // it did in the last one
	version uint64
	known   bool
}

// renew asks the filter about the node, unless one before it in the profile
// has rejected the node already, and returns the first rejection so far.
func (g *gate) renew(c *class, n *framework.NodeInfo, so int32) int32 {
	if c.place(so) < g.filter.At {
		return so
	}
	id := feasible
	if status := g.filter.Filter.Filter(c.live, n); !status.IsSuccess() {
		id = c.reject(g.filter.At, status)
	}
	g.reasons[n.Slot()] = id
	if id != feasible {
		return id
	}
	return so
}

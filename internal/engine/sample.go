package engine

import (
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/nodelog"
	"github.com/berth-sched/berth/internal/engine/slotlist"
	"github.com/berth-sched/berth/internal/engine/tree"
)

// sample scores the sampled nodes by themselves, unless their totals are the same as
// among all nodes. Ranges differ between a part of the nodes and all of them. It is not ok
// if a scorer failed.
//
// Invariant (afterwards, unless same): explicit[k] is the total of places[k].
func (v *View) sample() (same, ok bool) {
	c := v.class
	scorers, ok := c.ask.bindScorers((*sampledNodes)(v))
	if !ok {
		return false, false
	}
	if len(scorers) == 0 && c.columns.uniform() {
		return true, true
	}
	v.list()
	return false, v.score(scorers)
}

// TotalsAmong appends the totals of some nodes, as if no others were feasible, as after
// extenders have refused some. There must be two slots or more, each once, all of feasible
// nodes of the search. It is not ok if a scorer failed: then the reference path must be
// taken. Afterwards the view may know these nodes only.
func (v *View) TotalsAmong(slots []int, totals []int64) (list []int64, ok bool) {
	c := v.class
	if c.totalsStand() {
		t, places, inTree := &c.totals.tree, c.order().Place, c.totalsInTree()
		totals = slices.Grow(totals, len(slots))
		if inTree && t.Groups() == 1 && !t.Shut[0] {
			leaves, offset := t.Leaves, int64(t.Offset[0])
			for _, slot := range slots { // of feasible nodes
				totals = append(totals, int64(leaves[places[slot]])+offset)
			}
			return totals, true
		}
		for _, slot := range slots {
			x := int32(0)
			if place := int(places[slot]); inTree {
				x = t.Total(place)
			} else {
				x = c.totalAt(place)
			}
			totals = append(totals, int64(x))
		}
		return totals, true
	}
	if !v.narrow(slots) {
		return totals, false
	}
	for _, x := range v.explicit {
		totals = append(totals, int64(x))
	}
	return totals, true
}

// totalsStand reports whether the totals of nodes are the same if others are not feasible.
// They may differ where no scorer takes part now: with other nodes, one may.
func (c *class) totalsStand() bool {
	return (!c.ask.liveScorers || c.ask.quietScorers) && c.columns.uniform()
}

// narrow leaves only the nodes of the slots in the view, in that order. It is not ok if a
// scorer failed.
//
// Invariant (afterwards): explicit[k] is the total of slots[k] among these nodes.
func (v *View) narrow(slots []int) (ok bool) {
	c := v.class
	v.places, v.nodes, v.listed, v.listing = v.places[:0], v.nodes[:0], true, listing{}
	for _, slot := range slots {
		place := c.order().Place[slot]
		v.places, v.nodes = append(v.places, place), append(v.nodes, v.node(int(place)))
	}
	v.Feasible = len(slots)
	scorers, ok := c.ask.bindScorers((*sampledNodes)(v))
	if !ok {
		return false
	}
	if len(scorers) > 0 || !c.columns.uniform() {
		return v.score(scorers)
	}
	v.explicit = slotlist.AtLeast(v.explicit, len(v.places))[:len(v.places)]
	for k, place := range v.places {
		v.explicit[k] = c.totalAt(int(place))
	}
	v.countBest()
	return true
}

// score finds the totals of the listed nodes from rows and raw scores. It is not ok if a
// scorer left its bounds.
func (v *View) score(scorers []Scorer) (ok bool) {
	c := v.class
	ok = true
	c.base.evaluated += int64(2 * len(scorers) * len(v.places))
	v.explicit = slotlist.AtLeast(v.explicit, len(v.places))[:len(v.places)]
	v.raw = slotlist.AtLeast(v.raw, len(v.places))[:len(v.places)]
	for k, place := range v.places {
		v.explicit[k] = c.base.rows.tree.Leaves[place]
	}
	for i := range c.base.plugins.normalized {
		l := &c.base.plugins.normalized[i]
		for k, place := range v.places {
			v.raw[k] = l.raw[c.order().Slots[place]]
		}
		ok = v.add(&l.scorer) && ok
	}
	for i := range scorers {
		for k, place := range v.places {
			v.raw[k] = c.ask.score(scorers[i].Scorer, c.order().Slots[place])
		}
		ok = v.add(&scorers[i]) && ok
	}
	v.countBest()
	return ok
}

// countBest finds the best of the explicit totals.
func (v *View) countBest() {
	v.best = best{total: tree.None}
	for _, t := range v.explicit {
		v.best.add(t, 1)
	}
}

// A listing is what the listed places are of: as long as all of it is the same, so are the
// places, and the slots and names of the nodes if they are named.
type listing struct {
	class    *class
	order    *nodelog.Order
	feasible uint64 // version of the class's feasible set
	parts    [2]part
	named    bool
}

// list lists the feasible nodes of the search.
func (v *View) list() {
	if v.listed {
		return
	}
	v.listed = true
	c := v.class
	c.base.walked += int64(v.Feasible)
	is := listing{c, c.order(), c.versions.feasible, v.parts, v.listing.named}
	if at := c.base.tracker.Nodes(); is == v.listing && len(v.places) == v.Feasible {
		if v.Feasible == v.Evaluated { // all that were visited
			k := copy(v.nodes, at[v.parts[0].lo:v.parts[0].hi])
			copy(v.nodes[k:], at[v.parts[1].lo:v.parts[1].hi])
			return
		}
		for k, place := range v.places {
			v.nodes[k] = at[place]
		}
		return
	}
	v.listing, v.listing.named = is, false
	v.places = slotlist.AtLeast(v.places, v.Feasible)[:v.Feasible]
	v.nodes = slotlist.AtLeast(v.nodes, v.Feasible)[:v.Feasible]
	k, t, at := 0, &v.class.totals.tree, v.class.base.tracker.Nodes()
	for _, p := range v.parts {
		for place := p.lo; place < p.hi; place++ {
			if t.Total(place) >= 0 {
				v.places[k], v.nodes[k] = int32(place), at[place]
				k++
			}
		}
	}
}

// add normalizes the raw scores of one scorer and adds them to the totals; false if one
// is out of bounds.
func (v *View) add(s *Scorer) bool {
	switch {
	case s.ByNodes != nil:
		v.class.ask.guard.Enter()
		s.ByNodes.NormalizeScores(v.nodes, v.raw)
		v.class.ask.guard.Leave()
	case s.ByRange != nil:
		v.normalize(s)
	}
	ok := true
	for k, x := range v.raw {
		ok = ok && uint64(x) <= uint64(framework.MaxNodeScore)
		v.explicit[k] += int32(x * s.Weight)
	}
	return ok
}

// normalize maps the raw scores by their range.
func (v *View) normalize(s *Scorer) {
	v.excluded = slotlist.AtLeast(v.excluded, len(v.raw))[:len(v.raw)]
	for k, place := range v.places {
		v.excluded[k] = v.class.ask.excludes(s.Except, v.class.order().Slots[place])
	}
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for k, x := range v.raw {
		if !v.excluded[k] {
			low, high = min(low, x), max(high, x)
		}
	}
	v.class.ask.guard.Enter()
	for k, x := range v.raw {
		if v.raw[k] = 0; !v.excluded[k] {
			v.raw[k] = s.ByRange.NormalizeScore(x, low, high)
		}
	}
	v.class.ask.guard.Leave()
}

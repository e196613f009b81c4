package engine

import (
	"math"

	"github.com/berth-sched/berth/framework"
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
	v.best = best{total: tree.None}
	for _, t := range v.explicit {
		v.best.add(t, 1)
	}
	return false, ok
}

// list lists the feasible nodes of the search.
func (v *View) list() {
	if v.listed {
		return
	}
	v.places, v.nodes, v.listed = v.places[:0], v.nodes[:0], true
	for _, p := range v.parts {
		for place := p.lo; place < p.hi; place++ {
			if v.class.totals.tree.Total(place) >= 0 {
				v.places, v.nodes = append(v.places, int32(place)), append(v.nodes, v.node(place))
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

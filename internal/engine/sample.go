package engine

import (
	"math"

	"github.com/berth-sched/berth/framework"
)

// sample scores the sampled nodes by themselves, unless that makes no
// difference, which same tells. It is not ok when a scorer failed.
//
// Invariant (afterwards, unless same): explicit[k] is the total of places[k].
func (v *View) sample(src Source, live *framework.Cycle) (same, ok bool) {
	c := v.class
	var scorers []Scorer
	if c.outsideScorers {
		if scorers, ok = src.BindScorers(live, true, (*sampledNodes)(v)); !ok {
			return false, false
		}
	}
	if len(scorers) == 0 && c.uniform() {
		return true, true
	}
	v.list()
	v.explicit = resize(v.explicit, len(v.places))[:len(v.places)]
	v.raw = resize(v.raw, len(v.places))[:len(v.places)]
	for k, place := range v.places {
		v.explicit[k] = c.base.tree.leaves[place]
	}
	ok = true
	for i := range c.base.kept {
		kept := &c.base.kept[i]
		for k, place := range v.places {
			v.raw[k] = kept.raw[c.base.order.slots[place]]
		}
		ok = v.add(&kept.scorer) && ok
	}
	for i := range scorers {
		for k, n := range v.nodes {
			v.raw[k] = scorers[i].Scorer.Score(c.live, n)
		}
		ok = v.add(&scorers[i]) && ok
	}
	v.best = summary{best: none, feasible: int32(len(v.places))}
	for _, t := range v.explicit {
		v.best = join(v.best, summary{best: t, count: 1})
	}
	return false, ok
}

// uniform reports whether every sample has the totals that all nodes have.
func (c *class) uniform() bool {
	for i := range c.columns {
		col := &c.columns[i]
		if col.active && (col.kept < 0 || col.scorer.ByNodes != nil || len(col.buckets.sorted) > 1 || col.buckets.left >= 0) {
			return false
		}
	}
	return true
}

// list lists the feasible nodes of the search.
func (v *View) list() {
	if v.listed {
		return
	}
	v.places, v.nodes, v.listed = v.places[:0], v.nodes[:0], true
	for _, p := range v.parts {
		for place := p.lo; place < p.hi; place++ {
			if v.class.tree.total(place) >= 0 {
				v.places, v.nodes = append(v.places, int32(place)), append(v.nodes, v.node(place))
			}
		}
	}
}

// add normalizes the raw scores of one scorer and adds them to the totals; false
// when one is out of bounds.
func (v *View) add(s *Scorer) bool {
	switch {
	case s.ByNodes != nil:
		s.ByNodes.NormalizeScores(v.nodes, v.raw)
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
	excludes := func(k int) bool { return s.Except != nil && s.Except.Excludes(v.nodes[k]) }
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for k, x := range v.raw {
		if !excludes(k) {
			low, high = min(low, x), max(high, x)
		}
	}
	for k, x := range v.raw {
		if v.raw[k] = 0; !excludes(k) {
			v.raw[k] = s.ByRange.NormalizeScore(x, low, high)
		}
	}
}

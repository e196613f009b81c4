package engine

import (
	"github.com/berth-sched/berth/framework/incremental"
)

// A guess is how the live scorers of a base were shown the feasible nodes last. A class
// that is new does not know the groups of its scorers before they are bound, and to bind
// them it has to show them the feasible nodes: by groups, if they are those of the guess,
// else one by one.
//
// Invariant: groups[i] are the groups that the scorer at places[i] of the profile had.
// While trying, shown lists the scorers that were shown groups because of the guess.
type guess struct {
	division *division
	places   []int
	groups   []incremental.Groups

	trying bool
	shown  []int // indexes of places
}

// learn takes over the division of a class, and the groups of its live scorers.
func (g *guess) learn(c *class) {
	if g.division != c.groups.division {
		g.division, g.places, g.groups = c.groups.division, g.places[:0], g.groups[:0]
	}
	for i := range c.columns.list {
		if col := &c.columns.list[i]; col.role != absent && col.isLive() && g.division.shows(col.groups) {
			g.put(col.scorer.At, col.groups)
		}
	}
}

func (g *guess) put(at int, groups incremental.Groups) {
	for i, place := range g.places {
		if place == at {
			g.groups[i] = groups
			return
		}
	}
	g.places, g.groups = append(g.places, at), append(g.groups, groups)
}

// at reports whether the scorer at a place is to be shown the groups of the division.
func (g *guess) at(at int, d *division) bool {
	if !g.trying || g.division != d {
		return false
	}
	for i, place := range g.places {
		if place == at {
			g.shown = append(g.shown, i)
			return true
		}
	}
	return false
}

// right reports whether the scorers have the groups that were shown to them.
func (g *guess) right(a *asker, scorers []Scorer) bool {
	for _, i := range g.shown {
		found := false
		for k := range scorers {
			if s := &scorers[k]; s.At == g.places[i] {
				found = same(a.groups(s.Scorer), g.groups[i])
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// divideByGuess divides the nodes of a class that is new like those of another class of
// the base; false if that may be too coarse.
func (c *class) divideByGuess() bool {
	d := c.base.guess.division
	if c.ask.quietScorers || d == nil || d.order != c.order() {
		return false
	}
	for i := range c.gates.list {
		if x := &c.gates.list[i]; x.role != absent && x.groups.Count > 1 && !d.knows(x.groups) {
			return false
		}
	}
	c.groups.division = d
	c.divided()
	return true
}

// bindScorers binds the live scorers; not ok if the class must be dropped.
func (c *class) bindScorers() (scorers []Scorer, ok bool) {
	g := &c.base.guess
	g.trying, g.shown = true, g.shown[:0]
	scorers, ok = c.ask.bindScorers((*feasibleSet)(c))
	g.trying = false
	if ok && !g.right(&c.ask, scorers) {
		c.shownAs.version = 0 // what was shown may have been too coarse
		scorers, ok = c.ask.bindScorers((*feasibleSet)(c))
	}
	return scorers, ok
}

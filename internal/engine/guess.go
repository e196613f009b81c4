package engine

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/incremental"
)

// A guess is how the live scorers of a base were shown the feasible nodes last. A class
// that is new does not know the groups of its scorers before they are bound, and to bind
// them it has to show them the feasible nodes: by groups, if they are those of the guess,
// else one by one.
//
// Invariant: groups[i] are the groups that the scorer at places[i] of the profile had, and
// the division is fine enough for them. While trying, shown lists the scorers that were shown groups because of the guess.
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

// check returns what does not hold of the guess, nil if all does.
func (g *guess) check() error {
	if len(g.places) != len(g.groups) {
		return fmt.Errorf("guess: %d scorers and %d groups", len(g.places), len(g.groups))
	}
	for i, place := range g.places {
		if slices.Contains(g.places[:i], place) || !g.division.shows(g.groups[i]) {
			return fmt.Errorf("guess: the scorer at place %d is there twice, or has groups that the division does not know", place)
		}
	}
	return nil
}

package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// columns are those of a class.
type columns struct {
	list     []column
	tracking *column          // the one that touch is about
	touch    func(slot int)   // appends to tracking.touched
	addUp    func(slot int32) // class.addUp; made once, because eachMoved lets it escape
	constant int64            // what columns add to every total

	varying   []int // columns that add something else for each node
	excepting []int // columns with exceptions to groups
}

// adopt gives the scorer its column, a new one if need be.
func (l *columns) adopt(c *class, s *Scorer, kept int) {
	i := 0
	for i < len(l.list) && l.list[i].scorer.At != s.At {
		i++
	}
	if i == len(l.list) {
		l.list = slices.Grow(l.list, 1)[:i+1] // with the memory of an earlier class
		col := &l.list[i]
		col.role, col.form, col.groups, col.refused, col.crowded = absent, byValue, incremental.Groups{}, incremental.Groups{}, false
		col.anchors.forget()
	}
	col := &l.list[i]
	if (col.scorer.ByRange != nil) != (s.ByRange != nil) || (col.scorer.ByNodes != nil) != (s.ByNodes != nil) {
		col.role = absent
	}
	col.scorer, col.kept = *s, kept
	var groups incremental.Groups
	if kept < 0 {
		groups = c.ask.groups(s.Scorer)
	}
	if !same(groups, col.groups) {
		col.groups, c.groups.division = groups, nil
	}
	if col.role != absent {
		return
	}
	col.role = asking
	switch d := c.groups.division; {
	case d != nil:
		col.consider(d)
	case col.form == byGroup:
		col.use(byGroup)
	case groups.Count > 0 && col.mayExcept():
		col.use(byException)
	default:
		col.use(col.perNode())
	}
	col.empty(c)
}

// of returns the column of the scorer at a place of the profile, which has one.
func (l *columns) of(at int) *column {
	i := 0
	for l.list[i].scorer.At != at {
		i++
	}
	return &l.list[i]
}

// headroom is by how much exceptions may lower a total.
func (l *columns) headroom() int32 {
	most := int64(0)
	for i := range l.list {
		if col := &l.list[i]; col.role != absent && col.form == byException {
			most += framework.MaxNodeScore * col.scorer.Weight
		}
	}
	return int32(most)
}

// excess is by how much the weighted scores of a node exceed those of its group.
func (l *columns) excess(slot int32) int32 {
	sum := int64(0)
	for _, i := range l.excepting {
		col := &l.list[i]
		sum += col.scores.(*exceptScores).excess(slot) * col.scorer.Weight
	}
	return int32(sum)
}

// adoptLive takes over freshly bound live scorers. One that was skipped this time takes
// no part.
func (l *columns) adoptLive(c *class, scorers []Scorer) {
	for i := range l.list {
		col := &l.list[i]
		if !col.isLive() || col.role == absent {
			continue
		}
		if !hasScorer(scorers, col.scorer.At) {
			col.role = absent
			c.totals.need(allTotals)
		}
	}
	for i := range scorers {
		l.adopt(c, &scorers[i], -1)
	}
}

// hasScorer reports whether one of the scorers has that place in the profile.
func hasScorer(scorers []Scorer, at int) bool {
	for i := range scorers {
		if scorers[i].At == at {
			return true
		}
	}
	return false
}

// rebind takes over the kept scorers of the base.
func (l *columns) rebind(b *base) {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent && !col.isLive() {
			col.scorer = b.plugins.normalized[col.kept].scorer
		}
	}
}

// forget makes what live scorers said unknown, move makes it that about another fork.
func (l *columns) forget() {
	for i := range l.list {
		if col := &l.list[i]; col.isLive() {
			col.role.forget()
		}
	}
}

func (l *columns) move() {
	for i := range l.list {
		if col := &l.list[i]; col.isLive() {
			col.role.move()
		}
	}
}

// rest makes all columns take no part.
func (l *columns) rest() {
	for i := range l.list {
		l.list[i].role = absent
	}
}

// want reports whether some scorer could be shown groups if the division were finer.
func (l *columns) want(d *division) bool {
	for i := range l.list {
		if col := &l.list[i]; col.mayGroup() && !col.byGroups() && finer(col.groups, col.refused, d) {
			return true
		}
	}
	return false
}

// grouped reports whether a scorer that takes part can be asked by its groups.
func (l *columns) grouped() bool {
	for i := range l.list {
		if col := &l.list[i]; col.mayGroup() && col.groups.Count > 1 {
			return true
		}
	}
	return false
}

// follow reports whether a column must know of nodes that stay feasible.
func (l *columns) follow(b *base) bool {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent && !col.byGroups() && (col.isLive() || !b.plugins.normalized[col.kept].nodeOnly) {
			return true
		}
	}
	return false
}

// live reports whether a live scorer takes part.
func (l *columns) live() bool {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent && col.isLive() {
			return true
		}
	}
	return false
}

// uniform reports whether any part of the nodes has the scores that all nodes have.
func (l *columns) uniform() bool {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent {
			values, ok := col.scores.(*valueScores)
			if col.isLive() || !ok || !values.uniform() {
				return false
			}
		}
	}
	return true
}

// enter and leave tell the columns of a node that became feasible, or ceased to be.
func (l *columns) enter(c *class, slot int32) {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent {
			col.enter(c, slot)
		}
	}
}

func (l *columns) leave(slot int32) {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent {
			col.leave(slot)
		}
	}
}

// stay tells the columns of a feasible node that changed and was feasible before.
func (l *columns) stay(c *class, slot int32) {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent {
			col.stay(c, slot)
		}
	}
}

// normalize brings all columns up to date, and returns how many nodes got another
// score. It finds which columns distinguish nodes.
func (l *columns) normalize(c *class) (moved int) {
	l.constant, l.varying, l.excepting = 0, l.varying[:0], l.excepting[:0]
	for i := range l.list {
		if col := &l.list[i]; col.role != absent {
			moved += col.scores.normalize(c, col)
		}
	}
	for i := range l.list {
		col := &l.list[i]
		if col.role == absent || col.form == byGroup {
			continue
		}
		if col.form == byException {
			l.excepting = append(l.excepting, i)
			continue
		}
		if norm, ok := col.scores.constant(); ok {
			l.constant += norm * col.scorer.Weight
		} else {
			l.varying = append(l.varying, i)
		}
	}
	return moved
}

// addUpMoved adds up the totals of nodes that got another score.
func (l *columns) addUpMoved() {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent {
			col.scores.eachMoved(l.addUp)
		}
	}
}

func (l *columns) settled() {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent {
			col.scores.settled()
		}
	}
}

func (l *columns) size() int {
	n := 0
	for i := range l.list {
		n += l.list[i].size()
	}
	return n
}

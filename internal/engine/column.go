package engine

import (
	"slices"
	"time"
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// A column is one scorer whose scores are not part of the rows, because they are
// normalized over the feasible nodes or because the scorer is live.
//
// Invariant (after refresh, unless absent): every feasible node has its raw score in
// scores; unless stale, every normalized score belongs to the present range.
type column struct {
	scorer Scorer
	kept   int // index in basePlugins.normalized of the raw scores, -1 for a live scorer

	role    role // remembered: the raw scores of a live scorer are those of asked
	stale   bool // scores may have changed since they were normalized
	asked   asked
	touched []int32 // slots that a live scorer must be asked about

	groups  framework.Groups
	refused framework.Groups // groups that were too many

	form   form
	scores scores            // memory[form]
	memory [formsMost]scores // made when needed
}

// asked is the moment in which a live scorer was asked last.
type asked struct {
	version  uint64 // of its DomainTracker
	feasible uint64 // version of the class's feasible set
	objects  uint64 // of the snapshot
	now      time.Time
}

// A form is how a column keeps its scores.
type form uint8

const (
	byValue form = iota // nodes in buckets of equal raw scores: column_value.go
	byNode              // raw and normalized scores by slot: column_node.go
	byGroup             // one raw score for each group: column_group.go
	formsMost
)

// scores hold the scores of one column in one form.
type scores interface {
	// reset forgets all scores.
	reset(c *class, col *column)
	// divide adapts to another division of the nodes.
	divide(c *class, col *column)
	// set takes the raw score of a feasible node, and reports whether it is new.
	set(c *class, col *column, slot int32, raw int64) bool
	// remove forgets a node.
	remove(slot int32)
	// normalize brings the normalized scores up to date. It returns how many nodes got
	// another score as far as eachMoved names them.
	normalize(c *class, col *column) (moved int)
	// eachMoved calls f for nodes that got another score since settled.
	eachMoved(f func(slot int32))
	// settled forgets which scores moved.
	settled()
	// constant returns the normalized score of all nodes, if it is known to be one.
	constant() (norm int64, ok bool)
	// norm is the normalized score of a node.
	norm(slot int32) int64
	size() int
	String() string
	// check returns what is wrong, right after normalize; nil if nothing.
	check(c *class, col *column) error
}

// use makes the form the column's.
func (col *column) use(f form) {
	col.form = f
	if col.memory[f] == nil {
		col.memory[f] = [...]func() scores{
			byValue: func() scores { return new(valueScores) },
			byNode:  func() scores { return new(nodeScores) },
			byGroup: func() scores { return new(groupScores) },
		}[f]()
	}
	col.scores = col.memory[f]
}

// perNode is the form of the scorer if it is asked about each node.
func (col *column) perNode() form {
	if col.scorer.ByRange != nil {
		return byValue
	}
	return byNode
}

// empty forgets all scores.
func (col *column) empty(c *class) {
	col.role.forget()
	col.stale = true
	col.touched = col.touched[:0]
	c.totals.need(allTotals)
	col.scores.reset(c, col)
}

// divided adapts the column to another division.
func (col *column) divided(c *class) {
	if col.role == absent {
		return
	}
	switch was := col.form; {
	case col.consider(c.groups.division) != was:
		col.empty(c)
	default:
		if col.form == byGroup {
			col.role.forget()
		}
		col.scores.divide(c, col)
	}
}

// consider decides whether the scorer is asked by group, and returns the form.
func (col *column) consider(d *division) form {
	shown := d.shows(col.groups)
	if !shown {
		col.refused = col.groups
	}
	if shown && !col.groups.Prepared && col.scorer.ByNodes == nil {
		col.use(byGroup)
	} else {
		col.use(col.perNode())
	}
	return col.form
}

// groupSet follows a group that was opened or shut.
func (col *column) groupSet(c *class, group int) {
	if col.role == absent {
		return
	}
	col.stale = true
	if c.groups.shut[group] != feasible || col.kept >= 0 || col.form == byGroup || c.state < totaled {
		return
	}
	for _, slot := range c.groups.division.slots[group] {
		if c.own(slot) == feasible {
			col.touched = append(col.touched, slot)
		}
	}
}

// enter follows a feasible node that was not feasible, or that gets its first score.
func (col *column) enter(c *class, slot int32) {
	switch {
	case col.form == byGroup:
	case col.kept < 0:
		col.touch(c, slot)
	default:
		col.set(c, slot, c.base.plugins.normalized[col.kept].raw[slot])
	}
}

// stay follows a feasible node that changed and was feasible before.
func (col *column) stay(c *class, slot int32) {
	switch {
	case col.form == byGroup:
	case col.kept < 0:
		if !nodeOnly(col.scorer.Reads) {
			col.touch(c, slot)
		}
	case !c.base.plugins.normalized[col.kept].nodeOnly || c.totals.todo == rebuilding:
		col.set(c, slot, c.base.plugins.normalized[col.kept].raw[slot])
	}
}

// touch lists a node that the scorer, which is bound later in this decision, must be
// asked about. While nothing is scored the list must not grow forever.
func (col *column) touch(c *class, slot int32) {
	if len(col.touched) > len(c.totals.tree.Leaves) {
		col.touched = col.touched[:0]
		col.role.forget()
	}
	col.touched = append(col.touched, slot)
}

// leave follows a node that is no longer feasible.
func (col *column) leave(slot int32) {
	if col.form != byGroup {
		col.stale = true
		col.scores.remove(slot)
	}
}

func (col *column) set(c *class, slot int32, raw int64) {
	if col.scores.set(c, col, slot, raw) {
		col.stale = true
	}
}

// refresh renews the raw scores of a live scorer: the changed ones, or all.
func (col *column) refresh(c *class) {
	all := col.changed(c) || col.role < remembered
	switch {
	case col.form == byGroup:
		// A group that had no feasible node may have one now.
		if all || col.asked.feasible != c.versions.feasible {
			col.scores.(*groupScores).ask(c, col)
		}
	case all:
		for _, slot := range c.order().Slots {
			if c.isFeasible(slot) {
				col.set(c, slot, c.ask.score(col.scorer.Scorer, slot))
			}
		}
		col.stale = true
		c.totals.need(allTotals)
	default:
		for _, slot := range col.touched {
			if c.order().Has(slot) && c.isFeasible(slot) {
				col.set(c, slot, c.ask.score(col.scorer.Scorer, slot))
				c.totals.wait(slot)
			}
		}
	}
	col.role, col.touched = remembered, col.touched[:0]
	col.asked.feasible, col.asked.objects, col.asked.now = c.versions.feasible, c.base.at.snapshot.Objects(), c.base.at.snapshot.Now()
}

// changed asks the scorer which nodes' answers changed since the last decision, and
// reports whether all may have.
func (col *column) changed(c *class) bool {
	tracker, ok := col.scorer.Scorer.(framework.DomainTracker)
	if !ok {
		reads, s := col.scorer.Reads, c.base.at.snapshot
		return reads&(framework.ReadsDomain|framework.ReadsCluster) != 0 || col.asked.feasible != c.versions.feasible ||
			reads&framework.ReadsObjects != 0 && col.asked.objects != s.Objects() ||
			reads&framework.ReadsTime != 0 && !col.asked.now.Equal(s.Now())
	}
	version, was := c.ask.version(tracker), col.asked.version
	col.asked.version = version
	switch {
	case col.role < remembered || version == was:
		return false
	case col.form == byGroup:
		return true
	}
	c.columns.tracking = col
	return !c.ask.changed(tracker, was, c.columns.touch)
}

// score is the weighted, normalized score of a node, unless its group has it.
func (col *column) score(slot int32) int64 { return col.scores.norm(slot) * col.scorer.Weight }

func (col *column) size() int {
	n := int(unsafe.Sizeof(*col)) + 4*cap(col.touched)
	for _, s := range col.memory {
		if s != nil {
			n += s.size()
		}
	}
	return n
}

// columns are those of a class.
type columns struct {
	list     []column
	tracking *column               // the one that touch is about
	touch    func(slot int)        // appends to tracking.touched
	addUp    func(slot int32)      // class.addUp; made once, because eachMoved lets it escape
	constant int64                 // what columns add to every total
	varying  []int                 // columns that add something else for each node
	nodes    []*framework.NodeInfo // memory to normalize
	scores   []int64
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
		col.role, col.form, col.groups, col.refused = absent, byValue, framework.Groups{}, framework.Groups{}
	}
	col := &l.list[i]
	if (col.scorer.ByRange != nil) != (s.ByRange != nil) || (col.scorer.ByNodes != nil) != (s.ByNodes != nil) {
		col.role = absent
	}
	col.scorer, col.kept = *s, kept
	var groups framework.Groups
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
	default:
		col.use(col.perNode())
	}
	col.empty(c)
}

// adoptLive takes over freshly bound live scorers. One that was skipped this time takes
// no part.
func (l *columns) adoptLive(c *class, scorers []Scorer) {
	for i := range l.list {
		col := &l.list[i]
		if col.kept >= 0 || col.role == absent {
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

// rest makes all columns take no part.
func (l *columns) rest() {
	for i := range l.list {
		l.list[i].role = absent
	}
}

// want reports whether some scorer could be shown groups if the division were finer.
func (l *columns) want(d *division) bool {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent && finer(col.groups, col.refused, d) {
			return true
		}
	}
	return false
}

// follow reports whether a column must know of nodes that stay feasible.
func (l *columns) follow(b *base) bool {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent && col.form != byGroup && (col.kept < 0 || !b.plugins.normalized[col.kept].nodeOnly) {
			return true
		}
	}
	return false
}

// live reports whether a live scorer takes part.
func (l *columns) live() bool {
	for i := range l.list {
		if col := &l.list[i]; col.role != absent && col.kept < 0 {
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
			if col.kept < 0 || !ok || !values.buckets.Uniform() {
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
	l.constant, l.varying = 0, l.varying[:0]
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
	n := 8 * (cap(l.nodes) + cap(l.scores))
	for i := range l.list {
		n += l.list[i].size()
	}
	return n
}

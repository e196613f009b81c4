package engine

import (
	"time"
	"unsafe"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
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
	touched []int32 // slots that a live scorer must be asked about; by group, its groups
	anchors anchors // of a live scorer that is not asked by group

	groups  incremental.Groups
	refused incremental.Groups // groups that were too many
	crowded bool               // there were too many exceptions to its groups

	form   form
	scores scores            // memory[form]
	memory [formsMost]scores // made when needed
}

// asked is the moment in which a live scorer was asked last.
type asked struct {
	version  uint64 // of its DomainTracker
	feasible uint64 // version of the class's feasible set
	objects  framework.ObjectVersions
	now      time.Time
}

// A form is how a column keeps its scores.
type form uint8

const (
	byValue     form = iota // nodes in buckets of equal raw scores: column_value.go
	byNode                  // raw and normalized scores by slot: column_node.go
	byGroup                 // one raw score for each group: column_group.go
	byException             // the same, but for a few nodes: column_except.go
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
			byValue:     func() scores { return new(valueScores) },
			byNode:      func() scores { return new(nodeScores) },
			byGroup:     func() scores { return new(groupScores) },
			byException: func() scores { return new(exceptScores) },
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

// isLive reports whether the scorer is live, so no row keeps its raw scores.
func (col *column) isLive() bool { return col.kept < 0 }

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
		if col.byGroups() {
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
	switch {
	case !shown || !col.mayGroup():
		col.use(col.perNode())
	case col.groups.Prepared:
		col.use(byException)
	default:
		col.use(byGroup)
	}
	return col.form
}

// mayGroup reports whether the scorer takes part and can be asked by its groups, if they are
// shown.
func (col *column) mayGroup() bool {
	return col.role != absent && (!col.groups.Prepared && col.scorer.ByNodes == nil || col.mayExcept())
}

// mayExcept reports whether the scorer can tell groups and exceptions.
func (col *column) mayExcept() bool {
	_, ok := col.scorer.Scorer.(incremental.ExceptionScorer)
	return ok && col.groups.Prepared && !col.crowded && col.isLive() && col.scorer.ByRange != nil
}

// byGroups reports whether the scorer is asked by group, with or without exceptions.
func (col *column) byGroups() bool { return col.form == byGroup || col.form == byException }

// groupSet follows a group that was opened or shut.
func (col *column) groupSet(c *class, group int) {
	if col.role == absent {
		return
	}
	col.stale = true
	if c.groups.shut[group] != feasible || !col.isLive() || col.byGroups() || c.state < totaled {
		return
	}
	for _, slot := range c.groups.division.slots[group] {
		if c.ownReason(slot) == feasible {
			col.touched = append(col.touched, slot)
		}
	}
}

// enter follows a feasible node that was not feasible, or that gets its first score.
func (col *column) enter(c *class, slot int32) {
	switch {
	case col.byGroups():
	case col.isLive():
		col.touch(c, slot)
	default:
		col.set(c, slot, c.base.plugins.normalized[col.kept].raw[slot])
	}
}

// stay follows a feasible node that changed and was feasible before.
func (col *column) stay(c *class, slot int32) {
	switch {
	case col.byGroups():
	case col.isLive():
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

// A news is how many of the raw scores of a live scorer may have changed.
type news uint8

const (
	noNews   news = iota // those of nodes that changed themselves
	someNews             // those that its tracker calls, too
	allNew
)

// refresh renews the raw scores of a live scorer, as far as they may have changed.
func (col *column) refresh(c *class) {
	role := col.role
	news := col.news(c)
	if col.form == byException {
		news = col.refreshExceptions(c, news)
	}
	switch {
	case col.form == byException:
	case col.form == byGroup:
		col.refreshGroups(c, news)
	case news == allNew:
		c.base.evaluated += int64(len(c.order().Slots)) / 4 // to add up the totals, about
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
				c.totals.postpone(slot)
			}
		}
	}
	switch {
	case news == allNew:
		col.anchor(c)
	case news == someNews && role == remembered:
		col.stayAnchored(c)
	}
	col.role, col.touched = remembered, col.touched[:0]
	col.asked.feasible, col.asked.objects, col.asked.now = c.versions.feasible, c.base.at.snapshot.ObjectVersions(), c.base.at.snapshot.Now()
}

// news asks what may have changed since the scorer was asked last, and adds to touched what its tracker
// calls.
func (col *column) news(c *class) news {
	was, role := col.asked.version, col.role
	switch {
	case col.changed(c) || role < moved:
		return allNew
	case role == moved || was != col.asked.version:
		return someNews
	}
	return noNews
}

// refreshExceptions asks about groups and exceptions. If there are too many of these, all nodes are to be
// asked about.
func (col *column) refreshExceptions(c *class, n news) news {
	s := col.scores.(*exceptScores)
	switch n {
	case noNews:
		return noNews
	case someNews:
		s.refresh(c, col)
	default:
		s.refreshAll(c, col)
	}
	if col.giveUpExceptions(c, s) {
		return allNew
	}
	return n
}

// refreshGroups asks about groups. One that had no feasible node may have one now.
func (col *column) refreshGroups(c *class, n news) {
	switch s := col.scores.(*groupScores); {
	case n == allNew || col.asked.feasible != c.versions.feasible:
		s.ask(c, col)
	case len(col.touched) > 0:
		s.askTouched(c, col)
	}
}

// giveUpExceptions turns to asking about each node if there are too many exceptions. It
// then returns true: all must be asked.
func (col *column) giveUpExceptions(c *class, s *exceptScores) bool {
	if col.crowded = s.crowded(c); !col.crowded {
		return false
	}
	col.use(col.perNode())
	col.empty(c)
	return true
}

// changed asks the scorer which nodes' answers changed since the last decision, and
// reports whether all may have.
func (col *column) changed(c *class) bool {
	tracker, ok := trackerOf(col.scorer.Scorer, col.scorer.Reads)
	if !ok {
		reads, s := col.scorer.Reads, c.base.at.snapshot
		return col.role == moved || reads&(framework.ReadsDomain|framework.ReadsCluster) != 0 || col.asked.feasible != c.versions.feasible ||
			reads&col.asked.objects.Differ(s.ObjectVersions()) != 0 ||
			reads&framework.ReadsTime != 0 && !col.asked.now.Equal(s.Now())
	}
	version, was := c.ask.version(tracker), col.asked.version
	col.asked.version = version
	c.columns.tracking = col
	switch {
	case col.role == moved:
		t, forks := tracker.(incremental.ForkTracker)
		return !forks || !col.anchors.move(&c.ask, t, col.changedFrom(c), c.columns.touch)
	case col.role < remembered || version == was:
		return false
	}
	if col.form == byGroup {
		by, ok := tracker.(incremental.GroupTracker)
		return !ok || !c.ask.groupsChanged(by, was, c.columns.touch)
	}
	if col.form == byException {
		return !c.ask.exceptionsChanged(col.scorer.Scorer.(incremental.ExceptionScorer), was, col.scores.(*exceptScores).slots, c.columns.touch)
	}
	return !c.ask.changed(tracker, was, c.columns.touch)
}

// changedFrom asks the scorer, which must be a ForkTracker, which nodes' answers changed since a state.
func (col *column) changedFrom(c *class) changedFrom {
	return func(state []byte, since []anchor) (slots []int32, ok bool) {
		c.columns.tracking = col
		from := len(col.touched)
		switch col.form {
		case byException:
			if s, is := col.scorer.Scorer.(incremental.ForkExceptionScorer); is {
				ok = c.ask.exceptionsChangedFrom(s, state, col.scores.(*exceptScores).slotsSince(since), c.columns.touch)
			}
		case byNode, byValue:
			ok = c.ask.changedFrom(col.scorer.Scorer.(incremental.ForkTracker), state, c.columns.touch)
		}
		return col.touched[from:], ok
	}
}

// anchor begins with new anchors, after all nodes were asked about.
func (col *column) anchor(c *class) {
	if t, ok := col.forkTracker(); ok && col.form != byGroup && c.base.moves > 0 {
		col.anchors.begin(&c.ask, t, col.changedFrom(c), c.anchored())
	}
}

// stayAnchored goes on with the anchors, after the touched nodes were asked about.
func (col *column) stayAnchored(c *class) {
	if t, ok := col.forkTracker(); ok && col.form != byGroup && c.base.moves > 0 {
		col.anchors.stay(&c.ask, t, col.touched, c.anchored())
	}
}

// forkTracker is the scorer's tracker, if it knows forks.
func (col *column) forkTracker() (t incremental.ForkTracker, ok bool) {
	if tracker, is := trackerOf(col.scorer.Scorer, col.scorer.Reads); is {
		t, ok = tracker.(incremental.ForkTracker)
	}
	return t, ok
}

// score is the weighted, normalized score of a node, unless its group has it.
func (col *column) score(slot int32) int64 { return col.scores.norm(slot) * col.scorer.Weight }

func (col *column) size() int {
	n := int(unsafe.Sizeof(*col)) + 4*cap(col.touched) + col.anchors.size()
	for _, s := range col.memory {
		if s != nil {
			n += s.size()
		}
	}
	return n
}

package engine

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/guard"
)

// An asker calls the live plugins of a class for the pod of this decision. No other
// code of a class calls plugins, except to normalize scores.
type asker struct {
	guard  *guard.Guard
	base   *base // which knows the snapshot: a class must not keep one alive
	source Source
	cycle  *framework.Cycle

	liveFilters, liveScorers   bool // there are some
	quietFilters, quietScorers bool // in this decision, they have nothing to do
	asked                      int  // what plugins were asked in this decision, as Keeps counts it: in quarter nodes
}

// begin makes the asker ready for a decision.
func (a *asker) begin(src Source, c *framework.Cycle) {
	a.source, a.cycle, a.asked = src, c, 0
	a.guard.Enter()
	a.quietFilters, a.quietScorers = src.Idle(c)
	a.guard.Leave()
}

// quiet reports whether no live plugin has anything to do.
func (a *asker) quiet() bool { return a.quietFilters && a.quietScorers }

// bindFilters binds the live filters; false if the reference path must be taken.
func (a *asker) bindFilters() (filters []Filter, ok bool) {
	if !a.liveFilters || a.quietFilters {
		return nil, true
	}
	a.guard.Enter()
	filters, ok = a.source.BindLiveFilters(a.cycle)
	a.guard.Returned()
	return filters, ok
}

// bindScorers binds the live scorers; false if the reference path must be taken.
func (a *asker) bindScorers(shown Feasible) (scorers []Scorer, ok bool) {
	if !a.liveScorers || a.quietScorers {
		return nil, true
	}
	a.guard.Enter()
	scorers, ok = a.source.BindLiveScorers(a.cycle, shown)
	a.guard.Returned()
	return scorers, ok
}

// filter asks a filter about a node.
func (a *asker) filter(f framework.NodeFilter, slot int32) framework.Status {
	n := a.base.at.snapshot.AtSlot(int(slot))
	a.guard.Enter()
	status := f.Filter(a.cycle.Pod, n)
	a.guard.Leave()
	a.count()
	return status
}

// score asks a scorer about a node.
func (a *asker) score(s framework.NodeScorer, slot int32) int64 {
	n := a.base.at.snapshot.AtSlot(int(slot))
	a.guard.Enter()
	x := s.Score(a.cycle.Pod, n)
	a.guard.Leave()
	a.count()
	return x
}

// count counts a question about one node. To ask one plugin costs about half of what the reference path
// takes for a node.
func (a *asker) count() {
	a.asked += 2
	a.base.evaluated++
}

// excludes asks whether a scorer leaves the node out of its range.
func (a *asker) excludes(x framework.RangeExcluder, slot int32) bool {
	if x == nil {
		return false
	}
	n := a.base.at.snapshot.AtSlot(int(slot))
	a.guard.Enter()
	out := x.Excludes(n)
	a.guard.Leave()
	return out
}

// groups asks a filter or scorer which nodes it treats alike.
func (a *asker) groups(plugin any) (groups incremental.Groups) {
	if by, ok := plugin.(incremental.Grouper); ok {
		a.guard.Enter()
		groups = by.Groups()
		a.guard.Leave()
	}
	return groups
}

// groupScore asks a scorer about the nodes of a group that are no exceptions.
func (a *asker) groupScore(s incremental.ExceptionScorer, slot int32) int64 {
	n := a.base.at.snapshot.AtSlot(int(slot))
	a.guard.Enter()
	x := s.GroupScore(a.cycle.Pod, n)
	a.guard.Leave()
	return x
}

// exceptions asks a scorer for its exceptions.
func (a *asker) exceptions(s incremental.ExceptionScorer, touch func(slot int)) {
	a.guard.Enter()
	s.Exceptions(touch)
	a.guard.Leave()
}

// exceptionsChanged asks which exceptions have changed since a version, and which others
// than the known ones there are; false if it cannot tell.
func (a *asker) exceptionsChanged(s incremental.ExceptionScorer, since uint64, known []int32, touch func(slot int)) bool {
	a.guard.Enter()
	ok := s.ExceptionsChanged(since, known, touch)
	a.guard.Leave()
	return ok
}

// groupsChanged asks a tracker which groups have changed since a version; false if it
// cannot tell.
func (a *asker) groupsChanged(t incremental.GroupTracker, since uint64, touch func(group int)) bool {
	a.guard.Enter()
	ok := t.GroupsChanged(since, touch)
	a.guard.Leave()
	return ok
}

// version asks a tracker for its version.
func (a *asker) version(t incremental.DomainTracker) uint64 {
	a.guard.Enter()
	v := t.Version()
	a.guard.Leave()
	return v
}

// changed asks a tracker what has changed since a version; false if it cannot tell.
func (a *asker) changed(t incremental.DomainTracker, since uint64, touch func(slot int)) bool {
	a.guard.Enter()
	ok := t.Changed(since, touch)
	a.guard.Leave()
	return ok
}

// state asks a tracker for its state, origin for that in which the snapshot was forked. Both append it.
func (a *asker) state(t incremental.ForkTracker, b []byte) []byte {
	a.guard.Enter()
	b = t.AppendState(b)
	a.guard.Leave()
	return b
}

func (a *asker) origin(t incremental.ForkTracker, b []byte) []byte {
	a.guard.Enter()
	b = t.AppendOrigin(b)
	a.guard.Leave()
	return b
}

// changedFrom asks a tracker what has changed since a state; false if it cannot tell.
func (a *asker) changedFrom(t incremental.ForkTracker, state []byte, touch func(slot int)) bool {
	a.guard.Enter()
	ok := t.ChangedFrom(state, touch)
	a.guard.Leave()
	return ok
}

// exceptionsChangedFrom is to changedFrom what exceptionsChanged is to changed.
func (a *asker) exceptionsChangedFrom(s incremental.ForkExceptionScorer, state []byte, known []int32, touch func(slot int)) bool {
	a.guard.Enter()
	ok := s.ExceptionsChangedFrom(state, known, touch)
	a.guard.Leave()
	return ok
}

package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// idlers tell whether all live plugins of one side of a class have nothing to do. Most
// pods have neither affinity nor spread constraints, but pods whose terms match them, or
// services that select them, may be added at any time. So those plugins are live although
// they mostly skip the pod; asking their [incremental.Idler] costs less than running them.
//
// Invariant: if all is set and each of the lists is idle, every live PreFilter (PreScore)
// of the class would return Skip, or bind a filter that no node fails, and there is no
// live filter (scorer) besides.
type idlers struct {
	list []incremental.Idler
	kept []incremental.Idler // those whose answer stands for an epoch; see classKeys
	at   uint64              // the epoch in which all of kept were idle, 0 for none
	all  bool                // each live plugin is in one of the lists
}

// idleFilters finds those of the live filters.
func (r *reading) idleFilters(t *plugins) idlers {
	live := &r.filters.live
	l := idlers{all: !slices.ContainsFunc(live.at, func(i int) bool { return !t.filters[i].bound })}
	for _, i := range live.pre {
		l.add(t.preFilters[i].idler, t.preFilters[i].keyer)
	}
	return l
}

// idleScorers finds those of the live scorers.
func (r *reading) idleScorers(t *plugins) idlers {
	live := &r.scorers.live
	l := idlers{all: !slices.ContainsFunc(live.at, func(i int) bool { return !t.scorers[i].bound })}
	for _, i := range live.pre {
		l.add(t.preScores[i].idler, t.preScores[i].keyer)
	}
	return l
}

func (l *idlers) add(x incremental.Idler, keyer incremental.ClassKeyer) {
	switch {
	case x == nil:
		l.all = false
	case keyer != nil:
		l.kept = append(l.kept, x)
	default:
		l.list = append(l.list, x)
	}
}

// Idle implements [engine.Source].
func (f *incrementalPath) Idle(c *framework.Cycle) (filters, scorers bool) {
	return f.class.idleFilters.idle(c, f.keys.epoch), f.class.idleScorers.idle(c, f.keys.epoch)
}

// idle reports whether all of them are known, in this epoch, to have nothing to do.
func (l *idlers) idle(c *framework.Cycle, epoch uint64) bool {
	if !l.all {
		return false
	}
	if l.at != epoch {
		if !areIdle(l.kept, c) {
			return false
		}
		l.at = epoch
	}
	return areIdle(l.list, c)
}

// areIdle reports whether all of the list are idle. It puts one that is not to the front: it
// mostly stays so, and then the others need not be asked.
func areIdle(list []incremental.Idler, c *framework.Cycle) bool {
	for i, x := range list {
		if !x.Idle(c) {
			list[0], list[i] = x, list[0]
			return false
		}
	}
	return true
}

package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// idlers tell whether all live plugins of a class have nothing to do. Most pods have
// neither affinity nor spread constraints, but pods whose terms match them, or services
// that select them, may be added at any time. So those plugins are live although they
// mostly skip the pod; asking their [incremental.Idler] costs less than running them.
//
// Invariant: if all is set and each of list is idle, every live PreFilter and PreScore
// of the class would return Skip, or bind a filter that no node fails, and there is no
// live filter or scorer besides.
type idlers struct {
	list []incremental.Idler
	kept []incremental.Idler // those whose answer stands for an epoch; see classKeys
	at   uint64              // the epoch in which all of kept were idle, 0 for none
	all  bool                // each live plugin is in one of the lists
}

// idlers finds those of the live plugins.
func (r *reading) idlers(t *plugins) idlers {
	l := idlers{all: true}
	for _, i := range r.filters.live.pre {
		l.add(t.preFilters[i].idler, t.preFilters[i].keyer)
	}
	for _, i := range r.scorers.live.pre {
		l.add(t.preScores[i].idler, t.preScores[i].keyer)
	}
	unbound := slices.ContainsFunc(r.filters.live.at, func(i int) bool { return !t.filters[i].bound }) ||
		slices.ContainsFunc(r.scorers.live.at, func(i int) bool { return !t.scorers[i].bound })
	l.all = l.all && !unbound
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
func (f *incrementalPath) Idle(c *framework.Cycle) bool {
	return f.class.idlers.idle(c, f.keys.epoch)
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

func areIdle(list []incremental.Idler, c *framework.Cycle) bool {
	for _, x := range list {
		if !x.Idle(c) {
			return false
		}
	}
	return true
}

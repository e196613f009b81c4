package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// idlers tell which live plugins of one side of a class have nothing to do. Most
// pods have neither affinity nor spread constraints, but pods whose terms match them, or
// services that select them, may be added at any time. So those plugins are live although
// they mostly skip the pod; asking their [incremental.Idler] costs less than running them.
//
// Invariant: a PreFilter (PreScore) that is idle would return Skip, or bind a filter that no
// node fails. If all is set and every idler is idle, no live plugin of the class has anything
// to do.
type idlers struct {
	live *choice
	list []incremental.Idler
	kept []incremental.Idler // those whose answer stands for an epoch, see classKeys; parallel to live.pre, nil for others
	all  bool                // each live plugin is in one of the lists

	at    uint64 // the epoch in which kept were asked last, 0 for none
	awake choice // live without those of kept that were idle then
	none  bool   // none of kept is awake
}

// idleFilters finds those of the live filters.
func (r *reading) idleFilters(t *plugins) idlers {
	l := idlers{live: &r.filters.live}
	l.all = !slices.ContainsFunc(l.live.at, func(i int) bool { return !t.filters[i].bound })
	for _, i := range l.live.pre {
		p := &t.preFilters[i]
		l.add(p.idler, p.keyer, r.filters.readsOf(p.filter, len(t.filters)+i))
	}
	return l
}

// idleScorers finds those of the live scorers.
func (r *reading) idleScorers(t *plugins) idlers {
	l := idlers{live: &r.scorers.live}
	l.all = !slices.ContainsFunc(l.live.at, func(i int) bool { return !t.scorers[i].bound })
	for _, i := range l.live.pre {
		p := &t.preScores[i]
		l.add(p.idler, p.keyer, r.scorers.readsOf(p.scorer, len(t.scorers)+i))
	}
	return l
}

// add adds the idler of a plugin. The answer of one that reads the whole cluster stands for one pod: it has no
// part in the key of the class.
func (l *idlers) add(x incremental.Idler, keyer incremental.ClassKeyer, reads framework.Reads) {
	switch {
	case x == nil:
		l.all = false
	case keyer == nil || reads&framework.ReadsCluster != 0:
		l.list, x = append(l.list, x), nil
	}
	l.kept = append(l.kept, x)
}

// Idle implements [engine.Source].
func (f *incrementalPath) Idle(c *framework.Cycle) (filters, scorers bool) {
	return f.class.idleFilters.idle(c, f.keys.epoch), f.class.idleScorers.idle(c, f.keys.epoch)
}

// idle reports whether all plugins are known, in this epoch, to have nothing to do.
func (l *idlers) idle(c *framework.Cycle, epoch uint64) bool {
	if l.at != epoch {
		l.follow(c)
		l.at = epoch
	}
	return l.all && l.none && (len(l.list) == 0 || areIdle(l.list, c))
}

// follow asks those whose answer stands for an epoch.
func (l *idlers) follow(c *framework.Cycle) {
	l.awake.at, l.awake.pre, l.none = l.live.at, l.awake.pre[:0], true
	for k, i := range l.live.pre {
		x := l.kept[k]
		if x != nil && x.Idle(c) {
			continue
		}
		l.none = l.none && x == nil
		l.awake.pre = append(l.awake.pre, i)
	}
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

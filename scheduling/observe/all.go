package observe

import (
	"errors"

	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// All returns an observer that calls all of them, in order; nil ones are left out. It lets no pods fail
// together, because each of them may want to see every attempt: see [lifecycle.AlikeObserver].
func All(observers ...lifecycle.Observer) lifecycle.Observer {
	var list all
	scores, plugins := false, false
	for _, o := range observers {
		if o == nil {
			continue
		}
		list = append(list, o)
		_, is := o.(lifecycle.ScoreObserver)
		scores = scores || is
		_, is = o.(lifecycle.PluginObserver)
		plugins = plugins || is
	}
	switch {
	case scores && plugins:
		return struct {
			allWithScores
			pluginsOfAll
		}{allWithScores{list}, pluginsOfAll(list)}
	case scores:
		return allWithScores{list}
	case plugins:
		return struct {
			all
			pluginsOfAll
		}{list, pluginsOfAll(list)}
	}
	return list
}

type all []lifecycle.Observer

// Attempt implements [lifecycle.Observer].
func (l all) Attempt(a *lifecycle.Attempt) {
	for _, o := range l {
		o.Attempt(a)
	}
}

// Point implements [lifecycle.PointObserver].
func (l all) Point(t lifecycle.PointTiming) {
	for _, o := range l {
		if p, ok := o.(lifecycle.PointObserver); ok {
			p.Point(t)
		}
	}
}

// Queue implements [lifecycle.QueueObserver].
func (l all) Queue(d queue.Length) {
	for _, o := range l {
		if q, ok := o.(lifecycle.QueueObserver); ok {
			q.Queue(d)
		}
	}
}

// Evicting implements [lifecycle.EvictionObserver].
func (l all) Evicting(e lifecycle.Eviction) {
	for _, o := range l {
		if v, ok := o.(lifecycle.EvictionObserver); ok {
			v.Evicting(e)
		}
	}
}

// allWithScores is a separate type, because scores are expensive and must not be
// requested by accident.
type allWithScores struct{ all }

// Scores implements [lifecycle.ScoreObserver].
func (l allWithScores) Scores(e *scheduling.Explanation) {
	for _, o := range l.all {
		if s, ok := o.(lifecycle.ScoreObserver); ok {
			s.Scores(e)
		}
	}
}

// pluginsOfAll is separate from all for the same reason.
type pluginsOfAll []lifecycle.Observer

// Plugin implements [lifecycle.PluginObserver].
func (l pluginsOfAll) Plugin(t lifecycle.PluginTiming) {
	for _, o := range l {
		if p, ok := o.(lifecycle.PluginObserver); ok {
			p.Plugin(t)
		}
	}
}

// result names the outcome of an attempt.
func result(a *lifecycle.Attempt) string {
	var fit *scheduling.FitError
	switch {
	case a.State == lifecycle.Bound:
		return "bound"
	case errors.As(a.Err, &fit) || errors.Is(a.Err, scheduling.ErrNoNodes):
		return "unschedulable"
	}
	return "error"
}

// isOfGroup reports whether an attempt is for a whole group. It has no cycle if it ended with an error; one
// for a pod of a group has a node.
func isOfGroup(a *lifecycle.Attempt) bool {
	return a.Cycle != nil || a.Group != "" && a.Decision.Node == ""
}

// groupResult names the outcome of an attempt for a group.
func groupResult(a *lifecycle.Attempt) string {
	switch {
	case a.State != lifecycle.Failed:
		return "scheduled"
	case a.Cycle == nil:
		return "error"
	}
	return "unschedulable"
}

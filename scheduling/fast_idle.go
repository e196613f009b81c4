package scheduling

import (
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/scoring"
)

// idling says by what it is known that the live plugins of a kind of pods have
// nothing to do. Most pods have neither affinity nor spread constraints, but pods
// whose terms match them, or services that select them, may come at any time. So
// those plugins are live, though they mostly skip the pod, and would be run in every
// decision only to find that out.
//
// Invariant: while idle is true, every live PreFilter and PreScore of the kind
// would return Skip.
type idling struct {
	known    bool // of all live plugins
	affinity bool // some of them skip pods that topo.Tables.Idle is true for
	spread   bool // some of them skip pods that topo.NoDefaults is true for
}

// idling finds out what is known of the live plugins. It goes by their types: what
// other plugins do, those that wrap these among them, is not known.
func (r *reading) idling(t *plugins) idling {
	known := idling{known: true}
	for _, i := range r.filters.live.pre {
		known.add(t.preFilters[i].plugin)
	}
	for _, i := range r.filters.live.at {
		known.known = known.known && t.filters[i].bound
	}
	for _, i := range r.scorers.live.pre {
		known.add(t.preScores[i].plugin)
	}
	for _, i := range r.scorers.live.at {
		known.known = known.known && t.scorers[i].bound
	}
	return known
}

func (i *idling) add(plugin framework.Plugin) {
	switch plugin.(type) {
	case filter.InterPodAffinity, scoring.InterPodAffinity:
		i.affinity = true
	case scoring.PodTopologySpread:
		i.spread = true
	default:
		i.known = false
	}
}

// Idle implements [engine.Source].
func (f *fastRoad) Idle(c *framework.Cycle) bool {
	i := &f.kind.idling
	return i.known && (!i.affinity || topo.Of(c.Snapshot).Idle(c.Pod)) && (!i.spread || topo.NoDefaults(c.Snapshot, c.Pod))
}

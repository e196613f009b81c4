package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/scoring"
)

// CordonPlugin is the name of the filter that rejects cordoned nodes.
const CordonPlugin = "NodeUnschedulable"

// CordonRejectsOnly reports whether a cordon of a node does nothing to the pod but that
// NodeUnschedulable rejects this node, for no earlier reason: the pod does not tolerate the
// cordon, and no plugin looks at taints of other nodes than the one that it is asked about.
// It may be false though this holds. The pod must not be nil.
func (s *Scheduler) CordonRejectsOnly(pod *framework.PodInfo) bool {
	p := &s.profile
	rejects := slices.IndexFunc(p.Filter, func(pl framework.Plugin) bool { return is[filter.NodeUnschedulable](pl) })
	if rejects < 0 || len(p.Extenders) > 0 {
		return false
	}
	if slices.ContainsFunc(p.Filter[:rejects], func(pl framework.Plugin) bool { return !is[filter.NodeName](pl) }) {
		return false
	}
	plugin, _ := framework.As[filter.NodeUnschedulable](p.Filter[rejects])
	taint := api.Taint{Key: api.TaintNodeUnschedulable, Effect: api.TaintEffectNoSchedule}
	spec := &pod.Pod.Spec
	if match.Tolerates(spec.Tolerations, &taint, match.Comparison(plugin.CompareNumbers)) || honorsTaints(spec.TopologySpreadConstraints) {
		return false
	}
	sees := func(pl framework.Plugin) bool { return seesTaints(pl, pod) }
	return !slices.ContainsFunc(p.Filter, sees) && !slices.ContainsFunc(p.PreFilter, sees) && !slices.ContainsFunc(p.PreScore, sees) &&
		!slices.ContainsFunc(p.Score, func(w Weighted) bool { return sees(w.Plugin) })
}

// honorsTaints reports whether a constraint leaves out nodes by their taints.
func honorsTaints(list []api.TopologySpreadConstraint) bool {
	return slices.ContainsFunc(list, func(c api.TopologySpreadConstraint) bool {
		return c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == api.NodeInclusionPolicyHonor
	})
}

// seesTaints reports whether a plugin may look at the taints of nodes that it is not asked
// about. Of the plugins that look beyond a node, those of this module do so if a spread
// constraint says so.
func seesTaints(pl framework.Plugin, pod *framework.PodInfo) bool {
	if spread, ok := framework.As[filter.PodTopologySpread](pl); ok {
		return honorsTaints(spread.DefaultConstraints)
	}
	if spread, ok := framework.As[scoring.PodTopologySpread](pl); ok {
		return honorsTaints(spread.DefaultConstraints)
	}
	if is[filter.InterPodAffinity](pl) || is[scoring.InterPodAffinity](pl) || is[filter.DynamicResources](pl) {
		return false
	}
	return scopeOf(pl).looksBeyond(pod)
}

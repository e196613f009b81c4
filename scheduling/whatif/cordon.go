package whatif

import (
	"slices"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/scoring"
)

// likeCordon reports whether these pods see no difference between a node with a cordon and
// one that [cordons] holds. A change of a node costs much more: what is known of every other
// node has to be looked at again.
//
// The profile must reject cordoned nodes before any other reason, no pod may tolerate a
// cordon, and nothing may look at taints of other nodes than the one that it is asked about.
func (p *Planner) likeCordon(pods []running) bool {
	rejects := slices.IndexFunc(p.profile.Filter, func(pl framework.Plugin) bool { return is[filter.NodeUnschedulable](pl) })
	if rejects < 0 || len(p.profile.Extenders) > 0 {
		return false
	}
	for _, pl := range p.profile.Filter[:rejects] {
		if !is[filter.NodeName](pl) {
			return false
		}
	}
	plugin, _ := framework.As[filter.NodeUnschedulable](p.profile.Filter[rejects])
	taint := api.Taint{Key: api.TaintNodeUnschedulable, Effect: api.TaintEffectNoSchedule}
	var others []framework.Plugin
	for _, pl := range p.profile.Filter {
		others = append(others, pl)
	}
	for _, w := range p.profile.Score {
		others = append(others, w.Plugin)
	}
	for _, list := range [][]framework.Plugin{p.profile.PreFilter, p.profile.PreScore} {
		others = append(others, list...)
	}
	for i, x := range pods {
		spec := &x.pod.Pod.Spec
		if match.Tolerates(spec.Tolerations, &taint, match.Comparison(plugin.CompareNumbers)) || honorsTaints(spec.TopologySpreadConstraints) {
			return false
		}
		if i > 0 && sameClass(pods[i-1].pod, x.pod) {
			continue
		}
		if slices.ContainsFunc(others, func(pl framework.Plugin) bool { return seesTaints(pl, x.pod) }) {
			return false
		}
	}
	return true
}

func is[T any](pl framework.Plugin) bool {
	_, ok := framework.As[T](pl)
	return ok
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
	scoper, ok := framework.As[framework.Scoper](pl)
	return !ok || scoper.Scope(pod).Reads&(framework.ReadsDomain|framework.ReadsCluster) != 0
}

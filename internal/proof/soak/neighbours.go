package soak

import (
	"math/rand/v2"

	"github.com/berth-sched/berth/framework/api"
)

// The topologies of random constraints and terms. Not every node has a zone or
// a rack.
func topology(r *rand.Rand) string {
	return pick(r, api.LabelHostname, api.LabelTopologyZone, api.LabelTopologyZone, api.LabelTopologyRegion, "rack", "nowhere")
}

func selector(r *rand.Rand) *api.LabelSelector {
	switch r.IntN(8) {
	case 0:
		return nil // selects nothing
	case 1:
		return &api.LabelSelector{} // everything
	}
	text := pick(r, "app=app-0", "app=app-1", "app in (app-2,app-3)", "app", "tier=front", "!tier", "tier!=back", "app=app-4,tier")
	s, err := api.ParseLabelSelector(text)
	if err != nil {
		panic(err)
	}
	return s
}

// neighbours gives some pods spread constraints and affinity terms.
func neighbours(r *rand.Rand, b api.PodBuilder) *api.Pod {
	for range max(0, r.IntN(6)-3) {
		b = b.SpreadConstraint(constraint(r))
	}
	p := b.Obj()
	if !chance(r, 3) {
		return p
	}
	var a api.Affinity
	if p.Spec.Affinity != nil {
		a = *p.Spec.Affinity
	}
	a.PodAffinity, a.PodAntiAffinity = new(api.PodAffinity), new(api.PodAntiAffinity)
	if chance(r, 3) {
		list := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, term(r))
	}
	for range r.IntN(3) {
		list := &a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, api.WeightedPodAffinityTerm{Weight: int32(1 + r.IntN(100)), PodAffinityTerm: term(r)})
	}
	for range max(0, r.IntN(4)-2) {
		list := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, term(r))
	}
	for range r.IntN(3) {
		list := &a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, api.WeightedPodAffinityTerm{Weight: int32(1 + r.IntN(100)), PodAffinityTerm: term(r)})
	}
	p.Spec.Affinity = &a
	return p
}

func constraint(r *rand.Rand) api.TopologySpreadConstraint {
	c := api.TopologySpreadConstraint{
		MaxSkew: int32(1 + r.IntN(4)), TopologyKey: topology(r), LabelSelector: selector(r),
		WhenUnsatisfiable: pick(r, api.DoNotSchedule, api.ScheduleAnyway),
	}
	if chance(r, 4) {
		c.MinDomains = pick(r, new(int32(2)), new(int32(5)))
	}
	policies := []*api.NodeInclusionPolicy{
		nil, new(api.NodeInclusionPolicyHonor), new(api.NodeInclusionPolicyIgnore),
	}
	c.NodeAffinityPolicy, c.NodeTaintsPolicy = pick(r, policies...), pick(r, policies...)
	if chance(r, 4) {
		c.MatchLabelKeys = []string{"tier"}
	}
	return c
}

func term(r *rand.Rand) api.PodAffinityTerm {
	t := api.PodAffinityTerm{TopologyKey: topology(r), LabelSelector: selector(r)}
	switch r.IntN(5) {
	case 0:
		t.Namespaces = []string{pick(r, "team", "default", "elsewhere")}
	case 1:
		t.NamespaceSelector = selectNamespaces(r)
	}
	return t
}

func selectNamespaces(r *rand.Rand) *api.LabelSelector {
	if chance(r, 3) {
		return &api.LabelSelector{}
	}
	s, err := api.ParseLabelSelector(pick(r, "env=prod", "env!=prod", "!env"))
	if err != nil {
		panic(err)
	}
	return s
}

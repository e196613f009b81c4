package soak

import (
	"math/rand/v2"

	"github.com/berth-sched/berth/framework"
)

// The topologies of random constraints and terms. Not every node has a zone or
// a rack.
func topology(r *rand.Rand) string {
	return pick(r, framework.LabelHostname, framework.LabelTopologyZone, framework.LabelTopologyZone, framework.LabelTopologyRegion, "rack", "nowhere")
}

func selector(r *rand.Rand) *framework.LabelSelector {
	switch r.IntN(8) {
	case 0:
		return nil // selects nothing
	case 1:
		return &framework.LabelSelector{} // everything
	}
	text := pick(r, "app=app-0", "app=app-1", "app in (app-2,app-3)", "app", "tier=front", "!tier", "tier!=back", "app=app-4,tier")
	s, err := framework.ParseLabelSelector(text)
	if err != nil {
		panic(err)
	}
	return s
}

// neighbours gives some pods spread constraints and affinity terms.
func neighbours(r *rand.Rand, b framework.PodBuilder) *framework.Pod {
	for range max(0, r.IntN(6)-3) {
		b = b.SpreadConstraint(constraint(r))
	}
	p := b.Obj()
	if !chance(r, 3) {
		return p
	}
	var a framework.Affinity
	if p.Spec.Affinity != nil {
		a = *p.Spec.Affinity
	}
	a.PodAffinity, a.PodAntiAffinity = new(framework.PodAffinity), new(framework.PodAntiAffinity)
	if chance(r, 3) {
		list := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, term(r))
	}
	for range r.IntN(3) {
		list := &a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, framework.WeightedPodAffinityTerm{Weight: int32(1 + r.IntN(100)), PodAffinityTerm: term(r)})
	}
	for range max(0, r.IntN(4)-2) {
		list := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, term(r))
	}
	for range r.IntN(3) {
		list := &a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, framework.WeightedPodAffinityTerm{Weight: int32(1 + r.IntN(100)), PodAffinityTerm: term(r)})
	}
	p.Spec.Affinity = &a
	return p
}

func constraint(r *rand.Rand) framework.TopologySpreadConstraint {
	c := framework.TopologySpreadConstraint{
		MaxSkew: int32(1 + r.IntN(4)), TopologyKey: topology(r), LabelSelector: selector(r),
		WhenUnsatisfiable: pick(r, framework.DoNotSchedule, framework.ScheduleAnyway),
	}
	if chance(r, 4) {
		c.MinDomains = pick(r, new(int32(2)), new(int32(5)))
	}
	policies := []*framework.NodeInclusionPolicy{
		nil, new(framework.NodeInclusionPolicyHonor), new(framework.NodeInclusionPolicyIgnore),
	}
	c.NodeAffinityPolicy, c.NodeTaintsPolicy = pick(r, policies...), pick(r, policies...)
	if chance(r, 4) {
		c.MatchLabelKeys = []string{"tier"}
	}
	return c
}

func term(r *rand.Rand) framework.PodAffinityTerm {
	t := framework.PodAffinityTerm{TopologyKey: topology(r), LabelSelector: selector(r)}
	switch r.IntN(5) {
	case 0:
		t.Namespaces = []string{pick(r, "team", "default", "elsewhere")}
	case 1:
		t.NamespaceSelector = selectNamespaces(r)
	}
	return t
}

func selectNamespaces(r *rand.Rand) *framework.LabelSelector {
	if chance(r, 3) {
		return &framework.LabelSelector{}
	}
	s, err := framework.ParseLabelSelector(pick(r, "env=prod", "env!=prod", "!env"))
	if err != nil {
		panic(err)
	}
	return s
}

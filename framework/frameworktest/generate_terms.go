package frameworktest

import "github.com/berth-sched/berth/framework/api"

// demands draws where the pod may and wants to go.
func (g *generator) demands(b api.PodBuilder) api.PodBuilder {
	b = b.Tolerates(g.some(15, "dedicated=db:NoSchedule", "dedicated", "gpu:NoExecute", "spot:PreferNoSchedule", "slow=yes:PreferNoSchedule", "")...)
	if g.chance(15) {
		b = b.NodeSelector("disk", g.one("ssd", "hdd"))
	}
	for range g.few(15) {
		b = b.NodeAffinity(g.nodeTerm())
	}
	for range g.few(25) {
		b = b.PreferNodes(int32(g.between(1, 100)), g.nodeTerm())
	}
	for range g.few(8) {
		b = b.PodAffinity(g.topology(), g.podSelector())
	}
	for range g.few(15) {
		b = b.PreferPodAffinity(int32(g.between(1, 100)), g.topology(), g.podSelector())
	}
	for range g.few(12) {
		b = b.PodAntiAffinity(g.topology(), g.podSelector())
	}
	for range g.few(15) {
		b = b.PreferPodAntiAffinity(int32(g.between(1, 100)), g.topology(), g.podSelector())
	}
	for range g.few(15) {
		when := api.UnsatisfiableConstraintAction(g.one(string(api.DoNotSchedule), string(api.ScheduleAnyway)))
		b = b.Spread(int32(g.between(1, 3)), g.topology(), when, g.podSelector())
	}
	return b
}

// few draws 0 mostly, else 1 to 3.
func (g *generator) few(percent int) int {
	if g.chance(percent) {
		return g.between(1, 3)
	}
	return 0
}

func (g *generator) topology() string { return topologyKeys[g.IntN(len(topologyKeys))] }

func (g *generator) nodeTerm() string {
	return g.one("disk=ssd", "disk notin (ssd)", "cores>4", "cores<16", "cores>4, disk=ssd", "!tier", "tier", "rack in (r1,r2)",
		api.LabelTopologyZone+" in (a,b)", "metadata.name=node-03", "metadata.name!=node-00")
}

func (g *generator) podSelector() string {
	return g.one("app=web", "app=db", "app in (web,cache)", "app notin (batch)", "version=1", "app=web, version=2", "!version", "")
}

// spoilTerms adds terms that no API server would let through, and namespaces.
func (g *generator) spoilTerms(p *api.Pod) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &api.Affinity{}
	}
	a := p.Spec.Affinity
	bad := api.NodeSelectorRequirement{
		Key: "cores", Operator: api.NodeSelectorOperator(g.one("Gt", "Lt", "In", "Unheard", "Exists")), Values: g.some(50, "x", "4", ""),
	}
	field := api.NodeSelectorRequirement{
		Key: g.one("metadata.name", "metadata.uid"), Operator: api.NodeSelectorOperator(g.one("In", "NotIn", "Exists")), Values: g.some(50, "node-00", "node-01"),
	}
	term := api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{bad}}
	if g.chance(50) {
		term = api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{field}}
	}
	if g.chance(20) {
		term = api.NodeSelectorTerm{}
	}
	if a.NodeAffinity == nil {
		a.NodeAffinity = &api.NodeAffinity{}
	}
	if g.chance(50) {
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{term}}
	} else {
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []api.PreferredSchedulingTerm{{Weight: int32(g.between(-1, 1)), Preference: term}}
	}
	a.PodAntiAffinity = &api.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{{
		Weight: int32(g.between(-100, 100)),
		PodAffinityTerm: api.PodAffinityTerm{
			TopologyKey: g.one("", "rack"), Namespaces: g.some(50, "prod", "none"),
			NamespaceSelector: &api.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
		},
	}}}
}

package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// topologyKeys lists the labels that define domains.
var topologyKeys = []string{api.LabelHostname, api.LabelTopologyZone, api.LabelTopologyZone, api.LabelTopologyRegion, "rack", "disk", "num"}

func (g *generator) constraints() []api.TopologySpreadConstraint {
	var list []api.TopologySpreadConstraint
	if g.chance(1) {
		return []api.TopologySpreadConstraint{} // no constraints of its own
	}
	for range pick(g.dice, 1, 1, 2, 3) {
		c := api.TopologySpreadConstraint{
			MaxSkew:           int32(pick(g.dice, 1, 1, 2, 3, 5)),
			TopologyKey:       pick(g.dice, topologyKeys...),
			WhenUnsatisfiable: pick(g.dice, api.DoNotSchedule, api.ScheduleAnyway),
			LabelSelector:     g.labelSelector(),
		}
		if c.WhenUnsatisfiable == api.DoNotSchedule && g.chance(25) {
			c.MinDomains = new(int32(g.between(1, 5)))
		}
		if g.chance(25) {
			c.NodeAffinityPolicy = new(pick(g.dice, api.NodeInclusionPolicyHonor, api.NodeInclusionPolicyIgnore))
		}
		if g.chance(30) {
			c.NodeTaintsPolicy = new(pick(g.dice, api.NodeInclusionPolicyHonor, api.NodeInclusionPolicyIgnore))
		}
		if g.chance(20) {
			c.MatchLabelKeys = some(g.dice, 2, "pod-template-hash", "tier", "absent", "app")
		}
		g.oddConstraint(&c)
		list = append(list, c)
		if g.chance(5) {
			c.MaxSkew = 4
			list = append(list, c) // the same key again
		}
	}
	return list
}

// oddConstraint makes some constraints invalid for an API server, or without effect.
func (g *generator) oddConstraint(c *api.TopologySpreadConstraint) {
	switch g.IntN(36) {
	case 0:
		if c.WhenUnsatisfiable == api.DoNotSchedule { // a score of -1 means something else in the original
			c.MaxSkew = int32(pick(g.dice, 0, -1, -5, -2147483648))
		}
	case 1:
		c.MaxSkew = int32(pick(g.dice, 2147483647, 1000000))
	case 2:
		c.MinDomains = new(int32(pick(g.dice, 0, -1, 2147483647, 100))) // with any action
	case 3:
		c.TopologyKey = pick(g.dice, "", "absent", "not a key")
	case 4:
		c.WhenUnsatisfiable = pick[api.UnsatisfiableConstraintAction](g.dice, "", "Odd")
	case 5:
		c.NodeAffinityPolicy = new(api.NodeInclusionPolicy("Odd"))
	case 6:
		c.NodeTaintsPolicy = new(api.NodeInclusionPolicy(""))
	case 7:
		c.MatchLabelKeys = []string{pick(g.dice, "", "absent", "app"), "app"}
	case 8:
		r := api.LabelSelectorRequirement{Key: "app", Operator: pick[api.LabelSelectorOperator](g.dice, "Odd", "Gt", "Lt")}
		c.LabelSelector = &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{r}}
	}
}

// workloads adds services and owners of pods, which default constraints read.
func (g *generator) workloads() {
	c := g.c
	for i := range g.IntN(3) {
		s := &api.Service{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("svc%d", i), Namespace: pick(g.dice, "default", "ns-a")}}
		if !g.chance(10) {
			key, value := g.podLabel()
			s.Spec.Selector = map[string]string{key: value}
			if g.chance(20) {
				s.Spec.Selector["tier"] = "front"
			}
			if g.chance(5) {
				clear(s.Spec.Selector)
			}
		}
		c.Services = append(c.Services, s)
	}
	for _, ns := range []string{"default", "ns-a"} {
		meta := func(name string) api.ObjectMeta {
			return api.ObjectMeta{Name: name, Namespace: ns, UID: api.UID(ns + name)}
		}
		if g.chance(50) {
			c.ReplicaSets = append(c.ReplicaSets, &api.ReplicaSet{ObjectMeta: meta("rs"), Spec: api.ReplicaSetSpec{Selector: g.labelSelector()}})
		}
		if g.chance(30) {
			c.StatefulSets = append(c.StatefulSets, &api.StatefulSet{ObjectMeta: meta("ss"), Spec: api.StatefulSetSpec{Selector: g.labelSelector()}})
		}
		if g.chance(30) {
			key, value := g.podLabel()
			c.ReplicationControllers = append(c.ReplicationControllers, &api.ReplicationController{
				ObjectMeta: meta("rc"), Spec: api.ReplicationControllerSpec{Selector: map[string]string{key: value}},
			})
		}
	}
}

// own gives the pod a controller, which may not exist.
func (g *generator) own(p *api.Pod) {
	kind := pick(g.dice, "ReplicaSet", "ReplicaSet", "StatefulSet", "ReplicationController", "Job")
	ref := api.OwnerReference{Kind: kind, APIVersion: "apps/v1", Controller: new(!g.chance(5))}
	switch kind {
	case "ReplicaSet":
		ref.Name = "rs"
	case "StatefulSet":
		ref.Name = "ss"
	case "ReplicationController":
		ref.Name, ref.APIVersion = "rc", "v1"
	case "Job":
		ref.Name, ref.APIVersion = "job", "batch/v1"
	}
	ref.UID = api.UID(p.Namespace + ref.Name)
	switch g.IntN(20) {
	case 0:
		ref.APIVersion = pick(g.dice, "v1", "apps/v1beta1", "example.com/v1", "a/b/c")
	case 1:
		ref.Controller = nil
	case 2:
		p.OwnerReferences = append(p.OwnerReferences, api.OwnerReference{
			Kind: "StatefulSet", APIVersion: "apps/v1", Name: "ss", UID: api.UID(p.Namespace + "ss"), Controller: new(true),
		})
	}
	p.OwnerReferences = append(p.OwnerReferences, ref)
}

// chooseNeighbours gives the pod affinity or anti-affinity to pods.
func (g *generator) chooseNeighbours(p *api.Pod) {
	a := affinity(p)
	if g.chance(55) {
		a.PodAffinity = &api.PodAffinity{}
		if g.chance(45) {
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = g.terms()
		}
		if g.chance(60) {
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = g.weightedTerms()
		}
	}
	if g.chance(55) {
		a.PodAntiAffinity = &api.PodAntiAffinity{}
		if g.chance(45) {
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = g.terms()
		}
		if g.chance(60) {
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = g.weightedTerms()
		}
	}
}

func (g *generator) terms() []api.PodAffinityTerm {
	var list []api.PodAffinityTerm
	for range pick(g.dice, 1, 1, 1, 2) {
		list = append(list, g.term())
	}
	return list
}

func (g *generator) weightedTerms() []api.WeightedPodAffinityTerm {
	var list []api.WeightedPodAffinityTerm
	for range pick(g.dice, 1, 1, 2, 3) {
		list = append(list, api.WeightedPodAffinityTerm{Weight: g.podWeight(), PodAffinityTerm: g.term()})
	}
	return list
}

func (g *generator) term() api.PodAffinityTerm {
	t := api.PodAffinityTerm{TopologyKey: pick(g.dice, topologyKeys...), LabelSelector: g.labelSelector()}
	if g.chance(25) {
		t.Namespaces = some(g.dice, 2, "default", "ns-a", "ns-b", "ns-x", "nowhere", "")
	}
	if g.chance(25) {
		t.NamespaceSelector = g.namespaceSelector()
	}
	// The API server turns these into requirements; a scheduler does not read them.
	if g.chance(12) {
		t.MatchLabelKeys = some(g.dice, 2, "pod-template-hash", "tier", "absent")
	}
	if g.chance(12) {
		t.MismatchLabelKeys = some(g.dice, 2, "pod-template-hash", "app", "absent")
	}
	if g.chance(2) {
		t.TopologyKey = pick(g.dice, "", "absent", "not a key")
	}
	return t
}

func (g *generator) namespaceSelector() *api.LabelSelector {
	r := api.LabelSelectorRequirement{Key: "env", Operator: api.LabelSelectorOpExists}
	switch g.IntN(12) {
	case 0, 1, 2:
		return &api.LabelSelector{}
	case 3, 4, 5:
		return &api.LabelSelector{MatchLabels: map[string]string{"team": pick(g.dice, "a", "b", "core")}}
	case 6:
		r.Operator = api.LabelSelectorOpDoesNotExist
	case 7:
		r.Key, r.Operator, r.Values = "team", api.LabelSelectorOpNotIn, []string{"a", "core"}
	case 8:
		r.Key, r.Operator, r.Values = "kubernetes.io/metadata.name", api.LabelSelectorOpIn, []string{"default", "ns-x"}
	case 9:
		if g.chance(30) {
			r.Operator = "Odd"
		}
	}
	return &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{r}}
}

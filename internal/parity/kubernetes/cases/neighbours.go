package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// topologyKeys are labels that domains are made of.
var topologyKeys = []string{framework.LabelHostname, framework.LabelTopologyZone, framework.LabelTopologyZone, framework.LabelTopologyRegion, "rack", "disk"}

func (g *generator) constraints() []framework.TopologySpreadConstraint {
	var list []framework.TopologySpreadConstraint
	for range pick(g.dice, 1, 1, 2, 3) {
		c := framework.TopologySpreadConstraint{
			MaxSkew:           int32(pick(g.dice, 1, 1, 2, 3, 5)),
			TopologyKey:       pick(g.dice, topologyKeys...),
			WhenUnsatisfiable: pick(g.dice, framework.DoNotSchedule, framework.ScheduleAnyway),
			LabelSelector:     g.labelSelector(),
		}
		if c.WhenUnsatisfiable == framework.DoNotSchedule && g.chance(25) {
			c.MinDomains = new(int32(g.between(1, 5)))
		}
		if g.chance(25) {
			c.NodeAffinityPolicy = new(pick(g.dice, framework.NodeInclusionPolicyHonor, framework.NodeInclusionPolicyIgnore))
		}
		if g.chance(30) {
			c.NodeTaintsPolicy = new(pick(g.dice, framework.NodeInclusionPolicyHonor, framework.NodeInclusionPolicyIgnore))
		}
		if g.chance(20) {
			c.MatchLabelKeys = some(g.dice, 2, "pod-template-hash", "tier", "absent")
		}
		list = append(list, c)
	}
	return list
}

// workloads are services and owners of pods, which default constraints read.
func (g *generator) workloads() {
	c := g.c
	for i := range g.IntN(3) {
		s := &framework.Service{ObjectMeta: framework.ObjectMeta{Name: fmt.Sprintf("svc%d", i), Namespace: pick(g.dice, "default", "ns-a")}}
		if !g.chance(10) {
			key, value := g.podLabel()
			s.Spec.Selector = map[string]string{key: value}
		}
		c.Services = append(c.Services, s)
	}
	for _, ns := range []string{"default", "ns-a"} {
		meta := func(name string) framework.ObjectMeta {
			return framework.ObjectMeta{Name: name, Namespace: ns, UID: framework.UID(ns + name)}
		}
		if g.chance(50) {
			c.ReplicaSets = append(c.ReplicaSets, &framework.ReplicaSet{ObjectMeta: meta("rs"), Spec: framework.ReplicaSetSpec{Selector: g.labelSelector()}})
		}
		if g.chance(30) {
			c.StatefulSets = append(c.StatefulSets, &framework.StatefulSet{ObjectMeta: meta("ss"), Spec: framework.StatefulSetSpec{Selector: g.labelSelector()}})
		}
		if g.chance(30) {
			key, value := g.podLabel()
			c.ReplicationControllers = append(c.ReplicationControllers, &framework.ReplicationController{
				ObjectMeta: meta("rc"), Spec: framework.ReplicationControllerSpec{Selector: map[string]string{key: value}},
			})
		}
	}
}

// own gives the pod a controller, which may not exist.
func (g *generator) own(p *framework.Pod) {
	kind := pick(g.dice, "ReplicaSet", "ReplicaSet", "StatefulSet", "ReplicationController", "Job")
	ref := framework.OwnerReference{Kind: kind, APIVersion: "apps/v1", Controller: new(!g.chance(5))}
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
	ref.UID = framework.UID(p.Namespace + ref.Name)
	p.OwnerReferences = append(p.OwnerReferences, ref)
}

// chooseNeighbours gives the pod affinity or anti-affinity to pods.
func (g *generator) chooseNeighbours(p *framework.Pod) {
	a := affinity(p)
	if g.chance(55) {
		a.PodAffinity = &framework.PodAffinity{}
		if g.chance(45) {
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = g.terms()
		}
		if g.chance(60) {
			a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = g.weightedTerms()
		}
	}
	if g.chance(55) {
		a.PodAntiAffinity = &framework.PodAntiAffinity{}
		if g.chance(45) {
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = g.terms()
		}
		if g.chance(60) {
			a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = g.weightedTerms()
		}
	}
}

func (g *generator) terms() []framework.PodAffinityTerm {
	var list []framework.PodAffinityTerm
	for range pick(g.dice, 1, 1, 1, 2) {
		list = append(list, g.term())
	}
	return list
}

func (g *generator) weightedTerms() []framework.WeightedPodAffinityTerm {
	var list []framework.WeightedPodAffinityTerm
	for range pick(g.dice, 1, 1, 2, 3) {
		list = append(list, framework.WeightedPodAffinityTerm{Weight: int32(pick(g.dice, 1, 5, 33, 100)), PodAffinityTerm: g.term()})
	}
	return list
}

func (g *generator) term() framework.PodAffinityTerm {
	t := framework.PodAffinityTerm{TopologyKey: pick(g.dice, topologyKeys...), LabelSelector: g.labelSelector()}
	if g.chance(25) {
		t.Namespaces = some(g.dice, 2, "default", "ns-a", "ns-b", "ns-x")
	}
	if g.chance(25) {
		t.NamespaceSelector = pick(g.dice,
			&framework.LabelSelector{},
			&framework.LabelSelector{MatchLabels: map[string]string{"team": pick(g.dice, "a", "b", "core")}},
			&framework.LabelSelector{MatchExpressions: []framework.LabelSelectorRequirement{{Key: "env", Operator: framework.LabelSelectorOpExists}}},
		)
	}
	return t
}

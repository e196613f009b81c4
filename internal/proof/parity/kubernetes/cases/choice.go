package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// tolerations returns tolerations for some of the taints, some of them odd.
func (g *generator) tolerations() []api.Toleration {
	var list []api.Toleration
	for range g.between(1, 3) {
		t := api.Toleration{
			Key:      pick(g.dice, "dedicated", "dedicated", "gpu", "spot", "", api.TaintNodeUnschedulable),
			Operator: pick(g.dice, "", api.TolerationOpEqual, api.TolerationOpExists),
			Value:    pick(g.dice, "", "db", "web", "7"),
			Effect: pick(g.dice, "", "", api.TaintEffectNoSchedule, api.TaintEffectPreferNoSchedule,
				api.TaintEffectNoExecute),
		}
		if g.chance(12) {
			t.Operator = pick(g.dice, api.TolerationOpLt, api.TolerationOpGt, api.TolerationOpGt, "Odd")
			t.Value = pick(g.dice, "5", "7", "8", "-3", "07", "+7", "x", "", "9223372036854775808")
		}
		list = append(list, t)
	}
	return list
}

// chooseNodes gives the pod a node selector or node affinity.
func (g *generator) chooseNodes(p *api.Pod) {
	if g.chance(30) {
		p.Spec.NodeSelector = map[string]string{}
		for range g.between(1, 2) {
			key, value := g.nodeLabel()
			p.Spec.NodeSelector[key] = value
		}
	}
	if !g.chance(80) {
		return
	}
	a := &api.NodeAffinity{}
	if g.chance(60) {
		a.RequiredDuringSchedulingIgnoredDuringExecution = g.nodeSelector()
	}
	if g.chance(70) {
		for range g.between(1, 3) {
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
				api.PreferredSchedulingTerm{Weight: g.nodeWeight(), Preference: g.nodeTerm()})
		}
	}
	affinity(p).NodeAffinity = a
}

// nodeWeight returns the weight of a node preference, sometimes one that no API
// server admits. None is below 0: berth's scores never are, the original's would be.
func (g *generator) nodeWeight() int32 {
	if g.chance(4) {
		return pick[int32](g.dice, 0, 101, 1000, 2147483647)
	}
	return pick[int32](g.dice, 0, 1, 5, 10, 50, 100)
}

// podWeight returns the weight of a pod preference.
func (g *generator) podWeight() int32 {
	if g.chance(4) {
		return pick[int32](g.dice, 0, -1, -100, 101, 1000, 2147483647, -2147483647)
	}
	return pick[int32](g.dice, 1, 5, 33, 100)
}

func affinity(p *api.Pod) *api.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &api.Affinity{}
	}
	return p.Spec.Affinity
}

// nodeSelector returns a selector with a few terms. One of them may name nodes.
func (g *generator) nodeSelector() *api.NodeSelector {
	s := &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{}}
	for range pick(g.dice, 0, 1, 1, 1, 2, 3) {
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, g.nodeTerm())
	}
	return s
}

func (g *generator) nodeTerm() api.NodeSelectorTerm {
	var t api.NodeSelectorTerm
	if g.chance(12) {
		t.MatchFields = []api.NodeSelectorRequirement{{
			Key:      pick(g.dice, "metadata.name", "metadata.name", "metadata.name", "metadata.uid"),
			Operator: pick(g.dice, api.NodeSelectorOpIn, api.NodeSelectorOpIn, api.NodeSelectorOpNotIn, api.NodeSelectorOpExists),
			Values:   []string{pick(g.dice, g.someName(), g.someName(), "n77")},
		}}
		if g.chance(10) {
			t.MatchFields[0].Values = append(t.MatchFields[0].Values, "n1")
		}
	}
	for range pick(g.dice, 0, 1, 1, 1, 2) {
		t.MatchExpressions = append(t.MatchExpressions, g.nodeRequirement())
	}
	return t
}

// someName returns the name of a node that may exist: configurations have no nodes.
func (g *generator) someName() string { return fmt.Sprintf("n%d", g.IntN(12)) }

func (g *generator) nodeRequirement() api.NodeSelectorRequirement {
	key, value := g.nodeLabel()
	r := api.NodeSelectorRequirement{Key: key, Operator: pick(g.dice,
		api.NodeSelectorOpIn, api.NodeSelectorOpIn, api.NodeSelectorOpNotIn, api.NodeSelectorOpExists,
		api.NodeSelectorOpDoesNotExist, api.NodeSelectorOpGt, api.NodeSelectorOpLt)}
	switch r.Operator {
	case api.NodeSelectorOpIn, api.NodeSelectorOpNotIn:
		r.Values = []string{value}
		if g.chance(50) {
			_, more := g.nodeLabel()
			r.Values = append(r.Values, more)
		}
	case api.NodeSelectorOpGt, api.NodeSelectorOpLt:
		r.Key, r.Values = "num", []string{pick(g.dice, "0", "1", "5", "50", "-6", "x", "", "+5", "05", "1.5", "9223372036854775807", "9223372036854775808")}
	}
	switch g.IntN(100) {
	case 0, 1:
		r.Values = nil
	case 2:
		r.Operator = "Odd"
	case 3:
		r.Values = append(r.Values, "7") // too many for some operators
	case 4:
		r.Key = pick(g.dice, "", "not a key", "num")
	case 5:
		r.Values = []string{pick(g.dice, "", "not a value", "-")}
	}
	return r
}

// nodeLabel returns a label that some nodes have.
func (g *generator) nodeLabel() (key, value string) {
	switch g.IntN(6) {
	case 0:
		return api.LabelTopologyZone, pick(g.dice, "z0", "z1", "z2", "z9")
	case 1:
		return api.LabelHostname, g.someName()
	case 2:
		return "num", pick(g.dice, "", "0", "1", "10", "100", "-5", "x1")
	}
	l := labelsOfNodes[g.IntN(3)]
	return l.key, pick(g.dice, l.values...)
}

// labelSelector returns a selector over labels of pods. It may be nil or empty.
func (g *generator) labelSelector() *api.LabelSelector {
	switch {
	case g.chance(3):
		return nil
	case g.chance(3):
		return &api.LabelSelector{}
	}
	s := &api.LabelSelector{}
	if g.chance(65) {
		s.MatchLabels = map[string]string{}
		for range pick(g.dice, 1, 1, 2) {
			key, value := g.podLabel()
			s.MatchLabels[key] = value
		}
	}
	if s.MatchLabels == nil || g.chance(25) {
		s.MatchExpressions = append(s.MatchExpressions, g.podRequirement())
	}
	return s
}

func (g *generator) podRequirement() api.LabelSelectorRequirement {
	key, value := g.podLabel()
	r := api.LabelSelectorRequirement{Key: key, Operator: pick(g.dice,
		api.LabelSelectorOpIn, api.LabelSelectorOpIn, api.LabelSelectorOpNotIn, api.LabelSelectorOpExists,
		api.LabelSelectorOpDoesNotExist)}
	if r.Operator == api.LabelSelectorOpIn || r.Operator == api.LabelSelectorOpNotIn {
		_, more := g.podLabel()
		r.Values = []string{value, more}[:g.between(1, 2)]
	}
	switch g.IntN(200) {
	case 0:
		r.Operator = pick[api.LabelSelectorOperator](g.dice, "Gt", "Lt", "Odd", "")
	case 1:
		r.Values = pick(g.dice, nil, []string{""}, []string{"not a value"}, []string{"web", "web"})
	case 2:
		r.Key = pick(g.dice, "", "not a key", "a/b/c")
	}
	return r
}

func (g *generator) podLabel() (key, value string) {
	if g.chance(70) {
		return "app", pick(g.dice, "web", "db", "cache", "none")
	}
	return "tier", pick(g.dice, "front", "back")
}

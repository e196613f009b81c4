package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// tolerations for some of the taints, some of them odd.
func (g *generator) tolerations() []framework.Toleration {
	var list []framework.Toleration
	for range g.between(1, 3) {
		t := framework.Toleration{
			Key:      pick(g.dice, "dedicated", "dedicated", "gpu", "spot", "", framework.TaintNodeUnschedulable),
			Operator: pick(g.dice, "", framework.TolerationOpEqual, framework.TolerationOpExists),
			Value:    pick(g.dice, "", "db", "web", "7"),
			Effect: pick(g.dice, "", "", framework.TaintEffectNoSchedule, framework.TaintEffectPreferNoSchedule,
				framework.TaintEffectNoExecute),
		}
		if g.chance(12) {
			t.Operator = pick(g.dice, framework.TolerationOpLt, framework.TolerationOpGt, framework.TolerationOpGt, "Odd")
			t.Value = pick(g.dice, "5", "7", "8", "-3", "07", "+7", "x", "", "9223372036854775808")
		}
		list = append(list, t)
	}
	return list
}

// chooseNodes gives the pod a node selector or node affinity.
func (g *generator) chooseNodes(p *framework.Pod) {
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
	a := &framework.NodeAffinity{}
	if g.chance(60) {
		a.RequiredDuringSchedulingIgnoredDuringExecution = g.nodeSelector()
	}
	if g.chance(70) {
		for range g.between(1, 3) {
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
				framework.PreferredSchedulingTerm{Weight: g.nodeWeight(), Preference: g.nodeTerm()})
		}
	}
	affinity(p).NodeAffinity = a
}

// nodeWeight is one of a wish for nodes; sometimes it is one that no API server
// lets pass. None is below 0: berth's scores never are, the original's would be.
func (g *generator) nodeWeight() int32 {
	if g.chance(4) {
		return pick[int32](g.dice, 0, 101, 1000, 2147483647)
	}
	return pick[int32](g.dice, 0, 1, 5, 10, 50, 100)
}

// podWeight is one of a wish for pods.
func (g *generator) podWeight() int32 {
	if g.chance(4) {
		return pick[int32](g.dice, 0, -1, -100, 101, 1000, 2147483647, -2147483647)
	}
	return pick[int32](g.dice, 1, 5, 33, 100)
}

func affinity(p *framework.Pod) *framework.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &framework.Affinity{}
	}
	return p.Spec.Affinity
}

// nodeSelector has a few terms, one of which may name nodes.
func (g *generator) nodeSelector() *framework.NodeSelector {
	s := &framework.NodeSelector{NodeSelectorTerms: []framework.NodeSelectorTerm{}}
	for range pick(g.dice, 0, 1, 1, 1, 2, 3) {
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, g.nodeTerm())
	}
	return s
}

func (g *generator) nodeTerm() framework.NodeSelectorTerm {
	var t framework.NodeSelectorTerm
	if g.chance(12) {
		t.MatchFields = []framework.NodeSelectorRequirement{{
			Key:      pick(g.dice, "metadata.name", "metadata.name", "metadata.name", "metadata.uid"),
			Operator: pick(g.dice, framework.NodeSelectorOpIn, framework.NodeSelectorOpIn, framework.NodeSelectorOpNotIn, framework.NodeSelectorOpExists),
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

// someName is that of a node that may exist: configurations have no nodes.
func (g *generator) someName() string { return fmt.Sprintf("n%d", g.IntN(12)) }

func (g *generator) nodeRequirement() framework.NodeSelectorRequirement {
	key, value := g.nodeLabel()
	r := framework.NodeSelectorRequirement{Key: key, Operator: pick(g.dice,
		framework.NodeSelectorOpIn, framework.NodeSelectorOpIn, framework.NodeSelectorOpNotIn, framework.NodeSelectorOpExists,
		framework.NodeSelectorOpDoesNotExist, framework.NodeSelectorOpGt, framework.NodeSelectorOpLt)}
	switch r.Operator {
	case framework.NodeSelectorOpIn, framework.NodeSelectorOpNotIn:
		r.Values = []string{value}
		if g.chance(50) {
			_, more := g.nodeLabel()
			r.Values = append(r.Values, more)
		}
	case framework.NodeSelectorOpGt, framework.NodeSelectorOpLt:
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

// nodeLabel is a label that some nodes have.
func (g *generator) nodeLabel() (key, value string) {
	switch g.IntN(6) {
	case 0:
		return framework.LabelTopologyZone, pick(g.dice, "z0", "z1", "z2", "z9")
	case 1:
		return framework.LabelHostname, g.someName()
	case 2:
		return "num", pick(g.dice, "", "0", "1", "10", "100", "-5", "x1")
	}
	l := labelsOfNodes[g.IntN(3)]
	return l.key, pick(g.dice, l.values...)
}

// labelSelector is one over labels of pods; nil and empty ones among them.
func (g *generator) labelSelector() *framework.LabelSelector {
	switch {
	case g.chance(3):
		return nil
	case g.chance(3):
		return &framework.LabelSelector{}
	}
	s := &framework.LabelSelector{}
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

func (g *generator) podRequirement() framework.LabelSelectorRequirement {
	key, value := g.podLabel()
	r := framework.LabelSelectorRequirement{Key: key, Operator: pick(g.dice,
		framework.LabelSelectorOpIn, framework.LabelSelectorOpIn, framework.LabelSelectorOpNotIn, framework.LabelSelectorOpExists,
		framework.LabelSelectorOpDoesNotExist)}
	if r.Operator == framework.LabelSelectorOpIn || r.Operator == framework.LabelSelectorOpNotIn {
		_, more := g.podLabel()
		r.Values = []string{value, more}[:g.between(1, 2)]
	}
	switch g.IntN(200) {
	case 0:
		r.Operator = pick[framework.LabelSelectorOperator](g.dice, "Gt", "Lt", "Odd", "")
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

package filter_test

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
)

// TestSubjectsLeaveNobodyOut: if a hint about a pod on a node says that it may help, the pod is a
// subject of the waiting one, before or after, or had required anti-affinity terms.
func TestSubjectsLeaveNobodyOut(t *testing.T) {
	var hints []queueing.EventHint
	for _, plugin := range []queueing.EnqueueExtensions{filter.InterPodAffinity{}, filter.PodTopologySpread{}} {
		for _, h := range plugin.EventsToRegister() {
			if h.Event.Resource == queueing.ResourceAssignedPod {
				if h.Subjects == nil {
					t.Fatalf("%s: a hint about all pods on nodes has no subjects", plugin.Name())
				}
				hints = append(hints, h)
			}
		}
	}
	schema, helped, left := resource.NewSchema(), 0, 0
	dice := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		waiting, before, after := drawNeighbour(t, dice, schema), drawNeighbour(t, dice, schema), drawNeighbour(t, dice, schema)
		objects := []any{before, after}
		switch dice.IntN(3) {
		case 0:
			objects[0], before = nil, nil
		case 1:
			objects[1], after = nil, nil
		default:
			after.Pod.Namespace = before.Pod.Namespace
		}
		for _, h := range hints {
			said, err := h.Hint(waiting, objects[0], objects[1])
			if err != nil {
				t.Fatal(err)
			}
			subject := before != nil && before.Pod.Spec.Affinity.PodAntiAffinity != nil || isSubject(h.Subjects(waiting), before) || isSubject(h.Subjects(waiting), after)
			switch {
			case said == queueing.Queue && !subject:
				t.Fatalf("the hint says yes, and the subjects are %+v", h.Subjects(waiting))
			case said == queueing.Queue:
				helped++
			case !subject:
				left++
			}
		}
	}
	if helped < 1000 || left < 1000 {
		t.Errorf("%d events help, %d are about others: too few to tell", helped, left)
	}
}

func isSubject(list []queueing.Subject, p *framework.PodInfo) bool {
	for _, s := range list {
		if p == nil {
			continue
		}
		value, has := p.Pod.Labels[s.Key]
		if (s.Namespace == "" || s.Namespace == p.Pod.Namespace) && (s.Key == "" || has && (s.AnyValue || s.Value == value)) {
			return true
		}
	}
	return false
}

func oneOf[T any](dice *rand.Rand, list ...T) T { return list[dice.IntN(len(list))] }

// drawNeighbour draws a pod with a few labels, terms and constraints.
func drawNeighbour(t *testing.T, dice *rand.Rand, schema *resource.Schema) *framework.PodInfo {
	t.Helper()
	few := func(most int) int { return dice.IntN(most + 1) }
	p := api.MakePod("p").Namespace(oneOf(dice, "a", "b")).Obj()
	p.Labels = map[string]string{}
	for _, key := range []string{"x", "y"} {
		if value := oneOf(dice, "", "1", "2"); value != "" {
			p.Labels[key] = value
		}
	}
	selector := func() *api.LabelSelector {
		s := &api.LabelSelector{}
		for range few(2) {
			r := api.LabelSelectorRequirement{Key: oneOf(dice, "x", "y"), Operator: oneOf(dice, api.LabelSelectorOpIn, api.LabelSelectorOpNotIn, api.LabelSelectorOpExists, api.LabelSelectorOpDoesNotExist)}
			if r.Operator == api.LabelSelectorOpIn || r.Operator == api.LabelSelectorOpNotIn {
				r.Values = oneOf(dice, []string{"1"}, []string{"2"}, []string{"1", "2"})
			}
			s.MatchExpressions = append(s.MatchExpressions, r)
		}
		return s
	}
	terms := func() (list []api.PodAffinityTerm) {
		for range few(2) {
			term := api.PodAffinityTerm{TopologyKey: "zone", LabelSelector: selector()}
			switch few(2) {
			case 1:
				term.Namespaces = oneOf(dice, []string{"a"}, []string{"b"}, []string{"a", "b"})
			case 2:
				term.NamespaceSelector = &api.LabelSelector{}
			}
			list = append(list, term)
		}
		return list
	}
	p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms()}}
	if anti := terms(); len(anti) > 0 {
		p.Spec.Affinity.PodAntiAffinity = &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: anti}
	}
	for range few(1) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, api.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: selector()})
	}
	info, err := framework.NewPodInfo(p, schema)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

package lifecycle_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/preemption"
)

type badScorer struct{}

func (badScorer) Name() string                         { return "badScorer" }
func (badScorer) ScorePlacement(groups.Proposal) int64 { panic("oh") }

// TestAttackGroupScorerPanicsInDriver: a placement scorer that panics fails the attempt
// of the group; the driver goes on.
func TestAttackGroupScorerPanicsInDriver(t *testing.T) {
	w := newGroupWorld(t, groups.Rules{Scores: []groups.WeightedScore{{Scorer: badScorer{}}}})
	w.nodes(api.MakeNode("n1", "4", "8Gi").Labels("rack", "a"), api.MakeNode("n2", "4", "8Gi").Labels("rack", "b"))
	g := podGroup("g", 1, 0)
	g.Spec.SchedulingConstraints = &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: "rack"}}}
	w.d.Apply(lifecycle.Update(g))
	w.apply(groupPod("p", "g", "1", 0))
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("ScheduleOne panics: %v", v)
		}
	}()
	w.all()
	t.Log(w.problems, w.bound)
}

// TestAttackPreemptionHooksPanicWithGroups: hooks of DefaultPreemption panic while a group
// preempts.
func TestAttackPreemptionHooksPanicWithGroups(t *testing.T) {
	for _, hook := range []string{"Eligible", "MoreImportant", "Criteria"} {
		for _, kind := range []string{"group", "pod"} {
			t.Run(hook+"/"+kind, func(t *testing.T) {
				pre := preemption.DefaultPreemption{}
				switch hook {
				case "Eligible":
					pre.Eligible = func(a, b *framework.PodInfo) bool { panic("oh") }
				case "MoreImportant":
					pre.MoreImportant = func(a, b *framework.PodInfo) int { panic("oh") }
				case "Criteria":
					pre.Criteria = []preemption.Criterion{func(*preemption.Candidate) int64 { panic("oh") }}
				}
				profile := scheduling.Kubernetes137()
				profile.PostFilter = []framework.Plugin{pre}
				w := &groupWorld{world: newWorld(t, profile)}
				rules := groups.Rules{}
				c := lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &rules, Binder: w, Clock: w.clock}
				c.ErrorHandler = func(err error) { w.problems = append(w.problems, err.Error()) }
				d, err := lifecycle.New(c)
				if err != nil {
					t.Fatal(err)
				}
				w.d, w.confirm = d, true
				w.nodes(api.MakeNode("n1", "4", "8Gi"), api.MakeNode("n2", "4", "8Gi"))
				for _, n := range []string{"a", "b", "c", "d"} {
					w.pods(api.MakePod(n).Requests("2", "1Gi"))
				}
				w.all()
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("ScheduleOne panics: %v", v)
					}
				}()
				if kind == "group" {
					w.d.Apply(lifecycle.Update(podGroup("g", 2, 5)))
					w.apply(groupPod("p", "g", "2", 5), groupPod("q", "g", "2", 5))
				} else {
					w.pods(api.MakePod("p").Priority(5).Requests("2", "1Gi"))
				}
				w.all()
				t.Log(w.problems, w.conditions, len(w.bound))
				if n := len(w.on("n1")) + len(w.on("n2")); n != 4 {
					t.Errorf("%d pods on the nodes", n)
				}
			})
		}
	}
}

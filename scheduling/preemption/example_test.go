package preemption_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// full is a cluster of two nodes without room.
func full() *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []string{"n1", "n2"} {
		if err := s.AddNode(api.MakeNode(n, "2", "8Gi").Obj()); err != nil {
			panic(err)
		}
	}
	batch := api.MakePod("batch").Requests("1", "1Gi").Priority(-10)
	web := api.MakePod("web").Requests("1", "1Gi").Priority(100)
	for _, p := range []api.PodBuilder{batch.Name("batch-1").Node("n1"), web.Name("web-1").Node("n1"), web.Name("web-2").Node("n2"), web.Name("web-3").Node("n2")} {
		info, err := s.NewPodInfo(p.Obj())
		if err != nil {
			panic(err)
		}
		if err := s.AddPod(info, info.Pod.Spec.NodeName); err != nil {
			panic(err)
		}
	}
	return s
}

// The driver removes the victims, and then the pod fits.
func ExampleDefaultPreemption() {
	s := full()
	sched, err := scheduling.New(scheduling.Profile{
		Filter:     []framework.Plugin{filter.NodeResourcesFit{}},
		PostFilter: []framework.Plugin{preemption.DefaultPreemption{}},
	})
	if err != nil {
		panic(err)
	}
	pod, err := s.NewPodInfo(api.MakePod("urgent").Requests("1", "1Gi").Priority(1000).Obj())
	if err != nil {
		panic(err)
	}

	d, err := sched.Place(s, pod)
	var fit *scheduling.FitError
	if errors.As(err, &fit) {
		found, _, status, err := sched.PostFilter(context.Background(), s, pod, d)
		if err != nil {
			panic(err)
		}
		fmt.Println(status.Message())
		for _, v := range found.Victims {
			fmt.Println("remove", v.Pod.Pod.Name)
			if err := s.RemovePod(v.Pod, found.Nominated); err != nil {
				panic(err)
			}
		}
	}
	d, err = sched.Place(s, pod)
	fmt.Println(d.Node, err)
	// Output:
	// preemption: found a potential placement for pod on node n1, preempting 1 victims
	// remove batch-1
	// n1 <nil>
}

// report is a custom PostFilter plugin that only reports what preemption could do.
type report struct{ preemption.DefaultPreemption }

func (r report) PostFilter(_ context.Context, c *framework.Cycle, v framework.Verdicts) (framework.PostFiltered, framework.Status) {
	candidates, failed := r.DryRun(c, v)
	for _, c := range candidates {
		fmt.Println(c.Node, "would lose", len(c.Victims), "pods, of which protected:", c.Violations)
	}
	for node, status := range failed {
		fmt.Println(node, status)
	}
	fmt.Println("best:", preemption.Choose(candidates, preemption.Criteria()).Node)
	return framework.PostFiltered{}, framework.UnschedulableStatus("only looking")
}

func ExampleDefaultPreemption_DryRun() {
	s := full()
	budget := &api.PodDisruptionBudget{
		ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "all"},
		Spec: api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{
			MatchExpressions: []api.LabelSelectorRequirement{{Key: "app", Operator: api.LabelSelectorOpExists}},
		}},
	}
	if err := framework.Put(s, budget); err != nil {
		panic(err)
	}
	sched, err := scheduling.New(scheduling.Profile{
		Filter:     []framework.Plugin{filter.NodeResourcesFit{}},
		PostFilter: []framework.Plugin{report{}},
	})
	if err != nil {
		panic(err)
	}
	pod, err := s.NewPodInfo(api.MakePod("urgent").Requests("2", "1Gi").Priority(1000).Obj())
	if err != nil {
		panic(err)
	}
	d, _ := sched.Schedule(s, pod)
	_, _, status, err := sched.PostFilter(context.Background(), s, pod, d)
	fmt.Println(status, err)
	// Output:
	// n1 would lose 2 pods, of which protected: 0
	// n2 would lose 2 pods, of which protected: 0
	// best: n1
	// Unschedulable: only looking <nil>
}

// Criteria can be your own: this one keeps the most pods.
func ExampleCriterion() {
	fewest := preemption.DefaultPreemption{Criteria: []preemption.Criterion{preemption.FewestVictims, preemption.LowestPriority}}
	fmt.Println(fewest.Name(), len(preemption.Criteria()), len(fewest.Criteria))
	// Output: DefaultPreemption 5 2
}

func ExampleChoose() {
	s := framework.NewSnapshot(framework.Arrival)
	victim := func(priority int32) framework.Victim {
		info, err := s.NewPodInfo(api.MakePod("p").Priority(priority).Obj())
		if err != nil {
			panic(err)
		}
		return framework.Victim{Pod: info}
	}
	candidates := []*preemption.Candidate{
		{Node: "n1", Victims: []framework.Victim{victim(5)}},
		{Node: "n2", Victims: []framework.Victim{victim(3), victim(3)}},
	}
	fmt.Println(preemption.Choose(candidates, preemption.Criteria()).Node, "has the lower first victim")
	fmt.Println(preemption.Choose(candidates, []preemption.Criterion{preemption.FewestVictims}).Node, "has fewer victims")
	// Output:
	// n2 has the lower first victim
	// n1 has fewer victims
}

func ExampleMoreImportant() {
	s := framework.NewSnapshot(framework.Arrival)
	info := func(p api.PodBuilder) *framework.PodInfo {
		i, err := s.NewPodInfo(p.Obj())
		if err != nil {
			panic(err)
		}
		return i
	}
	old, young := info(api.MakePod("old").Started(at(0))), info(api.MakePod("young").Started(at(60)))
	fmt.Println(preemption.MoreImportant(old, young) < 0)
	// Output: true
}

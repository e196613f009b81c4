package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestCountsInUseAreKept: preemption tries nodes whose pods count in all counters of the pod. These
// stay until the last node has been tried, the only one on which the pod fits.
func TestCountsInUseAreKept(t *testing.T) {
	const terms, nodes, pods = 64, 100, 50
	var spread, apart api.Pod
	for i := range terms {
		all := &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: "x", Operator: api.LabelSelectorOpNotIn, Values: []string{fmt.Sprint(i)}}}}
		spread.Spec.TopologySpreadConstraints = append(spread.Spec.TopologySpreadConstraints, api.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: all,
		})
		if i == 0 {
			apart.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{}}
		}
		list := &apart.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, api.PodAffinityTerm{TopologyKey: api.LabelTopologyZone, LabelSelector: all})
	}
	for name, like := range map[string]*api.Pod{"spread": &spread, "apart": &apart} {
		t.Run(name, func(t *testing.T) {
			sched, err := scheduling.New(scheduling.Kubernetes137())
			if err != nil {
				t.Fatal(err)
			}
			s := framework.NewSnapshot(framework.Arrival)
			for i := range nodes {
				node, zone := fmt.Sprint("n", i), "crowded"
				if i == nodes/2 {
					zone = "single"
				}
				if err := s.AddNode(api.MakeNode(node, "50", "100Gi").Zone(zone).Obj()); err != nil {
					t.Fatal(err)
				}
				for k := range pods {
					p, err := s.NewPodInfo(api.MakePod(fmt.Sprint(node, "-", k)).Requests("1", "1Mi").Obj())
					if err := errors.Join(err, s.AddPod(p, node)); err != nil {
						t.Fatal(err)
					}
				}
			}
			urgent := api.MakePod("urgent").Requests("50", "1Mi").Priority(10).Obj()
			urgent.Spec.TopologySpreadConstraints, urgent.Spec.Affinity = like.Spec.TopologySpreadConstraints, like.Spec.Affinity
			p, err := s.NewPodInfo(urgent)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				d, err := sched.Schedule(s, p)
				if err == nil {
					t.Fatalf("the pod fits on %s", d.Node)
				}
				result, _, status, err := sched.PostFilter(context.Background(), s, p, d)
				if want := fmt.Sprint("n", nodes/2); err != nil || result.Nominated != want || len(result.Victims) != pods {
					t.Fatalf("nominated to %q for %d victims, want %s and %d: %v, %v", result.Nominated, len(result.Victims), want, pods, status, err)
				}
			}
		})
	}
}

package filter_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/replica"
)

// withMore is a filter that can tell how pods would change its verdict if they were there.
type withMore interface {
	FilterWith(pod *framework.PodInfo, node *framework.NodeInfo, added []*framework.PodInfo) (framework.Status, bool)
}

// TestReplicaSpreadIsKept: what a filter says, also of replicas, stays right, however many other pods are asked
// about before it is used.
func TestReplicaSpreadIsKept(t *testing.T) {
	const zone = api.LabelTopologyZone
	alike := func(app string) *api.LabelSelector {
		return &api.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	for _, tt := range []struct {
		name   string
		filter framework.PreFilterPlugin
		pod    func(app string) *api.Pod
	}{
		{"spread", filter.PodTopologySpread{}, func(app string) *api.Pod {
			return api.MakePod("new").Labels("app", app).SpreadConstraint(api.TopologySpreadConstraint{
				MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: alike(app),
			}).Obj()
		}},
		{"anti-affinity", filter.InterPodAffinity{}, func(app string) *api.Pod {
			pod := api.MakePod("new").Labels("app", app).Obj()
			pod.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{
				{TopologyKey: zone, LabelSelector: alike("nobody")}, {TopologyKey: zone, LabelSelector: alike(app)},
			}}}
			return pod
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := framework.NewSnapshot(framework.Arrival)
			for _, n := range []string{"a", "b"} {
				if err := s.AddNode(api.MakeNode(n, "4", "4Gi").Labels(zone, n).Obj()); err != nil {
					t.Fatal(err)
				}
			}
			info := func(p *api.Pod) *framework.PodInfo {
				i, err := s.NewPodInfo(p)
				if err != nil {
					t.Fatal(err)
				}
				return i
			}
			if err := s.AddPod(info(api.MakePod("old").Labels("app", "web").Obj()), "a"); err != nil {
				t.Fatal(err)
			}
			bind := func(p *framework.PodInfo) framework.NodeFilter {
				var c framework.Cycle
				c.Reset(p, s, 0, 0)
				bound, status := tt.filter.PreFilter(&c)
				if !status.IsSuccess() {
					t.Fatal(status)
				}
				return bound.Filter
			}
			others := func() { // more than the counts are kept for without being asked for
				for i := range 12_000 {
					bind(info(tt.pod(fmt.Sprint("app", i%100))))
				}
			}
			web := info(tt.pod("web"))
			kept, ok := bind(web).(replica.Spreader).ReplicaSpread(web)
			if !ok || len(kept.Rules) != 1 {
				t.Fatalf("%d rules, known: %t; want one", len(kept.Rules), ok)
			}
			others()
			if got := kept.Rules[0].Place(s.Node("a")); got.Pods != 1 || !got.Counts {
				t.Errorf("node a is %+v, want one pod", got)
			}
			others()
			for name, pods := range map[string]int64{"a": 1, "b": 0} {
				if status := kept.Filter(s.Node(name), []replica.Count{{Pods: pods}}); status.IsSuccess() != (pods == 0) {
					t.Errorf("node %s with %d pods: %v", name, pods, status)
				}
			}
			leaves := api.MakePod("leaves").Labels("app", "web").Obj()
			leaves.DeletionTimestamp = new(time.Unix(1, 0))
			leaving := info(leaves)
			if err := s.AddPod(leaving, "b"); err != nil {
				t.Fatal(err)
			}
			for what, ask := range map[string]func(f framework.NodeFilter) any{
				"details": func(f framework.NodeFilter) any { return f.(framework.Detailer).Details(web, s.Node("a")) },
				"with more pods": func(f framework.NodeFilter) any {
					status, ok := f.(withMore).FilterWith(web, s.Node("b"), []*framework.PodInfo{web})
					return fmt.Sprint(status, ok)
				},
				"replicas": func(f framework.NodeFilter) any {
					spread, ok := f.(replica.Spreader).ReplicaSpread(web)
					return fmt.Sprint(len(spread.Rules), ok)
				},
				"a pod that leaves": func(f framework.NodeFilter) any {
					var c framework.Cycle
					c.Reset(web, s, 0, 0)
					removed := f.(framework.FilterUpdater).RemovePod(&c, leaving, s.Node("b"))
					return fmt.Sprint(removed, f.Filter(web, s.Node("b")))
				},
			} {
				held := bind(web)
				others()
				if got, want := ask(held), ask(bind(web)); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %v, want %v", what, got, want)
				}
			}
		})
	}
}

package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestSpreadWhatIfTerminating adds a terminating pod temporarily. kube-scheduler
// counts such a pod then, though not otherwise, but only on nodes that count, and
// also in the minimum over domains.
func TestSpreadWhatIfTerminating(t *testing.T) {
	const zone = api.LabelTopologyZone
	tests := []struct {
		name  string
		nodes [][]string // the name of each, and its labels
		keys  []string
		added string // the node that the pod is added to
		want  bool   // that node a passes
	}{
		{"the only domain", [][]string{{"a", zone, "y"}}, []string{zone}, "a", true},
		{"one of two domains", [][]string{{"a", zone, "y"}, {"b", zone, "z"}}, []string{zone}, "a", false},
		{"the other of two domains", [][]string{{"a", zone, "y"}, {"b", zone, "z"}}, []string{zone}, "b", true},
		{
			"a node that does not count",
			[][]string{{"a", zone, "y", "rack", "1"}, {"b", zone, "y"}, {"c", zone, "z", "rack", "2"}},
			[]string{zone, "rack"},
			"b", true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := framework.NewSnapshot(framework.Arrival)
			for _, n := range tt.nodes {
				if err := s.AddNode(api.MakeNode(n[0], "4", "4Gi").Labels(n[1:]...).Obj()); err != nil {
					t.Fatal(err)
				}
			}
			pod := api.MakePod("new").Labels("app", "web").Obj()
			for _, key := range tt.keys {
				pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, api.TopologySpreadConstraint{
					MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: api.DoNotSchedule,
					LabelSelector: &api.LabelSelector{MatchLabels: pod.Labels},
				})
			}
			leaving := api.MakePod("leaving").Labels("app", "web").Obj()
			leaving.DeletionTimestamp = new(s.Now())
			p, err := s.NewPodInfo(pod)
			if err != nil {
				t.Fatal(err)
			}
			q, err := s.NewPodInfo(leaving)
			if err != nil {
				t.Fatal(err)
			}
			var c framework.Cycle
			c.Reset(p, s, 0, 0)
			bound, status := filter.PodTopologySpread{}.PreFilter(&c)
			if !status.IsSuccess() {
				t.Fatal(status)
			}
			if err := s.AddPod(q, tt.added); err != nil {
				t.Fatal(err)
			}
			f := bound.Filter.(framework.FilterUpdater)
			if status := f.AddPod(&c, q, s.Node(tt.added)); !status.IsSuccess() {
				t.Fatal(status)
			}
			if status := bound.Filter.Filter(p, s.Node("a")); status.IsSuccess() != tt.want {
				t.Errorf("Filter(a) = %v, want success = %t", status, tt.want)
			}
		})
	}
}

//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// selecting puts a service that selects pods by one label into the snapshot.
func selecting(t *testing.T, s *framework.Snapshot, name, key, value string) {
	t.Helper()
	service := &api.Service{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
	service.Spec.Selector = map[string]string{key: value}
	if err := framework.Put(s, service); err != nil {
		t.Fatal(err)
	}
}

// TestServiceChangesBack lets a service select other pods, and then the earlier ones
// again. Meanwhile the counts for these have changed or not, and the version of
// their counts is no newer than that of the other pods.
func TestServiceChangesBack(t *testing.T) {
	hard := func(p *scheduling.Profile, key string) {
		for i := range p.Filter {
			if _, ok := p.Filter[i].(filter.PodTopologySpread); ok {
				p.Filter[i] = filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
					{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: api.DoNotSchedule},
				}}
			}
		}
	}
	for _, tt := range []struct {
		name  string
		nodes int
		adapt func(*scheduling.Profile)
	}{
		{"scores", 2, func(*scheduling.Profile) {}},
		{"scores of many nodes", 80, func(*scheduling.Profile) {}},
		{"filter by zone", 2, func(p *scheduling.Profile) { hard(p, api.LabelTopologyZone) }},
		{"filter by host", 80, func(p *scheduling.Profile) { hard(p, api.LabelHostname) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := framework.NewSnapshot(framework.ZoneInterleaved)
			for i := range tt.nodes {
				zone := fmt.Sprint("z", i%2)
				if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "64Gi").Zone(zone).Obj()); err != nil {
					t.Fatal(err)
				}
			}
			pod := func(name string, labels ...string) *framework.PodInfo {
				info, err := s.NewPodInfo(api.MakePod(name).Labels(labels...).Obj())
				if err != nil {
					t.Fatal(err)
				}
				return info
			}
			for i := range 3 {
				if err := s.AddPod(pod(fmt.Sprint("front", i), "tier", "front"), "n0"); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.AddPod(pod("web", "app", "web"), "n1"); err != nil {
				t.Fatal(err)
			}
			profile := scheduling.Kubernetes137()
			profile.Cache.Verify = true
			tt.adapt(&profile)
			sched, err := scheduling.New(profile)
			if err != nil {
				t.Fatal(err)
			}
			// Every second round the counts change, for one selection or for both.
			for round := range 12 {
				if round%2 == 0 {
					selecting(t, s, "service", "tier", "front")
				} else {
					selecting(t, s, "service", "app", "web")
				}
				if _, err := sched.Schedule(s, pod("new", "app", "web", "tier", "front")); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				switch round {
				case 1: // no counter changes, but all answers are renewed
					n := *s.Node("n1").Node
					n.Labels = map[string]string{api.LabelHostname: "n1", api.LabelTopologyZone: "z3"}
					if err := s.UpdateNode(&n); err != nil {
						t.Fatal(err)
					}
				case 4, 5, 8:
					label := [][]string{{"tier", "front"}, {"app", "web"}, {"app", "web", "tier", "front"}}[round%3]
					if err := s.AddPod(pod(fmt.Sprint("late", round), label...), "n1"); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// TestServicesComeAndGo is like TestServiceChangesBack, but places the pods: their
// counts have newer versions than those of earlier pods.
func TestServicesComeAndGo(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for i := range 80 {
		if err := s.AddNode(api.MakeNode(fmt.Sprintf("n%02d", i), "64", "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	profile := scheduling.Profile{
		Filter: []framework.Plugin{filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: api.LabelHostname, WhenUnsatisfiable: api.DoNotSchedule},
		}}},
		Cache: scheduling.CacheConfig{Verify: true},
	}
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	selecting(t, s, "front", "tier", "front")
	for i := range 120 {
		switch i % 4 {
		case 1:
			selecting(t, s, "web", "app", "web")
		case 3:
			selecting(t, s, "web", "app", "other")
		}
		b := api.MakePod(fmt.Sprint(i)).Labels("tier", "front")
		if i%3 != 0 {
			b = b.Labels("app", "web")
		}
		p, err := s.NewPodInfo(b.Obj())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sched.Place(s, p); err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
	}
}

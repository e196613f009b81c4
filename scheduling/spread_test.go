package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// TestSpreadOfMaxSkewZero: a raw score of -1 is the worst, on both paths.
func TestSpreadOfMaxSkewZero(t *testing.T) {
	web := api.MakePod("web").Labels("app", "web")
	for _, key := range []string{api.LabelHostname, api.LabelTopologyZone} {
		for _, path := range []struct {
			name  string
			cache scheduling.CacheConfig
		}{{"reference", scheduling.CacheConfig{Off: true}}, {"incremental", scheduling.CacheConfig{}}, {"both", scheduling.CacheConfig{Verify: true}}} {
			t.Run(key+", "+path.name, func(t *testing.T) {
				s := framework.NewSnapshot(framework.Arrival)
				for _, name := range []string{"empty", "used"} {
					if err := s.AddNode(api.MakeNode(name, "4", "8Gi").Zone("zone-" + name).Obj()); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.AddPod(podInfo(t, s, web.Name("old").Obj()), "used"); err != nil {
					t.Fatal(err)
				}
				sched, err := scheduling.New(scheduling.Profile{
					Score:   []scheduling.Weighted{{Plugin: scoring.PodTopologySpread{}, Weight: 1}},
					TieRule: scheduling.First, Cache: path.cache,
				})
				if err != nil {
					t.Fatal(err)
				}
				d, err := sched.Schedule(s, podInfo(t, s, web.Spread(0, key, api.ScheduleAnyway, "app=web").Obj()))
				if err != nil {
					t.Fatal(err)
				}
				if d.Node != "used" || d.Score != 100 {
					t.Errorf("Schedule = %s with %d, want used with 100", d.Node, d.Score)
				}
			})
		}
	}
}

// TestManySpreads: six classes, which differ only in the topology that they spread over,
// take turns. They share what is kept of each node, but each divides the nodes otherwise.
func TestManySpreads(t *testing.T) {
	const nodes, keys, domains, rounds = 60, 6, 3, 20
	s := build(t, scheduling.Profile{
		Filter:  []framework.Plugin{filter.NodeResourcesFit{}},
		Score:   []scheduling.Weighted{{Plugin: scoring.PodTopologySpread{}, Weight: 2}},
		TieRule: scheduling.First, Cache: scheduling.CacheConfig{Verify: true},
	})
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range nodes {
		n := api.MakeNode(fmt.Sprint("n", i), "64", "64Gi")
		for k := range keys {
			n = n.Labels(fmt.Sprint("part-", k), fmt.Sprint(i/(k+1)%domains))
		}
		if err := snap.AddNode(n.Obj()); err != nil {
			t.Fatal(err)
		}
	}
	for round := range rounds {
		for k := range keys {
			app := fmt.Sprint("app-", k)
			p := api.MakePod(fmt.Sprint(app, "-", round)).Labels("app", app).Requests("100m", "128Mi").
				Spread(1, fmt.Sprint("part-", k), api.ScheduleAnyway, "app="+app).Obj()
			if _, err := s.Place(snap, podInfo(t, snap, p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if stats := s.Stats(); stats.Hits < keys*rounds/2 {
		t.Errorf("%d decisions from kept answers, want at least %d: %+v", stats.Hits, keys*rounds/2, stats)
	}
}

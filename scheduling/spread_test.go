package scheduling_test

import (
	"testing"

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

package scheduling_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// TestScoresExpire: nodes are scored by metrics that expire after three minutes, and no
// filter reads the time. n0 is used least and its metric expires first, then that of n1,
// and so on.
func TestScoresExpire(t *testing.T) {
	const nodes = 6
	start := time.Unix(1_700_000_000, 0)
	for _, test := range []struct {
		name  string
		early bool // metrics are there before the first decision
	}{{"known when the nodes are scored first", true}, {"all come at once", false}} {
		for _, verify := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, verify %t", test.name, verify), func(t *testing.T) {
				s := build(t, scheduling.Profile{
					Score:   []scheduling.Weighted{{Plugin: scoring.LoadAware{}, Weight: 1}},
					TieRule: scheduling.First, Cache: scheduling.CacheConfig{Verify: verify},
				})
				snap := framework.NewSnapshot(framework.Arrival)
				snap.SetNow(start)
				ledger := estimator.LedgerOf(snap)
				for i := range nodes {
					if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "10", "10Gi").Obj()); err != nil {
						t.Fatal(err)
					}
				}
				measureAll := func() {
					for i := range nodes {
						m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("n", i)}}
						m.Status.UpdateTime = new(start.Add(time.Duration(i) * time.Minute))
						m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{
							resource.CPU: resource.Milli(int64(1000 + 500*i)), resource.Memory: resource.New(1<<30, resource.BinarySI),
						})}
						if err := ledger.SetMetric(m); err != nil {
							t.Fatal(err)
						}
					}
				}
				serial := 0
				decide := func(want string) {
					t.Helper()
					serial++
					d, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Requests("1", "1Gi").Obj()))
					if err != nil {
						t.Fatal(err)
					}
					if d.Node != want {
						t.Errorf("%s after the start: Schedule = %s with %d, want %s", snap.Now().Sub(start), d.Node, d.Score, want)
					}
				}
				if test.early {
					measureAll()
				}
				for range 4 { // then answers are kept
					decide("n0")
				}
				if !test.early {
					measureAll()
					decide("n0")
				}
				for i := 1; i < nodes; i++ {
					snap.SetNow(start.Add(time.Duration(i+2)*time.Minute + time.Second))
					decide(fmt.Sprint("n", i))
				}
				if stats := s.Stats(); stats.Hits < nodes {
					t.Errorf("%d decisions were made from kept answers, want at least %d: %+v", stats.Hits, nodes, stats)
				}
			})
		}
	}
}

package loadaware_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// TestAllocations: a decision for a known class, after a node has changed, allocates
// no memory. From 1.8 on, a metric allocates none either. Nor does an assignment,
// unless the node has more pods than ever before.
func TestAllocations(t *testing.T) {
	for _, rules := range []estimator.Rules{estimator.Koordinator18, estimator.Koordinator14} {
		t.Run(string(rules), func(t *testing.T) {
			load, err := estimator.NewLoad(estimator.LoadConfig{Rules: rules})
			if err != nil {
				t.Fatal(err)
			}
			scheduler, err := scheduling.New(scheduling.Profile{
				Filter:  []framework.Plugin{filter.NodeResourcesFit{}, filter.LoadAware{Load: load}},
				Score:   []scheduling.Weighted{{Plugin: scoring.LoadAware{Load: load}}},
				Reserve: []framework.Plugin{estimator.Assigner{}},
			})
			if err != nil {
				t.Fatal(err)
			}
			s := measuredCluster(t, 20, 5)
			pods := make([]*framework.PodInfo, 100)
			for i := range pods {
				if pods[i], err = s.NewPodInfo(api.MakePod(fmt.Sprint("new-", i)).Requests("100m", "128Mi").Obj()); err != nil {
					t.Fatal(err)
				}
				load.Pod(pods[i])
				pods[i].ClassKey(framework.FieldsAll)
			}
			// All come and go once, so that the ledger has room for them.
			nodes := make([]string, len(pods))
			for range 2 {
				for i, p := range pods {
					d, err := scheduler.Place(s, p)
					if err != nil {
						t.Fatal(err)
					}
					nodes[i] = d.Node
				}
				for i, p := range pods {
					if err := scheduler.Release(s, p, nodes[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			i := 0
			if n := testing.AllocsPerRun(len(pods)-1, func() {
				s.Touch(s.At(i % s.Len()))
				if _, err := scheduler.Schedule(s, pods[i]); err != nil {
					t.Fatal(err)
				}
				i++
			}); n > 0 {
				t.Errorf("a decision allocates %v times, want 0", n)
			}
			if rules != estimator.Koordinator18 {
				return
			}
			i = 0
			if n := testing.AllocsPerRun(len(pods)-1, func() {
				d, err := scheduler.Schedule(s, pods[i])
				if err == nil {
					err = scheduler.Assume(s, pods[i], d)
				}
				if err != nil {
					t.Fatal(err)
				}
				i++
			}); n > 0 {
				t.Errorf("a decision and an assignment allocate %v times, want 0", n)
			}

			ledger := estimator.LedgerOf(s)
			metric := *ledger.Metric(s.At(0))
			metric.Status.UpdateTime = new(metric.Status.UpdateTime.Add(time.Minute))
			if n := testing.AllocsPerRun(10, func() {
				if err := ledger.SetMetric(&metric); err != nil {
					t.Fatal(err)
				}
			}); n > 0 {
				t.Errorf("a metric allocates %v times, want 0", n)
			}
		})
	}
}

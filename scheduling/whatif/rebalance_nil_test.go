package whatif_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// A metric that was made in Go may have nil among its reports of pods: it says nothing.
func TestRebalanceWithoutReport(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.SetNow(at)
	m := &api.NodeMetric{}
	m.Name = "n"
	m.Status = api.NodeMetricStatus{UpdateTime: &at, NodeMetric: &api.NodeMetricInfo{}, PodsMetric: []*api.PodMetricInfo{nil}}
	if err := framework.Put(s, m); err != nil {
		t.Fatal(err)
	}
	p, err := whatif.New(scheduling.Kubernetes137(), s)
	if err != nil {
		t.Fatal(err)
	}
	limits := map[resource.Name]float64{resource.CPU: 40}
	got, err := p.Rebalance(whatif.RebalanceConfig{Low: limits, High: map[resource.Name]float64{resource.CPU: 60}})
	if err != nil || len(got.Moves) > 0 {
		t.Errorf("Rebalance = %+v, %v, want no moves", got, err)
	}
}

package lifecycle_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scoring"
)

// touchy is an estimator that panics for pods with a label.
type touchy struct{ node bool }

func (touchy) EstimatePod(p *api.Pod) (map[resource.Name]int64, error) {
	if p.Labels["bad"] != "" {
		panic("touchy")
	}
	return map[resource.Name]int64{resource.CPU: 100}, nil
}

func (t touchy) EstimateNode(n *api.Node) (resource.List, error) {
	if t.node {
		panic("touchy")
	}
	return n.Status.Allocatable, nil
}

// TestEstimatorThatPanics: an estimator of LoadAware panics for one tenant's pod. The pod
// must count where it runs, and others must be scheduled on.
func TestEstimatorThatPanics(t *testing.T) {
	for _, what := range []string{"pending", "assigned", "assigned, metric", "assigned, node update", "metric then assigned", "node"} {
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("%s: panic: %v", what, v)
				}
			}()
			load, err := estimator.NewLoad(estimator.LoadConfig{Estimator: touchy{what == "node"}, Thresholds: map[resource.Name]int64{resource.CPU: 95}})
			if err != nil {
				t.Fatal(err)
			}
			profile := scheduling.Kubernetes137()
			profile.Filter = append(profile.Filter, filter.LoadAware{Load: load})
			profile.Score = append(profile.Score, scheduling.Weighted{Plugin: scoring.LoadAware{Load: load}, Weight: 1})
			w := newWorld(t, profile)
			w.confirm = true
			w.nodes(api.MakeNode("n", "4", "8Gi"))
			metric := func() {
				now := w.clock.Now()
				m := &api.NodeMetric{}
				m.Name = "n"
				m.Status.UpdateTime = &now
				m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(100), resource.Memory: resource.New(1<<28, resource.BinarySI)})}
				w.d.Apply(lifecycle.Update(m))
			}
			metric()
			w.pods(api.MakePod("first").Requests("100m", "1Gi"))
			w.all()
			bad := api.MakePod("bad").Labels("bad", "yes").Requests("3", "1Gi")
			if what == "metric then assigned" {
				metric()
			}
			if what != "pending" && what != "node" {
				bad = bad.Node("n")
			}
			w.pods(bad)
			w.all()
			switch what {
			case "assigned, metric":
				w.clock.Advance(time.Minute)
				metric()
			case "assigned, node update":
				w.nodes(api.MakeNode("n", "4", "8Gi").Labels("a", "b"))
			}
			w.all()
			w.pods(api.MakePod("large").Requests("2", "1Gi"), api.MakePod("small").Requests("100m", "1Gi"))
			for range 5 {
				w.all()
				w.pass(20 * time.Second)
			}
			if w.bound["small"] == "" {
				t.Errorf("%s: an innocent pod is not bound", what)
			}
			if what != "pending" && what != "node" && w.bound["large"] != "" {
				t.Errorf("%s: the node is overcommitted: the pod that the estimator panics for does not count", what)
			}
		}()
	}
}

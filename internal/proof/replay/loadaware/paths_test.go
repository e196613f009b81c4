package loadaware_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// TestPaths lets time pass while pods are placed and metrics come, go and expire.
// Every decision takes both paths, the reference path and the incremental one. They
// must agree on every node.
func TestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := estimator.LoadConfig{
			Rules: rapid.SampledFrom(versions).Draw(t, "rules"), ScoreProd: rapid.Bool().Draw(t, "score prod"),
			Expired: rapid.SampledFrom([]estimator.ExpiredPolicy{estimator.RejectExpired, estimator.PassExpired, estimator.UseExpired}).Draw(t, "expired"),
		}
		if rapid.Bool().Draw(t, "prod thresholds") {
			config.ProdThresholds = map[resource.Name]int64{resource.CPU: 50}
		}
		r := newPaths(t, config)
		t.Repeat(map[string]func(*rapid.T){
			"place":  r.place,
			"place2": r.place,
			"leave":  r.leave,
			"metric": r.metric,
			"time":   r.time,
			"fork":   r.fork,
			"remove metric": func(t *rapid.T) {
				estimator.LedgerOf(r.snapshot).RemoveMetric(r.drawNode(t))
			},
		})
	})
}

type paths struct {
	snapshot  *framework.Snapshot
	scheduler *scheduling.Scheduler
	placed    []*framework.PodInfo
	nodes     []string // nodes of the placed pods
	count     int
}

const pathNodes = 6

func newPaths(t *rapid.T, config estimator.LoadConfig) *paths {
	load, err := estimator.NewLoad(config)
	ok(t, err)
	r := &paths{snapshot: framework.NewSnapshot(framework.ZoneInterleaved)}
	r.scheduler, err = scheduling.New(scheduling.Profile{
		Name:    "load-aware",
		Filter:  []framework.Plugin{filter.NodeResourcesFit{}, filter.LoadAware{Load: load}},
		Score:   []scheduling.Weighted{{Plugin: scoring.LoadAware{Load: load}, Weight: 2}, {Plugin: scoring.NodeResourcesFit{}}},
		Reserve: []framework.Plugin{estimator.Assigner{}},
		Cache:   scheduling.CacheConfig{Verify: true},
	})
	ok(t, err)
	r.snapshot.SetNow(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	estimator.LedgerOf(r.snapshot)
	for i := range pathNodes {
		ok(t, r.snapshot.AddNode(api.MakeNode(fmt.Sprintf("n%d", i), "8", "16Gi").Obj()))
	}
	return r
}

func ok(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *paths) drawNode(t *rapid.T) string {
	return fmt.Sprintf("n%d", rapid.IntRange(0, pathNodes-1).Draw(t, "node"))
}

func (r *paths) place(t *rapid.T) {
	r.count++
	// Three classes, so that cached answers are used again.
	b := api.MakePod(fmt.Sprintf("p%d", r.count))
	switch rapid.IntRange(0, 2).Draw(t, "class") {
	case 0:
		b = b.Requests("500m", "1Gi")
	case 1:
		b = b.Requests("2", "512Mi")
	}
	info, err := r.snapshot.NewPodInfo(b.Obj())
	ok(t, err)
	d, err := r.scheduler.Place(r.snapshot, info)
	var none *scheduling.FitError
	if errors.As(err, &none) {
		return
	}
	ok(t, err)
	r.placed, r.nodes = append(r.placed, info), append(r.nodes, d.Node)
}

func (r *paths) leave(t *rapid.T) {
	if len(r.placed) == 0 {
		t.Skip("none")
	}
	i := rapid.IntRange(0, len(r.placed)-1).Draw(t, "pod")
	ok(t, r.snapshot.RemovePod(r.placed[i], r.nodes[i]))
	last := len(r.placed) - 1
	r.placed[i], r.nodes[i] = r.placed[last], r.nodes[last]
	r.placed, r.nodes = r.placed[:last], r.nodes[:last]
}

func (r *paths) metric(t *rapid.T) {
	use := func(cpu, memory int) api.ResourceMap {
		return api.ResourceMapOf(resource.List{
			resource.CPU: resource.Milli(int64(cpu)), resource.Memory: resource.New(int64(memory)<<20, resource.BinarySI),
		})
	}
	m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: r.drawNode(t)}}
	age := time.Duration(rapid.IntRange(-30, 240).Draw(t, "age")) * time.Second
	m.Status.UpdateTime = new(r.snapshot.Now().Add(-age))
	m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: use(rapid.IntRange(0, 8000).Draw(t, "cpu"), rapid.IntRange(0, 16<<10).Draw(t, "memory"))}
	for i, p := range r.placed {
		if r.nodes[i] == m.Name && rapid.Bool().Draw(t, "reported") {
			m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{
				Name: p.Pod.Name, Namespace: p.Pod.Namespace, PodUsage: use(rapid.IntRange(0, 800).Draw(t, "pod"), 100), Priority: "koord-prod",
			})
		}
	}
	ok(t, estimator.LedgerOf(r.snapshot).SetMetric(m))
}

func (r *paths) time(t *rapid.T) {
	d := time.Duration(rapid.IntRange(-10, 200).Draw(t, "seconds")) * time.Second
	r.snapshot.SetNow(r.snapshot.Now().Add(d))
}

func (r *paths) fork(*rapid.T) { r.snapshot = r.snapshot.Fork() }

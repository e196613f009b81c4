package config_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
)

// standIn returns a plugin that serves the given points, with parts that accept
// everything.
func standIn(name string, points []config.Point) scheduling.Combined {
	n := called(name)
	parts := scheduling.Combined{n}
	for point, part := range map[config.Point]framework.Plugin{
		config.PreEnqueue: preEnqueuer{n}, config.QueueSort: sorter{n}, config.PreFilter: preFilterer{n}, config.Filter: filterer{n},
		config.PostFilter: postFilterer{n}, config.PreScore: preScorer{n}, config.Score: scorer{n}, config.Reserve: reserver{n},
		config.Permit: permitter{n}, config.PreBind: preBinder{n}, config.Bind: binder{n}, config.PostBind: postBinder{n},
	} {
		if slices.Contains(points, point) {
			parts = append(parts, part)
		}
	}
	return parts
}

// register adds stand-ins for plugins that are known by their points.
func register(t *testing.T, r *scheduling.Registry, known map[string]config.Known) {
	t.Helper()
	for name, k := range known {
		p := standIn(name, k.Points)
		reg := scheduling.Registration{Like: p, New: func(any, framework.Handle) (framework.Plugin, error) { return p, nil }}
		if err := r.Register(name, reg); err != nil {
			t.Fatal(err)
		}
	}
}

type called string

func (n called) Name() string { return string(n) }

type (
	preEnqueuer  struct{ called }
	sorter       struct{ called }
	preFilterer  struct{ called }
	filterer     struct{ called }
	postFilterer struct{ called }
	preScorer    struct{ called }
	scorer       struct{ called }
	reserver     struct{ called }
	permitter    struct{ called }
	preBinder    struct{ called }
	binder       struct{ called }
	postBinder   struct{ called }
)

func (preEnqueuer) PreEnqueue(context.Context, *framework.PodInfo) framework.Status {
	return framework.Status{}
}
func (sorter) Less(a, b *queueing.QueuedPod) bool { return a.Timestamp.Before(b.Timestamp) }
func (p preFilterer) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: filterer(p)}, framework.Status{}
}

func (filterer) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func (postFilterer) PostFilter(context.Context, *framework.Cycle, framework.Verdicts) (framework.PostFiltered, framework.Status) {
	return framework.PostFiltered{}, framework.UnschedulableStatus("no way")
}

func (p preScorer) PreScore(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return scorer(p), framework.Status{}
}
func (scorer) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return int64(len(n.Pods)) }
func (reserver) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}
func (reserver) Unreserve(*framework.Cycle, *framework.NodeInfo) {}
func (permitter) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	return framework.Status{}, 0
}

func (preBinder) PreBind(context.Context, *framework.Cycle, string) framework.Status {
	return framework.Status{}
}

func (binder) Bind(context.Context, *framework.Cycle, string) framework.Status {
	return framework.Status{}
}
func (postBinder) PostBind(context.Context, *framework.Cycle, string) {}

// place builds the profiles of a configuration and places a pod with each.
func place(t *testing.T, c *config.Configuration) {
	t.Helper()
	built, err := c.Build(config.BuildConfig{})
	if err != nil {
		t.Errorf("Build: %v", err)
		return
	}
	for i, p := range built.Profiles {
		s, err := scheduling.New(p)
		if err != nil {
			t.Errorf("profile %d: %v", i, err)
			continue
		}
		snap := framework.NewSnapshot(framework.ZoneInterleaved)
		for _, name := range []string{"a", "b"} {
			if err := snap.AddNode(api.MakeNode(name, "4", "16Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		pod, err := snap.NewPodInfo(api.MakePod("web").Requests("500m", "1Gi").Obj())
		if err != nil {
			t.Fatal(err)
		}
		if d, err := s.Place(snap, pod); err != nil || d.Node == "" {
			t.Errorf("profile %d places the pod on %q: %v", i, d.Node, err)
		}
	}
}

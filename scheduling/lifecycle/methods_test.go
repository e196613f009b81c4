package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// unruly is a plugin of every optional interface. One of its methods panics now and then.
type unruly struct {
	at    string
	rng   *rand.Rand
	often float64
	hits  *int
	off   *bool
}

func (w unruly) hit(at string) {
	if w.at == at && !*w.off && w.rng.Float64() < w.often {
		*w.hits++
		panic("unruly " + at)
	}
}

func (w unruly) Name() string { w.hit("Name"); return "unruly" }

func (w unruly) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	w.hit("PreFilter")
	return framework.PreFiltered{Filter: unrulyFilter{w}}, framework.Status{}
}

func (w unruly) Scope(*framework.PodInfo) framework.Scope {
	w.hit("Scope")
	return framework.Scope{Pod: framework.FieldsAll, Reads: framework.ReadsNode}
}

func (w unruly) PreScore(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	w.hit("PreScore")
	return unrulyScorer{w}, framework.Status{}
}

func (w unruly) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	w.hit("Reserve")
	return framework.Status{}
}

func (w unruly) Unreserve(*framework.Cycle, *framework.NodeInfo) { w.hit("Unreserve") }

func (w unruly) Reserves(*framework.Snapshot, *framework.PodInfo, *framework.NodeInfo) string {
	w.hit("Reserves")
	return "x"
}

func (w unruly) PreEnqueue(context.Context, *framework.PodInfo) framework.Status {
	w.hit("PreEnqueue")
	return framework.Status{}
}

func (w unruly) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	w.hit("Permit")
	return framework.Status{}, 0
}

type unrulyFilter struct{ unruly }

func (w unrulyFilter) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	w.hit("Filter")
	if w.at == "Details" && n.Name() == "n1" {
		return framework.UnschedulableStatus("unruly")
	}
	return framework.Status{}
}

func (w unrulyFilter) AddPod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	w.hit("AddPod")
	return framework.Status{}
}

func (w unrulyFilter) RemovePod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	w.hit("RemovePod")
	return framework.Status{}
}

func (w unrulyFilter) Fork() framework.FilterUpdater { w.hit("Fork"); return w }

func (w unrulyFilter) Details(*framework.PodInfo, *framework.NodeInfo) []framework.Detail {
	w.hit("Details")
	return nil
}

type unrulyScorer struct{ unruly }

func (w unrulyScorer) Score(*framework.PodInfo, *framework.NodeInfo) int64 { w.hit("Score"); return 3 }

func (w unrulyScorer) NormalizeScore(raw, a, b int64) int64 { w.hit("NormalizeScore"); return 7 }

func (w unrulyScorer) Excludes(*framework.NodeInfo) bool { w.hit("Excludes"); return false }

// watched learns of every score, so that every decision is explained.
type watched struct{}

func (watched) Attempt(*lifecycle.Attempt) {}

func (watched) Scores(*scheduling.Explanation) {}

// TestAnyMethodPanics: any method of a plugin panics now and then, under a driver with groups
// and preemption, and in planners on forks. The driver goes on; when the panics end, every
// pod that has room gets it.
func TestAnyMethodPanics(t *testing.T) {
	for _, at := range []string{
		"Name", "PreFilter", "Scope", "PreScore", "Reserve", "Unreserve", "Reserves", "PreEnqueue", "Permit",
		"Filter", "AddPod", "RemovePod", "Fork", "Details", "Score", "NormalizeScore", "Excludes",
	} {
		for _, often := range []float64{1, 0.02} {
			t.Run(fmt.Sprint(at, "/", often), func(t *testing.T) { panicAt(t, at, often) })
		}
	}
}

func panicAt(t *testing.T, at string, often float64) {
	hits, off := 0, true
	x := unruly{at, rand.New(rand.NewPCG(1, 2)), often, &hits, &off}
	profile := scheduling.Kubernetes137()
	profile.PreEnqueue = append(profile.PreEnqueue, x)
	profile.Filter = append(profile.Filter, x)
	profile.Score = append(profile.Score, scheduling.Weighted{Plugin: x, Weight: 1})
	profile.Reserve = append(profile.Reserve, x)
	profile.Permit = append(profile.Permit, x)
	w := &groupWorld{world: newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{Workers: 2}, Observer: watched{}}, lifecycle.NewHandle())}
	w.confirm = true
	bindings := 0
	w.refuse = func(*api.Pod, string) error { // so that pods are unreserved
		if bindings++; !off && bindings%7 == 0 {
			return errors.New("refused")
		}
		return nil
	}
	off = false
	for i := range 4 {
		w.nodes(api.MakeNode(fmt.Sprint("n", i), "8", "64Gi").Labels("rack", fmt.Sprint(i%2)))
	}
	want := map[string]bool{}
	add := func(p *api.Pod) {
		want[p.Name] = true
		w.d.Apply(lifecycle.Update(p))
	}
	turns := func(n int, d time.Duration) {
		for range n {
			w.all()
			w.pass(d)
		}
	}
	serial := 0
	for round := range 12 {
		for range 3 {
			serial++
			add(api.MakePod(fmt.Sprint("p", serial)).Namespace("default").Requests("500m", "1Gi").Priority(int32(serial % 3)).Obj())
		}
		if round%4 == 0 {
			g := podGroup(fmt.Sprint("g", round), 2, int32(round))
			w.d.Apply(lifecycle.Update(g))
			for k := range 2 {
				add(groupPod(fmt.Sprint("g", round, "-", k), g.Name, "500m", int32(round)))
			}
		}
		if round == 5 {
			for i := range 2 { // they preempt
				p := api.MakePod(fmt.Sprint("big", i)).Namespace("default").Requests("7", "1Gi").Priority(100).Obj()
				w.d.Apply(lifecycle.Update(p))
				turns(5, 11*time.Second)
				w.d.Apply(lifecycle.Delete(p))
			}
		}
		turns(1, 3*time.Second)
		if at != "Name" { // planners ask for names all the time
			askPlanner(w, profile)
		}
	}
	off = true
	turns(30, 5*time.Minute)
	missing := 0
	for name := range want {
		if w.bound[name] == "" {
			missing++
		}
	}
	if missing > 0 || w.d.QueueLength().InFlight > 0 {
		t.Errorf("%d pods are not bound: %+v", missing, w.d.Counts())
	}
	if hits == 0 && often == 1 && at != "Name" { // only errors ask for names
		t.Errorf("%s never panicked", at)
	}
	if err := w.d.Snapshot().AddNode(api.MakeNode("new", "4", "8Gi").Obj()); err != nil {
		t.Error(err)
	}
}

// askPlanner asks questions about a fork of the driver's snapshot. Their errors do not matter.
func askPlanner(w *groupWorld, profile scheduling.Profile) {
	p, err := whatif.New(profile, w.d.Snapshot())
	if err != nil {
		return
	}
	_, _ = p.Drain("n0")
	_, _ = p.Consolidate()
	if i, err := p.Snapshot().NewPodInfo(api.MakePod("what").Requests("1", "1Gi").Obj()); err == nil {
		_, _ = p.Headroom(i, 0)
		_, _ = p.WhyNot(i, "n1")
		_, _ = p.Place([]*framework.PodInfo{i})
	}
}

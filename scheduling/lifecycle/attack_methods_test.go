package lifecycle_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// unruly is a plugin of every optional interface, one method of which panics now and then.
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
func (w unrulyScorer) NormalizeScore(raw, a, b int64) int64                { w.hit("NormalizeScore"); return 7 }
func (w unrulyScorer) Excludes(*framework.NodeInfo) bool                   { w.hit("Excludes"); return false }

// TestAttackMethods: any method of a plugin panics now and then, under a driver with groups
// and preemption, and planners on forks; the driver goes on, and when the panics end, every
// pod that has room gets it.
func TestAttackMethods(t *testing.T) {
	for _, at := range []string{"Name", "PreFilter", "Scope", "PreScore", "Reserve", "Unreserve", "Reserves", "PreEnqueue", "Permit", "Filter", "AddPod", "RemovePod", "Fork", "Details", "Score", "NormalizeScore", "Excludes"} {
		for _, often := range []float64{1, 0.02} {
			t.Run(fmt.Sprint(at, often), func(t *testing.T) {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("panic: %v\n%s", v, debug.Stack())
					}
				}()
				hits, off := 0, true
				x := unruly{at, rand.New(rand.NewPCG(1, 2)), often, &hits, &off}
				profile := scheduling.Kubernetes137()
				profile.PreEnqueue = append(profile.PreEnqueue, x)
				profile.Filter = append(profile.Filter, x)
				profile.Score = append(profile.Score, scheduling.Weighted{Plugin: x, Weight: 1})
				profile.Reserve = append(profile.Reserve, x)
				profile.Permit = append(profile.Permit, x)
				w := &groupWorld{world: newWorld(t, profile)}
				c := lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{Workers: 2}, Binder: w, Clock: w.clock}
				c.ErrorHandler = func(err error) { w.problems = append(w.problems, err.Error()) }
				d, err := lifecycle.New(c)
				if err != nil {
					t.Fatal(err)
				}
				w.d, w.confirm = d, true
				off = false
				for i := range 4 {
					w.nodes(api.MakeNode(fmt.Sprint("n", i), "8", "64Gi").Labels("rack", fmt.Sprint(i%2)))
				}
				want := map[string]bool{}
				add := func(p *api.Pod) { want[p.Name] = true; w.d.Apply(lifecycle.Update(p)) }
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
					if round == 5 { // preempts
						for i := range 2 {
							p := api.MakePod(fmt.Sprint("big", i)).Namespace("default").Requests("7", "1Gi").Priority(100).Obj()
							w.d.Apply(lifecycle.Update(p))
							defer func() {}()
							for range 5 {
								w.all()
								w.pass(11 * time.Second)
							}
							w.d.Apply(lifecycle.Delete(p))
						}
					}
					w.all()
					w.pass(3 * time.Second)
					if at == "Name" || at == "Scope" { // New, and Drain, panic with them: see TestAttackScopePanicsInDrain
					} else if pl, err := whatif.New(profile, w.d.Snapshot()); err == nil {
						pl.Drain("n0")
						pl.Consolidate()
						if i, err := pl.Snapshot().NewPodInfo(api.MakePod("what").Requests("1", "1Gi").Obj()); err == nil {
							pl.Headroom(i, 0)
							pl.WhyNot(i, "n1")
						}
					}
				}
				off = true
				for range 30 {
					w.all()
					w.pass(5 * time.Minute)
				}
				missing := 0
				for name := range want {
					if w.bound[name] == "" {
						missing++
					}
				}
				total := 0
				for _, n := range w.d.Snapshot().All() {
					total += len(n.Pods)
				}
				first := ""
				for _, p := range w.problems {
					if strings.Contains(p, "unruly") {
						first = p
						break
					}
				}
				t.Logf("%d panics, %d problems (%.150s), bound %d of %d, on nodes %d, %v", hits, len(w.problems), first, len(w.bound), len(want), total, w.d.QueueLength())
				if missing > 0 || w.d.QueueLength().InFlight > 0 {
					t.Errorf("%d pods are not bound: %+v", missing, w.d.Counts())
				}
				if err := w.d.Snapshot().AddNode(api.MakeNode("new", "4", "8Gi").Obj()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

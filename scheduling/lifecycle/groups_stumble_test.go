package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// stumbling is a PreEnqueue plugin that panics, or fails, the first few times.
type stumbling struct {
	left *int
	fail bool
}

func (stumbling) Name() string { return "stumbling" }

func (s stumbling) PreEnqueue(context.Context, *framework.PodInfo) framework.Status {
	switch *s.left--; {
	case *s.left < 0:
		return framework.Status{}
	case s.fail:
		return framework.AsStatus(errors.New("no answer"))
	}
	panic("oh")
}

// TestGateThatStumbles: a PreEnqueue plugin fails a few times. Pods alone and groups are
// tried again after a while, though no event comes.
func TestGateThatStumbles(t *testing.T) {
	for _, group := range []bool{false, true} {
		for _, fail := range []bool{false, true} {
			for _, times := range []int{1, 2, 3, 10, 50} {
				t.Run(fmt.Sprintf("group=%v/fail=%v/times=%d", group, fail, times), func(t *testing.T) {
					left := times
					profile := scheduling.Kubernetes137()
					profile.PreEnqueue = append(profile.PreEnqueue, stumbling{&left, fail})
					w := &groupWorld{world: newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}}, lifecycle.NewHandle())}
					w.confirm = true
					w.nodes(api.MakeNode("n", "8", "64Gi"))
					for _, name := range []string{"p", "q"} {
						if group {
							w.d.Apply(lifecycle.Update(podGroup("g", 2, 0)), lifecycle.Update(groupPod(name, "g", "1", 0)))
						} else {
							w.pods(api.MakePod(name).Namespace("default").Requests("1", "1Gi"))
						}
					}
					for range 100 {
						w.all()
						w.pass(10 * time.Minute)
					}
					if len(w.bound) != 2 {
						t.Errorf("bound %v, want p and q; left %d", w.bound, left)
					}
					if group {
						w.wantProblem("stumbling", "PreEnqueue", "pod default/p")
					}
				})
			}
		}
	}
}

// TestGroupWaitsBehindFaultyGate: while a PreEnqueue plugin fails for one pod of a group, no
// pod of the group is placed, and the plugin is asked only after backoffs.
func TestGroupWaitsBehindFaultyGate(t *testing.T) {
	asked := 0
	profile := scheduling.Kubernetes137()
	profile.PreEnqueue = append(profile.PreEnqueue, faulty{"q", &asked})
	w := &groupWorld{world: newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}}, lifecycle.NewHandle())}
	w.nodes(api.MakeNode("n", "8", "64Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)), lifecycle.Update(groupPod("p", "g", "1", 0)), lifecycle.Update(groupPod("q", "g", "1", 0)))
	failed := 0
	for range 600 {
		for _, a := range w.all() {
			if a.State != lifecycle.Failed || a.Err == nil {
				t.Fatalf("attempt %+v, want one that failed", a)
			}
			failed++
		}
		w.pass(time.Second)
	}
	if len(w.bound) > 0 {
		t.Errorf("bound %v, want none", w.bound)
	}
	if failed < 10 || failed > 100 || asked > 3*failed+2 {
		t.Errorf("%d failed attempts in 10 minutes, and the plugin was asked %d times", failed, asked)
	}
}

// faulty is a PreEnqueue plugin that fails for one pod.
type faulty struct {
	pod   string
	asked *int
}

func (faulty) Name() string { return "faulty" }

func (f faulty) PreEnqueue(_ context.Context, p *framework.PodInfo) framework.Status {
	if p.Pod.Name != f.pod {
		return framework.Status{}
	}
	*f.asked++
	return framework.AsStatus(errors.New("no answer"))
}

package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// stumbling is a PreEnqueue plugin that panics, or fails, once for each of the first pods.
type stumbling struct {
	left *int
	fail bool
}

func (stumbling) Name() string { return "stumbling" }
func (s stumbling) PreEnqueue(context.Context, *framework.PodInfo) framework.Status {
	if *s.left--; *s.left >= 0 {
		if s.fail {
			return framework.AsStatus(errors.New("no answer"))
		}
		panic("oh")
	}
	return framework.Status{}
}

// TestAttackGateThatStumbles: a PreEnqueue plugin panics once. A pod alone is tried again
// after a while; a group never is, whatever happens.
func TestAttackGateThatStumbles(t *testing.T) {
	for _, group := range []bool{false, true} {
		for _, fail := range []bool{false, true} {
			left := 1
			profile := scheduling.Kubernetes137()
			profile.PreEnqueue = append(profile.PreEnqueue, stumbling{&left, fail})
			w := &groupWorld{world: newWorld(t, profile)}
			c := lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}, Binder: w, Clock: w.clock}
			c.ErrorHandler = func(err error) { w.problems = append(w.problems, err.Error()) }
			d, err := lifecycle.New(c)
			if err != nil {
				t.Fatal(err)
			}
			w.d, w.confirm = d, true
			w.nodes(api.MakeNode("n", "8", "64Gi"))
			w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)))
			if group {
				w.apply(groupPod("p", "g", "1", 0))
			} else {
				w.pods(api.MakePod("p").Namespace("default").Requests("1", "1Gi"))
			}
			for range 10 {
				w.all()
				w.pass(10 * time.Minute)
			}
			idle := len(w.bound)
			w.nodes(api.MakeNode("n2", "8", "64Gi"))
			w.pods(api.MakePod("q").Namespace("default").Requests("1", "1Gi"))
			for range 10 {
				w.all()
				w.pass(10 * time.Minute)
			}
			t.Logf("group %v, fails %v: bound %d after 100 min, %v after events; problems %v", group, fail, idle, w.bound, w.problems)
			if w.bound["p"] == "" {
				t.Errorf("group %v, fails %v: pod p is never bound", group, fail)
			}
		}
	}
}

//go:build full

package lifecycle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// contrary rejects every pod at PreBind. It asks for the rejected pods to be tried
// again whenever a pod leaves its node, and its own rejected pods do so.
type contrary struct{ rejects func() }

func (contrary) Name() string { return "contrary" }
func (c contrary) PreBind(context.Context, *framework.Cycle, string) framework.Status {
	c.rejects()
	return framework.UnschedulableStatus("no")
}

func (contrary) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{{Event: queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionDelete}}}
}

// usurper lets only the latest pod wait at Permit and rejects the pods that waited
// before.
type usurper struct {
	handle  framework.Handle
	rejects func()
}

func (usurper) Name() string { return "usurper" }
func (u usurper) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	for _, w := range u.handle.WaitingPods() {
		u.rejects()
		w.Reject("usurper", "make way")
	}
	return framework.Status{}.WithCode(framework.Wait), time.Hour
}

func (usurper) EventsToRegister() []queueing.EventHint { return contrary{}.EventsToRegister() }

// TestRejectionsDoNotStopTheClock: pods that wake each other, or are tried again
// without any event, are tried repeatedly while virtual time passes.
func TestRejectionsDoNotStopTheClock(t *testing.T) {
	for _, full := range []bool{false, true} {
		for _, most := range []time.Duration{0, queue.NoBackoff} {
			for pods := 1; pods <= 4; pods++ {
				for _, point := range []string{"PreBind", "Permit"} {
					t.Run(fmt.Sprintf("%s, full %t, most %v, pods %d", point, full, most, pods), func(t *testing.T) {
						rejectInAMinute(t, point, pods, lifecycle.Config{Backoff: queue.Backoff{Max: most}, FullBackoff: full})
					})
				}
			}
		}
	}
}

func rejectInAMinute(t *testing.T, point string, pods int, c lifecycle.Config) {
	t.Helper()
	rejections := 0
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	count := func() {
		if rejections++; rejections > 1000 {
			cancel()
		}
	}
	h := lifecycle.NewHandle()
	profile := scheduling.Profile{Permit: []framework.Plugin{usurper{h, count}}}
	least := 5 * (pods - 1)
	if point == "PreBind" {
		profile = scheduling.Profile{PreBind: []framework.Plugin{contrary{count}}}
		least = 5 * pods
	}
	if point == "Permit" && pods == 2 {
		least = 1 // a pod's own leaving does not wake it, and nothing else does
	}
	c.Profiles = []scheduling.Profile{profile}
	w := newWorldWith(t, c, h)
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	for i := range pods {
		w.pods(api.MakePod(fmt.Sprintf("p%d", i)))
	}
	if err := w.d.Simulate(ctx, w.clock, epoch.Add(time.Minute)); err != nil {
		t.Fatalf("Simulate: %v after %d rejections, at %v", err, rejections, w.clock.Now().Sub(epoch))
	}
	if rejections < least {
		t.Errorf("%d rejections in a minute, want at least %d", rejections, least)
	}
}

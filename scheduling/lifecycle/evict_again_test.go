//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// slowCluster is a cluster in which victims take long to leave, and which reports nothing.
type slowCluster struct {
	t       *testing.T
	d       *lifecycle.Driver
	clock   *virtualclock.Clock
	version int
	evicted []*api.Pod
	echo    time.Duration // how long after an eviction the event about it comes; negative: never
	plain   bool          // the event has no condition that says why
}

func (c *slowCluster) put(p *api.Pod) {
	c.version++
	p.ResourceVersion = fmt.Sprint(c.version)
	c.d.Apply(lifecycle.Update(p))
}

func (c *slowCluster) Bind(_ context.Context, p *api.Pod, node string) error {
	c.put(onNode(p, node))
	return nil
}

func (c *slowCluster) Evict(_ context.Context, v, _ *api.Pod) error {
	c.evicted = append(c.evicted, v)
	leaving := api.Clone(v)
	leaving.DeletionTimestamp = new(c.clock.Now())
	if !c.plain {
		leaving.Status.Conditions = []api.PodCondition{{Type: api.DisruptionTarget, Status: api.ConditionTrue, Reason: api.PodReasonPreemptionByScheduler}}
	}
	switch {
	case c.echo == 0:
		c.put(leaving)
	case c.echo > 0:
		c.clock.AfterFunc(c.echo, func() { c.put(leaving) })
	}
	return nil
}

// cordon makes a node one where it does not help to evict pods.
func (c *slowCluster) cordon(node string) {
	n := api.MakeNode(node, "1", "16Gi").Unschedulable().Obj()
	c.version++
	n.ResourceVersion = fmt.Sprint(c.version)
	c.d.Apply(lifecycle.Update(n))
}

// work lets time pass. Each second a pod ends elsewhere, so that whatever waits for room is tried.
func (c *slowCluster) work(d time.Duration) {
	for end := c.clock.Now().Add(d); c.clock.Now().Before(end); c.clock.Advance(time.Second) {
		p := api.MakePod("small").UID(api.UID(fmt.Sprint("small", c.version))).Requests("10m", "1Mi").Node("tiny").Obj()
		c.put(p)
		c.d.Apply(lifecycle.Delete(p))
		for {
			if _, ok := c.d.ScheduleOne(context.Background()); !ok {
				break
			}
		}
	}
}

// TestPreemptorWaits: a pod, or a pod group, preempts on one node, however long the victim takes to leave, the event about
// that to come, and though its nomination is never written to its status. If no event comes at all,
// the eviction is taken for lost.
func TestPreemptorWaits(t *testing.T) {
	for _, group := range []string{"", "g"} {
		for _, choice := range []groups.Choice{groups.Kubernetes137, groups.BestFit}[:1+len(group)] {
			preemptorWaits(t, group, &groups.Rules{Choice: choice})
		}
	}
}

func preemptorWaits(t *testing.T, group string, rules *groups.Rules) {
	for _, tt := range []struct {
		echo  time.Duration
		plain bool
		want  int // evictions within 45 seconds
	}{{0, false, 1}, {0, true, 1}, {10 * time.Second, false, 1}, {10 * time.Second, true, 1}, {29 * time.Second, false, 1}, {-1, false, 2}} {
		c := &slowCluster{t: t, clock: virtualclock.New(epoch), echo: tt.echo, plain: tt.plain}
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: c.clock, Binder: c,
			Groups:       rules,
			ErrorHandler: func(err error) { t.Error(err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		c.d = d
		d.Apply(lifecycle.Update(api.MakeNode("tiny", "100m", "16Gi").Obj()))
		for i := range 8 {
			node := fmt.Sprint("n", i)
			d.Apply(lifecycle.Update(api.MakeNode(node, "1", "16Gi").Obj()))
			c.put(api.MakePod(fmt.Sprint("low", i)).UID(api.UID(fmt.Sprint("low", i))).Requests("1", "1Gi").Node(node).Obj())
		}
		high := api.MakePod("high").Requests("1", "1Gi").Priority(10).Obj()
		if group != "" {
			d.Apply(lifecycle.Update(podGroup(group, 1, 10)))
			high = groupPod("high", group, "1", 10)
		}
		high.UID = "high"
		c.put(high)
		c.work(45 * time.Second)
		if len(c.evicted) != tt.want {
			t.Errorf("group %q: the event about a victim takes %v: %d pods were evicted, want %d", group, tt.echo, len(c.evicted), tt.want)
		}
		if tt.echo < 0 {
			continue
		}
		c.work(5 * time.Minute)
		victim := c.evicted[0]
		c.cordon(victim.Spec.NodeName)
		if c.work(time.Minute); len(c.evicted) != 2 {
			t.Errorf("group %q: its node is cordoned: %d pods were evicted, want another one", group, len(c.evicted))
		}
		victim = c.evicted[1]
		d.Apply(lifecycle.Delete(victim))
		c.work(time.Minute)
		if n := d.Snapshot().Node(victim.Spec.NodeName); len(c.evicted) != 2 || len(n.Pods) != 1 || n.Pods[0].Pod.Name != "high" {
			t.Errorf("group %q: the event about a victim takes %v: %d pods were evicted, and node %s has %d pods", group, tt.echo, len(c.evicted), n.Name(), len(n.Pods))
		}
	}
}

// TestPreemptorWaitsForEndingBinding: a pod, or a pod group, that has ended a binding for its sake waits until
// PreBind returns, and is not tried again and again meanwhile.
func TestPreemptorWaitsForEndingBinding(t *testing.T) {
	for _, group := range []string{"", "g"} {
		writer := slowWriter{make(chan struct{}), make(chan error)}
		profile := scheduling.Kubernetes137()
		profile.PreBind = append(profile.PreBind, writer)
		w := &world{tb: t, ctx: t.Context(), clock: virtualclock.New(epoch)}
		var err error
		if w.d, err = lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}, Bindings: 4, Binder: bindsAll{}, Clock: w.clock,
		}); err != nil {
			t.Fatal(err)
		}
		w.nodes(api.MakeNode("n", "2", "16Gi"), api.MakeNode("other", "100m", "16Gi"))
		w.d.Apply(lifecycle.Update(api.MakePod("a").Requests("2", "1Gi").Obj()))
		w.one()
		until := func(what string, done func() bool) {
			t.Helper()
			for end := time.Now().Add(time.Minute); !done(); w.d.Flush(w.ctx) {
				if time.Now().After(end) {
					t.Fatalf("group %q: %s", group, what)
				}
			}
		}
		until("PreBind does not begin", func() bool {
			select {
			case <-writer.began:
				return true
			default:
				return false
			}
		})
		high := api.MakePod("high").Requests("2", "1Gi").Priority(10).Obj()
		if group != "" {
			w.d.Apply(lifecycle.Update(podGroup(group, 1, 10)))
			high = groupPod("high", group, "2", 10)
		}
		w.d.Apply(lifecycle.Update(high))
		attempts := 0
		for range 1000 {
			if _, ok := w.d.ScheduleOne(w.ctx); ok {
				attempts++
			}
		}
		if attempts == 0 || attempts > 3 {
			t.Fatalf("group %q: %d attempts while the victim's PreBind has not ended, want 1 to 3", group, attempts)
		}
		w.d.Apply(lifecycle.Update(api.MakePod("small").Requests("50m", "1Gi").Priority(5).Obj()))
		w.all()
		until("a pod of lower priority waits", func() bool { return isOn(w, "small", "other") })
		writer.fail <- errors.New("ended")
		until("the preemptor does not get the room", func() bool {
			w.pass(time.Second)
			w.all()
			return isOn(w, "high", "n")
		})
	}
}

// bindsAll is a cluster that binds all pods, and says nothing of it.
type bindsAll struct{}

func (bindsAll) Bind(context.Context, *api.Pod, string) error { return nil }

func isOn(w *world, pod, node string) bool {
	return slices.ContainsFunc(w.d.Snapshot().Node(node).Pods, func(p *framework.PodInfo) bool { return p.Pod.Name == pod })
}

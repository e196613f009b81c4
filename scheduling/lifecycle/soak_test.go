//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

var soakTime = flag.Duration("soak", 300*time.Millisecond, "how long TestSoak runs at least: until a pod is bound")

// city is a cluster that many goroutines use: a source, a binder and an evicter.
type city struct {
	t      *testing.T
	events chan lifecycle.Event

	mu       sync.Mutex
	rng      *rand.Rand
	pods     map[api.UID]*api.Pod
	nodes    map[string]bool
	bound    map[api.UID]string
	reserved map[api.UID]bool
	problems []string
}

func (c *city) chance(percent int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(100) < percent
}

func (c *city) Next(ctx context.Context) (lifecycle.Event, error) {
	select {
	case e := <-c.events:
		return e, nil
	case <-ctx.Done():
		return lifecycle.Event{}, ctx.Err()
	}
}

// send delivers an event. Events about one object keep the order of the changes,
// because the lock is held.
func (c *city) send(e lifecycle.Event) { c.events <- e }

func (c *city) Bind(ctx context.Context, pod *api.Pod, node string) error {
	switch {
	case c.chance(10):
		return errors.New("rejected at random")
	case c.chance(1):
		select { // hangs, at the end until the scheduler stops
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	case c.chance(30):
		time.Sleep(time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pods[pod.UID] == nil {
		return errors.New("the pod is gone")
	}
	if on, ok := c.bound[pod.UID]; ok {
		c.t.Errorf("pod %s is bound to %s, and was to %s", pod.UID, node, on)
	}
	c.bound[pod.UID] = node
	p := onNode(pod, node)
	c.pods[pod.UID] = p
	c.send(lifecycle.Update(p))
	return nil
}

func (c *city) Evict(_ context.Context, victim, _ *api.Pod) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(victim.UID)
	return nil
}

// binds reports whether a pod was bound.
func (c *city) binds() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.bound) > 0
}

// leave deletes a pod. The lock is held.
func (c *city) leave(uid api.UID) {
	if p := c.pods[uid]; p != nil {
		delete(c.pods, uid)
		c.send(lifecycle.Delete(p))
	}
}

// steward randomly reserves, makes pods wait, rejects and allows them.
type steward struct {
	*city
	handle framework.Handle
}

func (steward) Name() string { return "steward" }

func (s steward) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	if s.chance(5) {
		return framework.UnschedulableStatus("not reserved")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved[c.Pod.Pod.UID] = true
	return framework.Status{}
}

func (s steward) Unreserve(c *framework.Cycle, _ *framework.NodeInfo) { s.release(c) }

func (s steward) PostBind(_ context.Context, c *framework.Cycle, _ string) { s.release(c) }

func (s steward) release(c *framework.Cycle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reserved, c.Pod.Pod.UID)
}

func (s steward) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	switch {
	case s.chance(5):
		return framework.UnschedulableStatus("not permitted"), 0
	case s.chance(40):
		return wait, 3 * time.Millisecond
	}
	return framework.Status{}, 0
}

func (s steward) PreBind(ctx context.Context, _ *framework.Cycle, _ string) framework.Status {
	switch {
	case s.chance(4):
		return framework.UnschedulableStatus("not prepared")
	case s.chance(4):
		return framework.AsStatus(ctx.Err())
	}
	return framework.Status{}
}

// PreBindPreFlight lets some pods skip PreBind.
func (s steward) PreBindPreFlight(context.Context, *framework.Cycle, string) (bool, framework.Status) {
	if s.chance(30) {
		return true, framework.SkipStatus()
	}
	return true, framework.Status{}
}

// judge allows and rejects waiting pods until ctx is done.
func (s steward) judge(ctx context.Context) {
	for ctx.Err() == nil {
		for _, w := range s.handle.WaitingPods() {
			switch {
			case s.chance(30):
				w.Allow("steward")
			case s.chance(10):
				w.Reject("steward", "judged")
			case s.chance(5):
				w.Preempt("steward", "judged")
			}
		}
		s.handle.Activate()
		time.Sleep(time.Millisecond)
	}
}

// live makes pods and nodes come and go until ctx is done.
func (c *city) live(ctx context.Context) {
	for serial := 0; ctx.Err() == nil; serial++ {
		c.mu.Lock()
		switch k := c.rng.IntN(100); {
		case k < 60 && len(c.pods) < 300:
			p := api.MakePod(fmt.Sprintf("p%d", serial)).UID(api.UID(fmt.Sprintf("u%d", serial))).
				Requests(fmt.Sprintf("%dm", 100+c.rng.IntN(900)), "1Mi").Priority(int32(c.rng.IntN(3))).Obj()
			c.pods[p.UID] = p
			c.send(lifecycle.Update(p))
		case k < 75 && len(c.pods) > 0:
			uids := slices.Sorted(maps.Keys(c.pods))
			c.leave(uids[c.rng.IntN(len(uids))])
		case k >= 95 || serial < 100:
			name := fmt.Sprintf("n%d", c.rng.IntN(60))
			node := api.MakeNode(name, "8", "32Gi").Obj()
			if c.nodes[name] {
				delete(c.nodes, name)
				c.send(lifecycle.Delete(node))
			} else {
				c.nodes[name] = true
				c.send(lifecycle.Update(node))
			}
		}
		c.mu.Unlock()
		if serial > 200 { // at first the city fills up
			time.Sleep(time.Millisecond)
		}
	}
}

// TestSoak runs the driver with 8 binding goroutines in a cluster where
// everything goes wrong now and then. Run it longer with -soak 10s -race.
func TestSoak(t *testing.T) {
	before := runtime.NumGoroutine()
	c := &city{
		t: t, events: make(chan lifecycle.Event, 1<<16), rng: rand.New(rand.NewPCG(1, 2)),
		pods: map[api.UID]*api.Pod{}, nodes: map[string]bool{},
		bound: map[api.UID]string{}, reserved: map[api.UID]bool{},
	}
	h := lifecycle.NewHandle()
	s := steward{c, h}
	p := scheduling.Kubernetes137()
	mine := []framework.Plugin{s}
	p.Reserve, p.Permit, p.PreBind, p.PostBind = append(p.Reserve, mine...), mine, mine, mine
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Binder: c, Clock: framework.ClockOf(time.Now, time.AfterFunc), Handle: h,
		Bindings: 8, Grace: 20 * time.Millisecond,
		ErrorHandler: func(err error) { c.problems = append(c.problems, err.Error()) },
	})
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		time.Sleep(*soakTime)
		for end := time.Now().Add(patience); !c.binds() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		cancel()
	})
	wg.Go(func() { c.live(ctx) })
	wg.Go(func() { s.judge(ctx) })
	if err := d.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v, want %v", err, context.Canceled)
	}
	wg.Wait()

	// Events that the pump had not delivered when it stopped.
	for len(c.events) > 0 {
		d.Apply(<-c.events)
	}
	d.Flush(context.Background())
	c.check(d, h)
	onlyLeft(t, before)
	t.Logf("%d pods were bound, %d are there, %d problems", len(c.bound), len(c.pods), len(c.problems))
}

// check compares the driver with the city at rest.
func (c *city) check(d *lifecycle.Driver, h framework.Handle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.t
	if len(c.bound) == 0 {
		t.Error("no pod was bound")
	}
	if len(c.problems) > 0 {
		t.Errorf("problems: %q", c.problems[:min(5, len(c.problems))])
	}
	if len(c.reserved) > 0 || len(h.WaitingPods()) > 0 {
		t.Errorf("%d pods are still reserved, %d wait", len(c.reserved), len(h.WaitingPods()))
	}
	pending := map[api.UID]bool{}
	for _, it := range d.Pending() {
		pending[it.Pod.Pod.UID] = true
	}
	if flying := d.QueueLength().InFlight; flying > 0 {
		t.Errorf("%d pods are still in flight", flying)
	}
	onNode := map[api.UID]string{}
	for _, n := range d.Snapshot().All() {
		if !c.nodes[n.Name()] {
			t.Errorf("node %s is gone", n.Name())
		}
		for _, p := range n.Pods {
			if on := onNode[p.Pod.UID]; on != "" {
				t.Errorf("pod %s is on %s and %s", p.Pod.UID, on, n.Name())
			}
			onNode[p.Pod.UID] = n.Name()
		}
	}
	for uid, p := range c.pods {
		switch node := p.Spec.NodeName; {
		case node == "" && !pending[uid]:
			t.Errorf("pod %s is lost", uid)
		case node != "" && pending[uid]:
			t.Errorf("pod %s is on %s and in the queue", uid, node)
		case node != "" && c.nodes[node] && onNode[uid] != node:
			t.Errorf("pod %s is on %q, want %s", uid, onNode[uid], node)
		case node == "" && onNode[uid] != "":
			t.Errorf("pod %s counts on %s and is not bound", uid, onNode[uid])
		}
		delete(pending, uid)
		delete(onNode, uid)
	}
	if len(pending)+len(onNode) > 0 {
		t.Errorf("pods that are gone: %v in the queue, %v on nodes", pending, onNode)
	}
}

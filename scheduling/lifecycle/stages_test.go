//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

type waiter struct {
	wait time.Duration
	h    *lifecycle.Handle
}

func (waiter) Name() string { return "waiter" }
func (w waiter) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	return framework.Status{}.WithCode(framework.Wait), w.wait
}

func (w waiter) PreBind(ctx context.Context, c *framework.Cycle, _ string) framework.Status {
	return framework.AsStatus(lifecycle.Await(ctx, func() error {
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		return nil
	}))
}

// TestPermitTimes: a Permit plugin asks to wait for no time, for less, or for ever.
func TestPermitTimes(t *testing.T) {
	for _, d := range []time.Duration{0, -1, math.MinInt64, math.MaxInt64, 1} {
		w := newWorld(t, scheduling.Profile{Permit: []framework.Plugin{waiter{wait: d}}})
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(api.MakePod("p").Requests("1", "1Gi"))
		w.all()
		for range 20 {
			w.pass(time.Minute)
		}
		if c := w.d.Counts(); len(w.bound) > 0 || c.Pods != 1 || c.Pending+c.Binding != 1 {
			t.Errorf("wait of %v: bound %v, %+v", d, w.bound, c)
		}
		w.noProblems()
	}
}

// TestEveryStage: real time, goroutines: binders that hang, fail and answer late,
// waiting pods that many goroutines allow and reject, pods and groups deleted at every
// stage, nodes that flap; at the end everything is at rest, and no goroutine is left.
func TestEveryStage(t *testing.T) {
	for seed := range uint64(3) {
		before := runtime.NumGoroutine()
		h := lifecycle.NewHandle()
		p := scheduling.Kubernetes137()
		wp := waiter{2 * time.Millisecond, h}
		p.Permit = append(p.Permit, wp)
		p.PreBind = append(p.PreBind, wp)
		var mu sync.Mutex
		rng := rand.New(rand.NewPCG(seed, 3))
		draw := func(n int) int { mu.Lock(); defer mu.Unlock(); return rng.IntN(n) }
		alive, truth := map[string]*api.Pod{}, map[string]string{}
		var d *lifecycle.Driver
		var problems []string
		bind := func(ctx context.Context, pod *api.Pod, node string) error {
			switch draw(12) {
			case 0:
				return errors.New("no")
			case 1:
				panic("no")
			case 2:
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(time.Duration(draw(5)) * time.Millisecond):
				}
			}
			mu.Lock()
			defer mu.Unlock()
			now := alive[pod.Name]
			if now == nil || now.UID != pod.UID || truth[string(pod.UID)] != "" {
				return errors.New("conflict")
			}
			truth[string(pod.UID)] = node
			bound := onNode(now, node)
			alive[pod.Name] = bound
			d.Apply(lifecycle.Update(bound))
			if rng.IntN(10) == 0 {
				return errors.New("the answer is lost")
			}
			return nil
		}
		var err error
		d, err = lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{p}, Bindings: 4, Grace: 50 * time.Millisecond, Handle: h, Groups: &groups.Rules{},
			Clock: framework.ClockOf(time.Now, time.AfterFunc), Binder: lifecycle.BinderFunc(bind),
			Backoff:      queue.Backoff{Initial: time.Millisecond, Max: 3 * time.Millisecond},
			ErrorHandler: func(err error) { problems = append(problems, err.Error()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- d.Run(ctx, nil) }()
		stop := make(chan bool)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					for _, w := range h.WaitingPods() {
						switch draw(6) {
						case 0, 1, 2:
							w.Allow("waiter")
						case 3:
							w.Reject("waiter", "no")
						case 4:
							w.Preempt("waiter", "no")
						}
					}
					time.Sleep(100 * time.Microsecond)
				}
			})
		}
		for i := range 6 {
			d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "16", "64Gi").Obj()))
		}
		for g := range 5 {
			d.Apply(lifecycle.Update(podGroup(fmt.Sprint("g", g), 2, 0)))
		}
		for i := range 4000 {
			name := fmt.Sprint("p", draw(150))
			mu.Lock()
			old := alive[name]
			mu.Unlock()
			if old != nil && draw(2) == 0 {
				mu.Lock()
				old = alive[name]
				delete(alive, name)
				d.Apply(lifecycle.Delete(old))
				mu.Unlock()
			} else if old == nil {
				b := api.MakePod(name).Namespace("default").UID(api.UID(fmt.Sprint("u", i))).Requests("500m", "1Gi").Obj()
				if draw(3) == 0 {
					g := fmt.Sprint("g", draw(5))
					b.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &g}
				}
				mu.Lock()
				alive[name] = b
				d.Apply(lifecycle.Update(b))
				mu.Unlock()
			}
			if draw(40) == 0 {
				n := api.MakeNode(fmt.Sprint("n", draw(6)), "16", "64Gi").Obj()
				d.Apply(lifecycle.Delete(n), lifecycle.Update(n))
			}
			if draw(4) == 0 {
				time.Sleep(50 * time.Microsecond)
			}
		}
		time.Sleep(300 * time.Millisecond)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(stop)
		wg.Wait()
		mu.Lock()
		for _, q := range alive { // a list
			d.Apply(lifecycle.Update(q))
		}
		d.Flush(context.Background())
		c := d.Counts()
		wrong, seen := 0, 0
		for _, n := range d.Snapshot().All() {
			for _, q := range n.Pods {
				seen++
				if now := alive[q.Pod.Name]; now == nil || now.UID != q.Pod.UID || now.Spec.NodeName != n.Name() {
					wrong++
				}
			}
		}
		bound := 0
		for _, q := range alive {
			if q.Spec.NodeName != "" {
				bound++
			}
		}
		t.Logf("seed %d: %d alive, %d bound, %+v, %d problems, waiting %d", seed, len(alive), bound, c, len(problems), len(h.WaitingPods()))
		if wrong > 0 || seen != bound || c.Pods != len(alive) || c.Binding > 0 || c.Assumed > 0 || len(h.WaitingPods()) > 0 || c.Queue.InFlight > 0 {
			t.Errorf("seed %d: %d wrong, %d on nodes, %d bound of %d: %+v", seed, wrong, seen, bound, len(alive), c)
		}
		mu.Unlock()
		time.Sleep(50 * time.Millisecond)
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("seed %d: %d goroutines, %d before", seed, n, before)
		}
	}
}

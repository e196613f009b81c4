package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// hostility is what one user does with groups to get many attempts. The binder refuses pods
// with names that begin with "bad".
type hostility struct {
	name  string
	begin []lifecycle.Event
	step  func(i int) []lifecycle.Event // nil: nothing
	// fresh is set if the only pod of a group is new every few steps. It has a right to an
	// attempt at once, and to no more.
	fresh bool
}

func hostilities() []hostility {
	update, gone := lifecycle.Update[api.Pod], lifecycle.Delete[api.Pod]
	object := podGroup("g", 1, 0)
	bad := func(i int) *api.Pod { return groupPod(fmt.Sprint("bad-", i), "g", "1m", 0) }
	gated := groupPod("gated", "g", "1m", 0)
	gated.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "example.com/hold"}}
	refused := []lifecycle.Event{lifecycle.Update(object), update(bad(0))}
	noRoom := []lifecycle.Event{lifecycle.Update(object), update(groupPod("large", "g", "9999", 0))}
	turns := func(on, off lifecycle.Event) func(int) []lifecycle.Event {
		return func(i int) []lifecycle.Event { return []lifecycle.Event{[]lifecycle.Event{on, off}[i%2]} }
	}
	aGate := turns(update(gated), gone(gated))
	anObject := turns(lifecycle.Delete(object), lifecycle.Update(object))
	return []hostility{
		{"the binder refuses", refused, nil, false},
		{"the binder refuses, a gated pod comes and goes", refused, aGate, false},
		{"no room, a gated pod comes and goes", noRoom, aGate, false},
		{"the binder refuses, the object comes and goes", refused, anObject, false},
		{"no room, the object comes and goes", noRoom, anObject, false},
		{"the binder refuses, other pods come and go", refused, func(i int) []lifecycle.Event {
			list := []lifecycle.Event{update(bad(i + 1))}
			if i > 0 {
				list = append(list, gone(bad(i)))
			}
			return list
		}, false},
		{"the only pod comes and goes", refused[:1], func(i int) []lifecycle.Event {
			p := bad(i / 2)
			return turns(update(p), gone(p))(i)
		}, true},
		{"new groups come and go", nil, func(i int) []lifecycle.Event {
			at := func(i int) (*api.PodGroup, *api.Pod) {
				name := fmt.Sprint("g", i)
				return podGroup(name, 1, 0), groupPod("bad-"+name, name, "1m", 0)
			}
			g, p := at(i)
			oldGroup, oldPod := at(i - 1)
			return []lifecycle.Event{gone(oldPod), lifecycle.Delete(oldGroup), lifecycle.Update(g), update(p)}
		}, true},
	}
}

// hostileWorld is a driver with a hostile user of groups.
type hostileWorld struct {
	d        *lifecycle.Driver
	attempts atomic.Int64 // for groups
	early    atomic.Int64 // of these
	binds    atomic.Bool  // bindings of a group are under way
	bound    chan string
}

func newHostileWorld(t *testing.T, h hostility, clock framework.Clock, bindings int) *hostileWorld {
	t.Helper()
	w := &hostileWorld{bound: make(chan string, 1)}
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Groups: &groups.Rules{}, Clock: clock, Bindings: bindings, Observer: w,
		Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, node string) error {
			if strings.HasPrefix(p.Name, "bad") {
				return errors.New("refused")
			}
			w.d.Apply(lifecycle.Update(onNode(p, node)))
			w.bound <- p.Name
			return nil
		}),
		ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.d = d
	d.Apply(lifecycle.Update(api.MakeNode("n", "64", "64Gi").Obj()))
	d.Apply(h.begin...)
	return w
}

// Attempt counts the attempts for groups. As long as bindings of the group are under way and none has failed, pods
// that come are tried at once, with reason: these attempts are early.
func (w *hostileWorld) Attempt(a *lifecycle.Attempt) {
	switch {
	case a.Cycle != nil:
		w.attempts.Add(1)
		if w.binds.Swap(a.State == lifecycle.Binding) {
			w.early.Add(1)
		}
	case strings.HasPrefix(a.Pod.Pod.Name, "bad"): // its binding has failed
		w.binds.Store(false)
	}
}

func innocent(i int) *api.Pod {
	return api.MakePod(fmt.Sprint("innocent-", i)).Requests("1", "1Gi").Obj()
}

// TestHostileGroups: ten times a second a user changes groups, four times each, and an
// innocent pod comes.
// The groups are tried at the pace of their backoff, or once for each new one. The innocent
// pod is always bound by the first attempt for it, and no other attempts are made.
func TestHostileGroups(t *testing.T) {
	ctx := context.Background()
	rounds := effort.Of(300, 5000)
	if testing.Short() && effort.Full() { // as under the race detector
		rounds = 1000
	}
	for _, h := range hostilities() {
		t.Run(h.name, func(t *testing.T) {
			clock := virtualclock.New(epoch)
			w := newHostileWorld(t, h, clock, 0)
			all, innocents := 0, 0
			settle := func() {
				for here := 0; ; here++ {
					a, ok := w.d.ScheduleOne(ctx)
					if !ok {
						return
					}
					if a.Group == "" {
						innocents++
					}
					if all++; here > 3 {
						t.Fatalf("more than %d attempts at one instant", here)
					}
				}
			}
			settle()
			steps := 4 * rounds
			for i := range rounds {
				clock.Advance(100 * time.Millisecond)
				for k := range 4 {
					if h.step != nil {
						w.d.Apply(h.step(4*i + k)...)
						settle()
					}
				}
				w.d.Apply(lifecycle.Update(innocent(i)))
				settle()
				if got := <-w.bound; got != innocent(i).Name || innocents != i+1 {
					t.Fatalf("%d attempts for innocent pods, the last bound is %s, want %d and %s", innocents, got, i+1, innocent(i).Name)
				}
				w.d.Apply(lifecycle.Delete(innocent(i)))
			}
			seconds := rounds / 10
			least, most := seconds/16, seconds/10+6 // every 10 to 15 s; backoffs begin with 1 s
			if h.fresh {
				least, most = steps/2, steps
			}
			if n := int(w.attempts.Load()); n < least || n > most || n+innocents != all {
				t.Errorf("%d attempts for groups in %d s and %d steps, want %d to %d; %d of %d are for innocent pods", n, seconds, steps, least, most, innocents, all)
			}
		})
	}
}

// TestHostileGroupsInRealTime is the same, all at once, while real time passes and bindings
// have goroutines of their own: between two attempts for a group lies a second or more. An
// innocent pod that leaves may help a group that has no room, and like a single pod that one
// may then be tried early.
func TestHostileGroupsInRealTime(t *testing.T) {
	if !effort.Full() {
		t.Skip("waits for real time")
	}
	var all sync.WaitGroup
	for _, h := range hostilities() {
		all.Go(func() {
			begin := time.Now()
			w := newHostileWorld(t, h, realClock, 4)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- w.d.Run(ctx, nil) }()
			steps, innocents := 0, 0
			for time.Since(begin) < 2500*time.Millisecond || w.attempts.Load() < 2 && time.Since(begin) < patience {
				w.d.Apply(lifecycle.Update(innocent(innocents)))
				for range 41 { // odd, so that a pod is there for a while
					if h.step != nil {
						w.d.Apply(h.step(steps)...)
					}
					steps++
				}
				select {
				case <-w.bound:
				case <-time.After(patience):
					t.Errorf("%s: innocent pod %d is not bound", h.name, innocents)
					return
				}
				w.d.Apply(lifecycle.Delete(innocent(innocents)))
				innocents++
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: Run: %v", h.name, err)
			}
			seconds := time.Since(begin).Seconds()
			most := 1 + int(seconds)
			switch {
			case h.fresh:
				most = steps
			case strings.HasPrefix(h.name, "no room"):
				most += innocents
			}
			n := int(w.attempts.Load())
			early := int(w.early.Load())
			t.Logf("%s: %d steps and %d innocent pods in %.1f s, %d attempts for groups, %d of them early", h.name, steps, innocents, seconds, n, early)
			if n < 2 || n-early > most {
				t.Errorf("%s: %d attempts for groups in %.1f s, want 2 to %d", h.name, n, seconds, most)
			}
		})
	}
	all.Wait()
}

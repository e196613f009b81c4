package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
	"pgregory.net/rapid"
)

// truth is the cluster as the outside world sees it.
type truth struct {
	d     *lifecycle.Driver
	clock *virtualclock.Clock
	nodes map[string]*api.Node
	pods  map[string]*api.Pod // by name; spec.nodeName as the events said
	ours  map[api.UID]string  // bound by the driver and not confirmed yet, with the node

	bound    map[api.UID]string // by the driver, ever
	reserved map[api.UID]string
	errors   []string
	failBind bool
	serial   int
}

func (w *truth) fault(format string, args ...any) {
	w.errors = append(w.errors, fmt.Sprintf(format, args...))
}

func (w *truth) Bind(_ context.Context, pod *api.Pod, node string) error {
	if w.failBind {
		w.failBind = false
		return errors.New("the binder fails")
	}
	now := w.pods[pod.Name]
	if now == nil || now.UID != pod.UID {
		return errors.New("no such pod")
	}
	if now.Spec.NodeName != "" {
		return errors.New("conflict: the pod is on a node")
	}
	if on, ok := w.bound[pod.UID]; ok {
		w.fault("pod %s is bound to %s, and was to %s", pod.UID, node, on)
	}
	if w.reserved[pod.UID] != node {
		w.fault("pod %s is bound to %s, reserved is %q", pod.UID, node, w.reserved[pod.UID])
	}
	w.bound[pod.UID], w.ours[pod.UID] = node, node
	return nil
}

// ledger is a Reserve plugin that records reservations, and a Permit plugin that
// makes pods wait if they ask for it.
type ledger struct{ *truth }

func (ledger) Name() string { return "ledger" }

func (l ledger) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	uid := c.Pod.Pod.UID
	if on, ok := l.reserved[uid]; ok {
		l.fault("pod %s reserves on %s, and has on %s", uid, n.Name(), on)
	}
	if c.Pod.Pod.Labels["reserve"] == "no" {
		return framework.UnschedulableStatus("not reserved")
	}
	l.reserved[uid] = n.Name()
	return framework.Status{}
}

func (l ledger) Unreserve(c *framework.Cycle, _ *framework.NodeInfo) {
	delete(l.reserved, c.Pod.Pod.UID)
}

func (l ledger) Permit(_ context.Context, c *framework.Cycle, _ string) (framework.Status, time.Duration) {
	switch c.Pod.Pod.Labels["permit"] {
	case "no":
		return framework.UnschedulableStatus("not permitted"), 0
	case "wait":
		return wait, 20 * time.Second
	}
	return framework.Status{}, 0
}

func (l ledger) PostBind(_ context.Context, c *framework.Cycle, node string) {
	if l.reserved[c.Pod.Pod.UID] != node {
		l.fault("pod %s: PostBind on %s, reserved is %q", c.Pod.Pod.UID, node, l.reserved[c.Pod.Pod.UID])
	}
	delete(l.reserved, c.Pod.Pod.UID)
}

func ledgerProfile(w *truth) scheduling.Profile {
	p := scheduling.Kubernetes137()
	l := []framework.Plugin{ledger{w}}
	p.Reserve, p.Permit, p.PostBind = append(p.Reserve, l...), l, l
	return p
}

// TestDriverStateMachine runs random histories and compares the driver with the
// truth after every step.
func TestDriverStateMachine(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		w := &truth{
			clock: virtualclock.New(epoch), nodes: map[string]*api.Node{}, pods: map[string]*api.Pod{},
			ours: map[api.UID]string{}, bound: map[api.UID]string{}, reserved: map[api.UID]string{},
		}
		h := lifecycle.NewHandle()
		second := ledgerProfile(w)
		second.Name = "second"
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{ledgerProfile(w), second}, Binder: w, Clock: w.clock, Handle: h,
			ErrorHandler: func(err error) { w.fault("problem: %v", err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		w.d = d
		put := func(p *api.Pod) {
			w.pods[p.Name] = p
			d.Apply(lifecycle.Update(p))
		}
		aPod := func(when func(*api.Pod) bool) *api.Pod {
			var list []*api.Pod
			for _, name := range slices.Sorted(maps.Keys(w.pods)) {
				if p := w.pods[name]; when == nil || when(p) {
					list = append(list, p)
				}
			}
			if len(list) == 0 {
				t.Skip("no such pod")
			}
			return rapid.SampledFrom(list).Draw(t, "pod")
		}
		nodeName := func() string { return fmt.Sprintf("n%d", rapid.IntRange(0, 4).Draw(t, "node")) }
		forget := func(p *api.Pod) {
			delete(w.pods, p.Name)
			delete(w.ours, p.UID)
		}
		t.Repeat(map[string]func(*rapid.T){
			"node comes or changes": func(t *rapid.T) {
				cpu := rapid.SampledFrom([]string{"1", "2", "4"}).Draw(t, "cpu")
				n := api.MakeNode(nodeName(), cpu, "8Gi").Obj()
				w.nodes[n.Name] = n
				d.Apply(lifecycle.Update(n))
			},
			"node goes": func(t *rapid.T) {
				n := api.MakeNode(nodeName(), "1", "1Gi").Obj()
				delete(w.nodes, n.Name)
				d.Apply(lifecycle.Delete(n))
			},
			"pod comes": func(t *rapid.T) {
				w.serial++
				b := api.MakePod(fmt.Sprintf("p%d", rapid.IntRange(0, 15).Draw(t, "name"))).
					UID(api.UID(fmt.Sprintf("u%d", w.serial))).
					Requests(rapid.SampledFrom([]string{"300m", "700m", "1500m"}).Draw(t, "cpu"), "1Mi").
					Scheduler(rapid.SampledFrom([]string{"", "second", "foreign"}).Draw(t, "scheduler"))
				switch rapid.IntRange(0, 7).Draw(t, "kind") {
				case 0:
					b = b.Labels("permit", "no")
				case 1, 2:
					b = b.Labels("permit", "wait")
				case 3:
					b = b.Labels("reserve", "no")
				case 4:
					b = b.Gates("shut")
				}
				p := b.Obj()
				if old := w.pods[p.Name]; old != nil {
					forget(old)
				}
				put(p)
			},
			"pod goes": func(t *rapid.T) {
				p := aPod(nil)
				forget(p)
				d.Apply(lifecycle.Delete(p))
			},
			"pod ends": func(t *rapid.T) {
				p := aPod(func(p *api.Pod) bool { return p.Spec.NodeName != "" })
				forget(p)
				p = api.Clone(p)
				p.Status.Phase = api.PodSucceeded
				d.Apply(lifecycle.Update(p))
			},
			"pod changes": func(t *rapid.T) {
				p := api.Clone(aPod(nil))
				p.Labels = map[string]string{"k": rapid.StringMatching("[a-c]").Draw(t, "label")}
				p.Spec.SchedulingGates = nil
				put(p)
			},
			"confirm": func(t *rapid.T) {
				p := aPod(func(p *api.Pod) bool { return w.ours[p.UID] != "" })
				node := w.ours[p.UID]
				delete(w.ours, p.UID)
				put(onNode(p, node))
			},
			"someone else binds": func(t *rapid.T) {
				p := aPod(func(p *api.Pod) bool { return p.Spec.NodeName == "" && w.ours[p.UID] == "" })
				put(onNode(p, nodeName()))
			},
			"decide": func(t *rapid.T) {
				list := h.WaitingPods()
				if len(list) == 0 {
					t.Skip("nobody waits")
				}
				p := rapid.SampledFrom(list).Draw(t, "waiting")
				if rapid.Bool().Draw(t, "allow") {
					p.Allow("ledger")
				} else {
					p.Reject("ledger", "no")
				}
			},
			"time": func(t *rapid.T) {
				w.clock.Advance(time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second)
			},
			"binder fails": func(*rapid.T) { w.failBind = true },
			"schedule": func(t *rapid.T) {
				a, ok := d.ScheduleOne(ctx)
				if ok && (a.State == lifecycle.Bound || a.State == lifecycle.Waiting) {
					w.fits(a)
				}
			},
			"": func(t *rapid.T) {
				d.Flush(ctx)
				w.compare(h)
				if len(w.errors) > 0 {
					t.Fatal(w.errors)
				}
			},
		})
	})
}

// fits checks the node right after a decision.
func (w *truth) fits(a lifecycle.Attempt) {
	n := w.d.Snapshot().Node(a.Decision.Node)
	for i, x := range n.Requested {
		if x > n.Allocatable.At(i) {
			w.fault("pod %s was placed on %s, which gives %d of resource %d and was asked for %d", a.Pod.Pod.UID, n.Name(), n.Allocatable.At(i), i, x)
		}
	}
}

// compare derives from the truth what the driver must hold.
func (w *truth) compare(h *lifecycle.Handle) {
	waiting := map[api.UID]string{}
	for _, p := range h.WaitingPods() {
		waiting[p.Pod().Pod.UID] = p.Node()
	}
	if !maps.Equal(waiting, w.reserved) {
		w.fault("reserved is %v, and the pods that wait are %v", w.reserved, waiting)
	}
	pending := map[api.UID]bool{}
	for _, it := range w.d.Pending() {
		pending[it.Pod.Pod.UID] = true
	}
	want := map[string][]string{}
	counts := lifecycle.Counts{Nodes: len(w.nodes), Pods: len(w.pods), Queue: w.d.Counts().Queue}
	for _, p := range w.pods {
		node := p.Spec.NodeName
		for _, guess := range []string{w.ours[p.UID], waiting[p.UID]} {
			if node == "" {
				node = guess
			}
		}
		// No pod is lost, and no pod with a node is tried.
		mine := p.Spec.SchedulerName != "foreign"
		inQueue := mine && p.Spec.NodeName == "" && w.ours[p.UID] == ""
		if pending[p.UID] != inQueue && waiting[p.UID] == "" {
			w.fault("pod %s: in the queue %t, want %t (%+v)", p.UID, pending[p.UID], inQueue, p.Spec)
		}
		switch {
		case w.nodes[node] != nil:
			want[node] = append(want[node], string(p.UID))
			counts.Assigned++
			if p.Spec.NodeName == "" {
				counts.Assumed++
			}
		case node != "":
			counts.UnknownNode++
		case mine:
			counts.Pending++
		default:
			counts.OtherSchedulers++
		}
	}
	if got := w.d.Counts(); got != counts {
		w.fault("Counts() = %+v, want %+v", got, counts)
	}
	s := w.d.Snapshot()
	if s.Len() != len(w.nodes) {
		w.fault("the snapshot has %d nodes, want %d", s.Len(), len(w.nodes))
	}
	for name, node := range w.nodes {
		n := s.Node(name)
		if n == nil || n.Node != node {
			w.fault("node %s is not the one of the last event", name)
			continue
		}
		var have []string
		var sum resource.Vector
		for _, p := range n.Pods {
			have = append(have, string(p.Pod.UID))
			sum = sum.Add(p.UsedRequests)
		}
		slices.Sort(have)
		slices.Sort(want[name])
		if !slices.Equal(have, want[name]) {
			w.fault("node %s holds %v, want %v", name, have, want[name])
		}
		if !sum.Equal(n.Requested) {
			w.fault("node %s: requested %v, want %v", name, n.Requested, sum)
		}
	}
}

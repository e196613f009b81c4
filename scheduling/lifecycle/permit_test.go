package lifecycle_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

var wait = framework.NewStatus(framework.Wait, nil)

// waitWorld has one pod on its node, waiting for plugins with the given times.
func waitWorld(t *testing.T, calls *[]string, timeouts map[string]time.Duration) *world {
	t.Helper()
	answers := map[string]framework.Status{}
	var names []string
	for _, name := range []string{"a", "b", "c"} {
		if _, ok := timeouts[name]; ok {
			answers["Permit "+name] = wait
		}
		names = append(names, name)
	}
	profile := probes(calls, answers, timeouts, names...)
	for i, p := range profile.Permit {
		profile.Permit[i] = deaf{p.(probe)}
		profile.Reserve[i] = deaf{p.(probe)}
	}
	profile.Bind = nil
	w := newWorld(t, profile)
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("p").UID("u").Requests("1", "1Gi"))
	if a := w.one(); a.State != lifecycle.Waiting {
		t.Fatalf("state %v, want Waiting", a.State)
	}
	w.wantOn("n", "p")
	*calls = nil
	return w
}

// TestPermitTimesOut: the shortest time decides, and none is longer than 15 minutes.
func TestPermitTimesOut(t *testing.T) {
	for _, tt := range []struct {
		name     string
		timeouts map[string]time.Duration
		after    time.Duration
		message  string
	}{
		{"one", map[string]time.Duration{"b": 10 * time.Second}, 10 * time.Second, "rejected due to timeout after waiting 10s at plugin b"},
		{
			"the shortest",
			map[string]time.Duration{"a": time.Minute, "b": 20 * time.Second, "c": time.Hour},
			20 * time.Second,
			"rejected due to timeout after waiting 20s at plugin b",
		},
		{"the longest", map[string]time.Duration{"c": time.Hour}, 15 * time.Minute, "rejected due to timeout after waiting 15m0s at plugin c"},
		{"none", map[string]time.Duration{"a": 0}, 0, "rejected due to timeout after waiting 0s at plugin a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []string
			w := waitWorld(t, &calls, tt.timeouts)
			if tt.after > 0 {
				w.pass(tt.after - time.Nanosecond)
				w.wantOn("n", "p")
				w.depth(queue.Length{InFlight: 1})
			}
			w.pass(time.Nanosecond)
			w.wantOn("n")
			w.depth(queue.Length{Unschedulable: 1})
			if diff := cmp.Diff([]string{"Unreserve c", "Unreserve b", "Unreserve a"}, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			want := "p Unschedulable 0/1 nodes are available: 1 " + tt.message + `. nominated ""`
			if got := w.reports[len(w.reports)-1]; got != want {
				t.Errorf("report %q, want %q", got, want)
			}
			if len(w.handle.WaitingPods()) != 0 {
				t.Error("the pod still waits")
			}
			w.noProblems()
		})
	}
}

// TestPermitDecisions: waiting pods can be listed, allowed and rejected; the first
// decision counts.
func TestPermitDecisions(t *testing.T) {
	times := map[string]time.Duration{"a": time.Minute, "b": 2 * time.Minute}
	t.Run("allow", func(t *testing.T) {
		var calls []string
		w := waitWorld(t, &calls, times)
		p := w.handle.WaitingPod("u")
		if p == nil || p.Pod().Pod.Name != "p" || p.Node() != "n" {
			t.Fatalf("WaitingPod(u) = %v", p)
		}
		steps := []struct {
			allow   string
			pending []string
		}{{"b", []string{"a"}}, {"b", []string{"a"}}, {"c", []string{"a"}}, {"a", []string{}}}
		for _, s := range steps {
			w.depth(queue.Length{InFlight: 1})
			p.Allow(s.allow)
			if diff := cmp.Diff(s.pending, p.Pending()); diff != "" {
				t.Errorf("after Allow(%s), Pending() (-want +got):\n%s", s.allow, diff)
			}
			w.d.Flush(w.ctx)
		}
		if p.Reject("a", "too late") || p.Preempt("a", "too late") {
			t.Error("a decision was taken back")
		}
		if diff := cmp.Diff([]string{"PreBind a", "PreBind b", "PreBind c", "PostBind a", "PostBind b", "PostBind c"}, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if w.bound["p"] != "n" || len(w.handle.WaitingPods()) != 0 {
			t.Errorf("bound %v, %d waiting", w.bound, len(w.handle.WaitingPods()))
		}
		w.pass(time.Hour) // the timers are stopped
		w.wantOn("n", "p")
		w.depth(queue.Length{})
		w.noProblems()
	})
	t.Run("allowed by one", func(t *testing.T) { // whose time then means nothing
		var calls []string
		w := waitWorld(t, &calls, times)
		w.handle.WaitingPod("u").Allow("a")
		w.pass(90 * time.Second)
		w.wantOn("n", "p")
		w.handle.WaitingPod("u").Allow("b")
		w.d.Flush(w.ctx)
		if w.bound["p"] != "n" {
			t.Errorf("bound %v, want p to n", w.bound)
		}
		w.noProblems()
	})
	t.Run("reject", func(t *testing.T) {
		var calls []string
		w := waitWorld(t, &calls, times)
		p := w.handle.WaitingPods()[0]
		p.Allow("a")
		if !p.Reject("b", "changed my mind") || p.Reject("b", "again") {
			t.Error("rejecting must work once")
		}
		p.Allow("b")
		w.d.Flush(w.ctx)
		w.wantOn("n")
		w.depth(queue.Length{Unschedulable: 1})
		if w.d.Pending()[0].Plugins[0] != "b" {
			t.Errorf("rejected by %v, want b", w.d.Pending()[0].Plugins)
		}
	})
	t.Run("preempt", func(t *testing.T) {
		var calls []string
		w := waitWorld(t, &calls, times)
		if !w.handle.WaitingPod("u").Preempt("Preemptor", "for another") {
			t.Error("Preempt was refused")
		}
		w.d.Flush(w.ctx)
		w.wantOn("n")
		w.depth(queue.Length{Backoff: 1})
		want := `p SchedulerError waiting on permit for pod: for another nominated ""`
		if got := w.reports[len(w.reports)-1]; got != want {
			t.Errorf("report %q, want %q", got, want)
		}
	})
	t.Run("the pod is deleted", func(t *testing.T) {
		var calls []string
		w := waitWorld(t, &calls, times)
		w.d.Apply(lifecycle.Delete(api.MakePod("p").UID("u").Obj()))
		w.d.Flush(w.ctx)
		w.wantOn("n")
		w.depth(queue.Length{})
		if diff := cmp.Diff([]string{"Unreserve c", "Unreserve b", "Unreserve a"}, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		w.noProblems()
	})
	t.Run("unknown", func(t *testing.T) {
		var calls []string
		w := waitWorld(t, &calls, times)
		if p := w.handle.WaitingPod("default/p"); p != nil {
			t.Errorf("WaitingPod of a key found %v although the pod has a UID", p)
		}
	})
}

// TestNodeLeavesWhilePodWaits: the pod continues to wait. If it is bound, it counts
// again as soon as the node is back; if it fails, nothing is left anywhere.
func TestNodeLeavesWhilePodWaits(t *testing.T) {
	node := api.MakeNode("n", "4", "8Gi")
	times := map[string]time.Duration{"a": time.Minute}
	for _, back := range []string{"never", "before", "after"} {
		for _, allow := range []bool{true, false} {
			t.Run(fmt.Sprintf("back %s/allow %t", back, allow), func(t *testing.T) {
				var calls []string
				w := waitWorld(t, &calls, times)
				w.d.Apply(lifecycle.Delete(node.Obj()))
				w.d.Flush(w.ctx)
				if back == "before" {
					w.nodes(node)
					w.d.Flush(w.ctx)
					w.wantOn("n", "p")
				}
				p := w.handle.WaitingPod("u")
				want := []string{"PreBind a", "PreBind b", "PreBind c", "PostBind a", "PostBind b", "PostBind c"}
				if allow {
					p.Allow("a")
				} else {
					p.Reject("a", "no")
					want = []string{"Unreserve c", "Unreserve b", "Unreserve a"}
				}
				w.d.Flush(w.ctx)
				if diff := cmp.Diff(want, calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if back == "after" {
					w.nodes(node)
					w.d.Flush(w.ctx)
				}
				switch {
				case back == "never" && w.d.Snapshot().Len() > 0:
					t.Error("the node is there")
				case back == "never":
				case allow:
					w.wantOn("n", "p")
				default:
					w.wantOn("n")
				}
				w.noProblems()
			})
		}
	}
}

// TestNodeLeavesWhileClaimWaits: a pod that fails after its node has left releases
// the reservation for its claim and is placed elsewhere.
func TestNodeLeavesWhileClaimWaits(t *testing.T) {
	var calls []string
	profile := scheduling.Kubernetes137()
	profile.Permit = probes(&calls, map[string]framework.Status{"Permit a": wait}, map[string]time.Duration{"a": time.Minute}, "a").Permit
	w := newWorld(t, profile)
	late := api.VolumeBindingWaitForFirstConsumer
	claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c", UID: "uc"}}
	claim.Spec.StorageClassName = new("csi")
	claim.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
	claim.Spec.Resources.Requests = resource.List{resource.Storage: resource.MustParse("1Gi")}
	w.d.Apply(
		lifecycle.Update(&api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "csi"}, Provisioner: "csi", VolumeBindingMode: &late}),
		lifecycle.Update(claim),
	)
	node := api.MakeNode("n", "4", "8Gi")
	w.nodes(node)
	w.pods(api.MakePod("p").UID("u").Requests("1", "1Gi").Claim("c"))
	wantSelected := func(want string) {
		t.Helper()
		c := framework.Lookup[api.PersistentVolumeClaim](w.d.Snapshot(), "default/c")
		if got := c.Annotations[api.AnnSelectedNode]; got != want {
			t.Errorf("node %q is selected for the claim, want %q", got, want)
		}
	}
	if a := w.one(); a.State != lifecycle.Waiting {
		t.Fatalf("state %v, want Waiting", a.State)
	}
	wantSelected("n")
	w.d.Apply(lifecycle.Delete(node.Obj()))
	w.d.Flush(w.ctx)
	wantSelected("n")
	w.handle.WaitingPod("u").Reject("a", "no")
	w.d.Flush(w.ctx)
	wantSelected("")
	w.nodes(api.MakeNode("other", "4", "8Gi"))
	w.pass(10 * time.Minute)
	if a := w.one(); a.State != lifecycle.Waiting || a.Decision.Node != "other" {
		t.Fatalf("state %v on node %q (%v), want Waiting on other", a.State, a.Decision.Node, a.Err)
	}
	wantSelected("other")
	w.handle.WaitingPod("u").Allow("a")
	w.d.Flush(w.ctx)
	w.d.Apply(lifecycle.Delete(w.d.Snapshot().Node("other").Pods[0].Pod))
	w.d.Flush(w.ctx)
	wantSelected("other") // the pod was bound, so it no longer releases its claim
	w.noProblems()
}

// TestBoundElsewhereWhilePodWaits: the decision of Permit comes too late, and the
// driver binds nothing.
func TestBoundElsewhereWhilePodWaits(t *testing.T) {
	for _, first := range []string{"event", "allow"} {
		t.Run(first+" first", func(t *testing.T) {
			var calls []string
			w := waitWorld(t, &calls, map[string]time.Duration{"a": time.Minute})
			w.nodes(api.MakeNode("other", "4", "8Gi"))
			w.d.Flush(w.ctx)
			waiting := w.handle.WaitingPod("u")
			event := lifecycle.Update(onNode(waiting.Pod().Pod, "other"))
			if first == "event" {
				w.d.Apply(event)
				w.d.Flush(w.ctx)
				waiting.Allow("a")
			} else {
				w.d.Apply(event)
				waiting.Allow("a")
			}
			w.d.Flush(w.ctx)
			if diff := cmp.Diff([]string{"Unreserve c", "Unreserve b", "Unreserve a"}, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			w.wantOn("n")
			w.wantOn("other", "p")
			w.depth(queue.Length{})
			w.noProblems()
		})
	}
}

// TestPermitRace: however many goroutines act at once, one decision is made and
// carried out once.
func TestPermitRace(t *testing.T) {
	for i := range 50 {
		var calls []string
		w := waitWorld(t, &calls, map[string]time.Duration{"a": time.Minute, "b": time.Minute})
		p := w.handle.WaitingPod("u")
		var wg sync.WaitGroup
		var mu sync.Mutex
		rejected := 0
		for g := range 8 {
			wg.Go(func() {
				switch (g + i) % 4 {
				case 0:
					p.Allow("a")
				case 1:
					p.Allow("b")
				case 2:
					if p.Reject("a", "no") {
						mu.Lock()
						defer mu.Unlock()
						rejected++
					}
				default:
					w.clock.Advance(time.Minute)
				}
			})
		}
		wg.Wait()
		w.d.Flush(w.ctx)
		bound := w.bound["p"] != ""
		if bound && rejected > 0 || rejected > 1 {
			t.Fatalf("bound %t and rejected %d times", bound, rejected)
		}
		unreserved := 0
		for _, c := range calls {
			if c == "Unreserve a" {
				unreserved++
			}
		}
		if bound == (unreserved > 0) || unreserved > 1 {
			t.Fatalf("bound %t, unreserved %d times", bound, unreserved)
		}
	}
}

// gang lets pods of one label wait for each other: the last one allows all.
type gang struct {
	handle framework.Handle
	size   int
}

func (gang) Name() string { return "gang" }

func (g gang) Permit(_ context.Context, c *framework.Cycle, _ string) (framework.Status, time.Duration) {
	var mates []framework.WaitingPod
	for _, w := range g.handle.WaitingPods() {
		if w.Pod().Pod.Labels["gang"] == c.Pod.Pod.Labels["gang"] {
			mates = append(mates, w)
		}
	}
	if len(mates)+1 < g.size {
		return wait, time.Minute
	}
	for _, m := range mates {
		m.Allow("gang")
	}
	return framework.Status{}, 0
}

func TestGangThroughTheHandle(t *testing.T) {
	h := lifecycle.NewHandle()
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{{Permit: []framework.Plugin{gang{h, 3}}}}}, h)
	w.nodes(api.MakeNode("n", "8", "8Gi"))
	for i := range 3 {
		w.pods(api.MakePod(fmt.Sprint("p", i)).Labels("gang", "x"))
	}
	var states []lifecycle.State
	for _, a := range w.all() {
		states = append(states, a.State)
	}
	if diff := cmp.Diff([]lifecycle.State{lifecycle.Waiting, lifecycle.Waiting, lifecycle.Bound}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if len(w.bound) != 3 {
		t.Errorf("bound %v", w.bound)
	}
	if h.Snapshot() != w.d.Snapshot() || h.Clock() != framework.Clock(w.clock) {
		t.Error("the handle shows another snapshot or clock")
	}
}

func TestHandleWithoutDriver(t *testing.T) {
	h := lifecycle.NewHandle()
	pod := api.MakePod("p").Obj()
	h.Nominate(pod, "n")
	h.Activate(pod)
	if h.Snapshot() != nil || h.Clock() != nil || h.Seed() != 0 || h.WaitingPods() != nil || h.WaitingPod("x") != nil {
		t.Error("a handle without a driver shows something")
	}
	if err := h.Bind(context.Background(), pod, "n"); err != lifecycle.ErrNotConnected {
		t.Errorf("Bind: %v", err)
	}
}

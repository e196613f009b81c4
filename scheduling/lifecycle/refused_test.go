//go:build full

package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestRefusedPodsCountLater: a pod that asks for all that an int64 holds keeps others from
// being counted on its node. They count once it leaves, shrinks or moves, so nobody can make
// a full node look empty.
func TestRefusedPodsCountLater(t *testing.T) {
	on := func(name, cpu, memory string) *api.Pod {
		return api.MakePod(name).UID(api.UID(name)).Requests(cpu, memory).Node("n").Obj()
	}
	const all = "9223372036854775807"
	changed := func(memory string) func() lifecycle.Event {
		return func() lifecycle.Event { return lifecycle.Update(on("greedy", "1m", memory)) }
	}
	for what, change := range map[string]func() lifecycle.Event{
		"deleted": func() lifecycle.Event { return lifecycle.Delete(on("greedy", "1m", all)) },
		"shrinks": changed("1Mi"),
		"ends": func() lifecycle.Event {
			p := on("greedy", "1m", all)
			p.Status.Phase = api.PodFailed
			return lifecycle.Update(p)
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, scheduling.Kubernetes137())
			w.nodes(api.MakeNode("n", "4", "8Gi"))
			w.d.Apply(lifecycle.Update(on("greedy", "1m", all)), lifecycle.Update(on("a", "2", "1Gi")), lifecycle.Update(on("b", "1", "1Gi")))
			w.d.Flush(w.ctx)
			if len(w.problems) != 2 || !strings.Contains(w.problems[0], "would exceed") {
				t.Fatalf("problems %v, want two about totals", w.problems)
			}
			w.d.Apply(change(), lifecycle.Update(api.MakePod("late").UID("late").Requests("2", "1Gi").Obj()))
			if attempt := w.one(); attempt.State != lifecycle.Failed {
				t.Errorf("the pod is %v: the node has 3 of 4 CPUs in use, and the pod asks for 2", attempt.State)
			}
			n := w.d.Snapshot().Node("n")
			i, _ := w.d.Snapshot().Schema().Index(resource.CPU)
			if cpu := n.Requested.At(i); cpu < 3000 || cpu > 3001 {
				t.Errorf("the pods on the node request %d thousandths of a CPU, want 3000 and those of greedy", cpu)
			}
			if c := w.d.Counts(); c.UnknownNode != 0 {
				t.Errorf("%d pods do not count", c.UnknownNode)
			}
			if len(w.problems) != 2 {
				t.Errorf("problems %v, want no more", w.problems)
			}
		})
	}
}

// TestRefusedVersion: a running pod asks in place for so much that its new version cannot be
// counted. The version before it goes on counting, so nobody can make a full node look empty,
// until there is room in the totals, or the pod asks for less, or leaves. It does, too, if
// the node object is missing meanwhile.
func TestRefusedVersion(t *testing.T) {
	on := func(name, cpu, memory string) *api.Pod {
		return api.MakePod(name).UID(api.UID(name)).Requests(cpu, memory).Node("n").Obj()
	}
	const all = "9223372036854775807"
	node := api.MakeNode("n", "4", "8Gi").Obj()
	gone, back, large := lifecycle.Delete(node), lifecycle.Update(node), lifecycle.Update(on("greedy", "2", all))
	labeled := on("greedy", "2", all)
	labeled.Labels = map[string]string{"a": "b"}
	for way, come := range map[string][]lifecycle.Event{
		"":                                 {large},
		"while the node is missing":        {gone, large, back},
		"before the node is missing":       {large, gone, back},
		"before and while":                 {large, gone, lifecycle.Update(labeled), back},
		"after the node was missing":       {gone, back, large},
		"while the node is missing, twice": {gone, large, lifecycle.Update(labeled), back},
	} {
		t.Run("it comes "+way, func(t *testing.T) { refusedVersion(t, on, come) })
	}
}

func refusedVersion(t *testing.T, on func(name, cpu, memory string) *api.Pod, come []lifecycle.Event) {
	const all = "9223372036854775807"
	for _, tt := range []struct {
		what string
		then lifecycle.Event
		cpu  int64
		fits bool // whether a pod of 2 CPUs does
	}{
		{"nothing more", lifecycle.Event{}, 4000, false},
		{"the others leave", lifecycle.Delete(on("a", "1", "1Gi")), 2000, false},
		{"it shrinks", lifecycle.Update(on("greedy", "1", "1Gi")), 2000, true},
		{"it leaves", lifecycle.Delete(on("greedy", "2", all)), 1000, true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t, scheduling.Kubernetes137())
			w.nodes(api.MakeNode("n", "4", "8Gi"))
			w.d.Apply(lifecycle.Update(on("a", "1", "1Gi")), lifecycle.Update(on("greedy", "3", "1Gi")))
			w.d.Flush(w.ctx)
			for _, e := range come {
				w.d.Apply(e)
				w.d.Flush(w.ctx)
			}
			if len(w.problems) == 0 || len(w.problems) > 2 || !strings.Contains(w.problems[0], "would exceed") {
				t.Fatalf("problems %v, want one or two about a total", w.problems)
			}
			w.d.Apply(tt.then)
			w.d.Flush(w.ctx)
			n := w.d.Snapshot().Node("n")
			i, _ := w.d.Snapshot().Schema().Index(resource.CPU)
			if cpu := n.Requested.At(i); cpu != tt.cpu {
				t.Errorf("the pods on the node request %d thousandths of a CPU, want %d", cpu, tt.cpu)
			}
			if c := w.d.Counts(); c.UnknownNode != 0 {
				t.Errorf("%d pods do not count", c.UnknownNode)
			}
			w.d.Apply(lifecycle.Update(api.MakePod("late").UID("late").Requests("2", "1Gi").Obj()))
			if attempt := w.one(); (attempt.State != lifecycle.Failed) != tt.fits {
				t.Errorf("a pod of 2 CPUs is %v: %v", attempt.State, attempt.Err)
			}
			for _, name := range []string{"a", "greedy", "late"} {
				w.d.Apply(lifecycle.Delete(api.MakePod(name).UID(api.UID(name)).Obj()))
			}
			w.d.Flush(w.ctx)
			if n := w.d.Snapshot().Node("n"); n.Requested.At(i) != 0 || len(n.Pods) != 0 {
				t.Errorf("without pods, %d thousandths of a CPU are requested", n.Requested.At(i))
			}
		})
	}
}

// TestRefusedAgain: pods that still exceed a total when another one leaves are told once.
func TestRefusedAgain(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	for _, name := range []string{"a", "b", "c"} {
		w.d.Apply(lifecycle.Update(api.MakePod(name).UID(api.UID(name)).Requests("1", "9223372036854775807").Node("n").Obj()))
	}
	w.d.Flush(w.ctx)
	w.wantOn("n", "a")
	for i, name := range []string{"a", "b"} {
		w.d.Apply(lifecycle.Delete(api.MakePod(name).UID(api.UID(name)).Obj()))
		w.d.Flush(w.ctx)
		if c := w.d.Counts(); c.Assigned != 1 || c.UnknownNode != 1-i || len(w.problems) != 2 {
			t.Errorf("without %s, %d pods count and %d do not, %d problems; want 1, %d, 2", name, c.Assigned, c.UnknownNode, len(w.problems), 1-i)
		}
	}
}

// TestFirstOfSeries: a pod whose affinity selects pods like itself waits for the node of the
// one that runs. Once that one leaves, wherever it was, the pod may begin a series of its
// own, so its departure wakes the pod, although InterPodAffinity said of every node that
// taking pods away there does not help.
func TestFirstOfSeries(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(
		api.MakeNode("open", "4", "8Gi").Labels("zone", "a"),
		api.MakeNode("closed", "4", "8Gi").Labels("zone", "b").Unschedulable())
	pod := func(name string) api.PodBuilder {
		return api.MakePod(name).UID(api.UID(name)).Labels("app", "x").PodAffinity("zone", "app=x")
	}
	w.pods(pod("runs").Node("closed"), pod("waits"))
	if a := w.one(); a.State != lifecycle.Failed || !strings.Contains(a.Err.Error(), "didn't match pod affinity rules") {
		t.Fatalf("the attempt is %v: %v", a.State, a.Err)
	}
	w.d.Apply(lifecycle.Delete(pod("runs").Node("closed").Obj()))
	w.pass(time.Minute)
	if a := w.one(); a.State == lifecycle.Failed {
		t.Errorf("the attempt is %v: %v", a.State, a.Err)
	}
	w.wantOn("open", "waits")
}

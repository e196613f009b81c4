//go:build full

package lifecycle_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestHugePodLeaves: a pod asks for all that an int64 holds. Others count beside it, and once it
// leaves, shrinks or ends, the totals are those of the others.
func TestHugePodLeaves(t *testing.T) {
	changed := func(memory string) func() lifecycle.Event {
		return func() lifecycle.Event { return lifecycle.Update(onN("greedy", "1m", memory).Obj()) }
	}
	for what, change := range map[string]func() lifecycle.Event{
		"deleted": func() lifecycle.Event { return lifecycle.Delete(onN("greedy", "1m", largest).Obj()) },
		"shrinks": changed("1Mi"),
		"ends": func() lifecycle.Event {
			p := onN("greedy", "1m", largest).Obj()
			p.Status.Phase = api.PodFailed
			return lifecycle.Update(p)
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, scheduling.Kubernetes137())
			w.nodes(api.MakeNode("n", "4", "8Gi"))
			w.d.Apply(lifecycle.Update(onN("greedy", "1m", largest).Obj()), lifecycle.Update(onN("a", "2", "1Gi").Obj()), lifecycle.Update(onN("b", "1", "1Gi").Obj()))
			w.d.Flush(w.ctx)
			w.wantRequested(resource.Memory, math.MaxInt64)
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
			if len(w.problems) > 0 {
				t.Errorf("problems %v, want none", w.problems)
			}
		})
	}
}

// TestHugeVersion: a running pod asks in place for more than the totals hold, so the node is full
// until the pod asks for less, or leaves. It is, too, if the node object is missing meanwhile.
func TestHugeVersion(t *testing.T) {
	node := api.MakeNode("n", "4", "8Gi").Obj()
	gone, back, large := lifecycle.Delete(node), lifecycle.Update(node), lifecycle.Update(onN("greedy", "2", largest).Obj())
	labeled := onN("greedy", "2", largest).Obj()
	labeled.Labels = map[string]string{"a": "b"}
	for way, come := range map[string][]lifecycle.Event{
		"":                                 {large},
		"while the node is missing":        {gone, large, back},
		"before the node is missing":       {large, gone, back},
		"before and while":                 {large, gone, lifecycle.Update(labeled), back},
		"after the node was missing":       {gone, back, large},
		"while the node is missing, twice": {gone, large, lifecycle.Update(labeled), back},
	} {
		t.Run("it comes "+way, func(t *testing.T) { hugeVersion(t, come) })
	}
}

func hugeVersion(t *testing.T, come []lifecycle.Event) {
	for _, tt := range []struct {
		what string
		then lifecycle.Event
		cpu  int64
		fits bool // whether a pod of 2 CPUs does
	}{
		{"nothing more", lifecycle.Event{}, 3000, false},
		{"the others leave", lifecycle.Delete(onN("a", "1", "1Gi").Obj()), 2000, false},
		{"it shrinks", lifecycle.Update(onN("greedy", "1", "1Gi").Obj()), 2000, true},
		{"it leaves", lifecycle.Delete(onN("greedy", "2", largest).Obj()), 1000, true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t, scheduling.Kubernetes137())
			w.nodes(api.MakeNode("n", "4", "8Gi"))
			w.d.Apply(lifecycle.Update(onN("a", "1", "1Gi").Obj()), lifecycle.Update(onN("greedy", "3", "1Gi").Obj()))
			w.d.Flush(w.ctx)
			for _, e := range come {
				w.d.Apply(e)
				w.d.Flush(w.ctx)
			}
			w.wantRequested(resource.Memory, math.MaxInt64)
			if len(w.problems) > 0 {
				t.Errorf("problems %v, want none", w.problems)
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

// TestHugePodsTogether: the total stays full until the last but one of several huge pods is gone.
func TestHugePodsTogether(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	for _, name := range []string{"a", "b", "c"} {
		w.d.Apply(lifecycle.Update(onN(name, "1", largest).Obj()))
	}
	w.d.Flush(w.ctx)
	w.wantOn("n", "a", "b", "c")
	for i, name := range []string{"a", "b"} {
		w.d.Apply(lifecycle.Delete(onN(name, "1", largest).Obj()))
		w.d.Flush(w.ctx)
		if c := w.d.Counts(); c.Assigned != 2-i || c.UnknownNode != 0 || len(w.problems) > 0 {
			t.Errorf("without %s, %d pods count and %d do not, problems %v; want %d, 0, none", name, c.Assigned, c.UnknownNode, w.problems, 2-i)
		}
		w.wantRequested(resource.Memory, math.MaxInt64)
		w.wantRequested(resource.CPU, int64(2-i)*1000)
	}
}

// TestHugeAmount: a pod that asks for nearly all that an int64 holds of one resource hides no
// other resource of its neighbors, in any order of the events.
func TestHugeAmount(t *testing.T) {
	const gpu resource.Name = "example.com/gpu"
	node := lifecycle.Update(api.MakeNode("n", "8", "16Gi").Resource(gpu, "4").Obj())
	huge := lifecycle.Update(api.MakePod("huge").UID("huge").Requests("9223372036854775307m", "1Gi").Node("n").Obj())
	var others []lifecycle.Event
	for i := range int32(4) {
		others = append(others, lifecycle.Update(api.MakePod(fmt.Sprint("other", i)).UID(api.UID(fmt.Sprint("o", i))).
			Requests("1", "3Gi").Request(gpu, "1").HostPort(8000+i).Node("n").Obj()))
	}
	for order, events := range map[string][]lifecycle.Event{
		"huge first":            append([]lifecycle.Event{node, huge}, others...),
		"huge last":             append(append([]lifecycle.Event{node}, others...), huge),
		"huge first, node last": append(append([]lifecycle.Event{huge}, others...), node),
	} {
		w := newWorld(t, scheduling.Kubernetes137())
		w.d.Apply(events...)
		w.d.Flush(w.ctx)
		n, schema := w.d.Snapshot().Node("n"), w.d.Snapshot().Schema()
		for name, want := range map[resource.Name]int64{resource.CPU: math.MaxInt64, resource.Memory: 13 << 30, gpu: 4} {
			if i, _ := schema.Index(name); n.Requested.At(i) != want {
				t.Errorf("%s: %d of %s are requested, want %d", order, n.Requested.At(i), name, want)
			}
		}
		if len(n.UsedPorts) != 4 || len(n.Pods) != 5 {
			t.Errorf("%s: %d ports and %d pods, want 4 and 5", order, len(n.UsedPorts), len(n.Pods))
		}
		w.d.Apply(lifecycle.Delete(api.MakePod("huge").UID("huge").Obj()))
		w.d.ScheduleOne(w.ctx)
		i, _ := schema.Index(resource.CPU)
		if n := w.d.Snapshot().Node("n"); n.Requested.At(i) != 4000 || n.NonZeroRequested[0] != 4000 || len(n.Pods) != 4 {
			t.Errorf("%s: once huge has left, %d and %d of cpu, %d pods, want 4000 and 4", order, n.Requested.At(i), n.NonZeroRequested[0], len(n.Pods))
		}
	}
}

// onN is a pod that runs on node n.
func onN(name, cpu, memory string) api.PodBuilder {
	return api.MakePod(name).UID(api.UID(name)).Requests(cpu, memory).Node("n")
}

// largest is the largest int64 in bytes.
const largest = "9223372036854775807"

// wantRequested fails unless the pods of node n request so much.
func (w *world) wantRequested(name resource.Name, want int64) {
	w.tb.Helper()
	i, _ := w.d.Snapshot().Schema().Index(name)
	if got := w.d.Snapshot().Node("n").Requested.At(i); got != want {
		w.tb.Errorf("%d of %s are requested, want %d; problems %.500q", got, name, want, w.problems)
	}
}

// TestHugePodLeavesLostNode: the totals are those of the others once their node comes back.
func TestHugePodLeavesLostNode(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	node, greedy := api.MakeNode("n", "8", "8Gi").Obj(), onN("greedy", "1m", largest).Obj()
	w.d.Apply(lifecycle.Update(node), lifecycle.Update(greedy))
	for i := range 7 {
		w.d.Apply(lifecycle.Update(onN(fmt.Sprint("a", i), "1m", "1Gi").Obj()))
	}
	w.d.Flush(w.ctx)
	w.wantRequested(resource.Memory, math.MaxInt64)
	for _, e := range []lifecycle.Event{lifecycle.Delete(node), lifecycle.Delete(greedy), lifecycle.Update(node)} {
		w.d.Apply(e)
		w.d.Flush(w.ctx)
	}
	w.wantRequested(resource.Memory, 7<<30)
}

// TestHugePodAcrossSchemas: the schema is renewed between the events of pods and that of their
// node, because it is full of names that nobody uses.
func TestHugePodAcrossSchemas(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	filler := api.MakeNode("filler", "8", "8Gi")
	for i := range resource.MaxNames - 40 {
		filler = filler.Resource(resource.Name(fmt.Sprint("example.com/old", i)), "1")
	}
	node := api.MakeNode("n", "8", "8Gi")
	for i := range 100 {
		node = node.Resource(resource.Name(fmt.Sprint("example.com/new", i)), "1")
	}
	for _, e := range []lifecycle.Event{
		lifecycle.Update(filler.Obj()), lifecycle.Delete(filler.Obj()),
		lifecycle.Update(onN("greedy", "1m", largest).Obj()), lifecycle.Update(onN("a", "6", "1Gi").HostPort(80).Obj()),
		lifecycle.Update(node.Obj()),
	} {
		w.d.Apply(e)
		w.d.Flush(w.ctx)
	}
	w.wantOn("n", "a", "greedy")
	w.wantRequested(resource.CPU, 6001)
	w.wantRequested(resource.Memory, math.MaxInt64)
}

// TestNominatedToHugePod: a node is so full that a pod nominated to it exceeds a total there.
// Other pods go elsewhere.
func TestNominatedToHugePod(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(api.MakeNode("n", "8", "8Gi").Labels("only", "here"), api.MakeNode("other", "8", "8Gi"))
	w.pods(onN("low", "8", "1Gi"), api.MakePod("high").UID("high").Requests("2", "1Gi").Priority(10).NodeSelector("only", "here"))
	if a := w.one(); a.Nominated != "n" {
		t.Fatalf("the pod is nominated to %q: %v", a.Nominated, a.Err)
	}
	w.d.Apply(lifecycle.Update(onN("greedy", "1m", largest).Obj()))
	for i := range 3 {
		w.pods(api.MakePod(fmt.Sprint("late", i)).UID(api.UID(fmt.Sprint("late", i))).Requests("1m", "1Gi"))
		if a := w.one(); a.Err != nil || a.Decision.Node != "other" {
			t.Errorf("pod %d goes to %q: %v", i, a.Decision.Node, a.Err)
		}
	}
}

// TestHugeElsewhere: a pod that fills the memory of its node asks in place for little of it,
// and for too many devices. Then the memory of its neighbors counts.
func TestHugeElsewhere(t *testing.T) {
	const gpu resource.Name = "example.com/gpu"
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(api.MakeNode("n", "8", "8Gi").Resource(gpu, "8"))
	w.d.Apply(lifecycle.Update(onN("greedy", "1m", largest).Request(gpu, "1").Obj()))
	for i := range 7 {
		w.d.Apply(lifecycle.Update(onN(fmt.Sprint("a", i), "1m", "1Gi").Request(gpu, "1").Obj()))
	}
	w.d.Flush(w.ctx)
	w.d.Apply(lifecycle.Update(onN("greedy", "1m", "1").Request(gpu, largest).Obj()))
	w.d.ScheduleOne(w.ctx)
	w.wantRequested(resource.Memory, 7<<30+1)
	w.wantRequested(gpu, math.MaxInt64)
}

// TestLittleBesideHugePod: a pod that requests no memory, and counts with a default for it where
// nodes are scored, goes to a node whose memory is full.
func TestLittleBesideHugePod(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(api.MakeNode("n", "8", "8Gi"))
	little := api.MakePod("little").UID("little").Request(resource.CPU, "1")
	w.pods(onN("greedy", "1m", largest), little)
	if a := w.one(); a.Err != nil || a.Decision.Node != "n" {
		t.Fatalf("the pod goes to %q: %v", a.Decision.Node, a.Err)
	}
	w.wantOn("n", "greedy", "little")
	w.wantRequested(resource.CPU, 1001)
	w.d.Apply(lifecycle.Delete(onN("greedy", "1m", largest).Obj()), lifecycle.Update(little.Node("n").Obj()))
	w.d.Flush(w.ctx)
	if got := w.d.Snapshot().Node("n").NonZeroRequested; got != [2]int64{1000, 200 << 20} {
		t.Errorf("scorers count %d, want 1000 and 200Mi", got)
	}
	w.wantRequested(resource.Memory, 0)
}

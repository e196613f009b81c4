//go:build full

package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// waiting is a pod that wants more than a full node has, in one of several ways.
func waiting(t *rapid.T, i int) *api.Pod {
	b := api.MakePod(fmt.Sprint("waits-", i)).Requests(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "cpu"), "1Gi").Priority(rapid.Int32Range(-1, 2).Draw(t, "priority"))
	switch rapid.IntRange(0, 4).Draw(t, "shape") {
	case 0:
		b = b.NodeSelector("disk", "ssd") // some nodes can never be used
	case 1:
		b = b.Nominated("n0")
	case 2:
		b = b.Spread(1, "kubernetes.io/hostname", api.DoNotSchedule, "app=x")
	}
	pod := b.Obj()
	if rapid.IntRange(0, 3).Draw(t, "never") == 0 {
		pod.Spec.PreemptionPolicy = new(api.PreemptNever)
	}
	return pod
}

// TestHopelessAnswers: whatever makes room, or does not, a scheduler with its shortcuts
// proposes what one without proposes, in the same words. Pods of several priorities come
// and go meanwhile.
func TestHopelessAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := framework.NewSnapshot(framework.ZoneInterleaved)
		for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
			node := api.MakeNode(fmt.Sprint("n", i), "2", "8Gi").Zone(fmt.Sprint(i % 2))
			if i%2 == 0 {
				node = node.Labels("disk", "ssd")
			}
			if err := snap.AddNode(node.Obj()); err != nil {
				t.Fatal(err)
			}
		}
		profile := scheduling.Kubernetes137()
		profile.Cache.Off = true
		plain, err := scheduling.New(profile)
		if err != nil {
			t.Fatal(err)
		}
		profile.Cache = scheduling.CacheConfig{Verify: true}
		quick, err := scheduling.New(profile)
		if err != nil {
			t.Fatal(err)
		}
		origin := snap
		var pods []*framework.PodInfo // few, so that their classes come again
		for i := range 3 {
			pod, err := snap.NewPodInfo(waiting(t, i))
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, pod)
		}
		for i := range rapid.IntRange(5, 30).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "change") == 0 {
				disturb(t, snap, i)
			}
			switch rapid.IntRange(0, 12).Draw(t, "fork") {
			case 0:
				snap = snap.Fork()
			case 1:
				snap = origin
			}
			pod := rapid.SampledFrom(pods).Draw(t, "pod")
			if got, want := attempt(snap, quick, pod), attempt(snap, plain, pod); got != want {
				t.Fatalf("with shortcuts\n  %s\nwithout\n  %s", got, want)
			}
		}
	})
}

// disturb changes something in the snapshot.
func disturb(t *rapid.T, snap *framework.Snapshot, i int) {
	info, err := snap.NewPodInfo(api.MakePod(fmt.Sprint("runs-", i)).Requests("1", "1Gi").Priority(rapid.Int32Range(-1, 2).Draw(t, "its priority")).Obj())
	node := snap.At(rapid.IntRange(0, snap.Len()-1).Draw(t, "node"))
	switch what := rapid.IntRange(0, 7).Draw(t, "what"); {
	case err != nil:
	case what < 3 && len(node.Pods) > 0:
		err = snap.RemovePodAt(node.Pods[0], node)
	case what < 5:
		err = snap.AddPodAt(info, node)
	case what == 5:
		err = snap.AddNode(api.MakeNode(fmt.Sprint("new-", i), "1", "8Gi").Labels("disk", "ssd").Obj())
	case what == 6 && snap.Len() > 1 && len(node.Pods) == 0:
		err = snap.RemoveNode(node.Name())
	case what == 6:
		err = snap.UpdateNode(api.MakeNode(node.Name(), rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "cpu"), "8Gi").Obj())
	case snap.Nominations() == 0:
		err = snap.Nominate(info, node.Name(), "")
	default:
		for _, n := range snap.All() {
			if len(n.Nominated) > 0 {
				snap.ClearNomination(n.Nominated[0], n.Name())
				break
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// attempt shows all that a decision and PostFilter say about a pod.
func attempt(snap *framework.Snapshot, s *scheduling.Scheduler, pod *framework.PodInfo) string {
	d, err := s.Schedule(snap, pod)
	if err == nil {
		return d.Node
	}
	r, plugin, status, failed := s.PostFilter(context.Background(), snap, pod, d)
	victims := ""
	for _, v := range r.Victims {
		victims += v.Pod.Pod.Name + " "
	}
	return fmt.Sprintf("%v; %s %t, victims %sby %s: %s, %v", err, r.Nominated, r.Override, victims, plugin, status, failed)
}

// embedding is a plugin that has all methods of DefaultPreemption, and more to say.
type embedding struct{ preemption.DefaultPreemption }

func (embedding) PostFilter(context.Context, *framework.Cycle, framework.Verdicts) (framework.PostFiltered, framework.Status) {
	return framework.PostFiltered{Nominated: "n"}, framework.Status{}
}

// TestEmbeddedPreemptionIsAsked: the shortcut is for DefaultPreemption itself.
func TestEmbeddedPreemptionIsAsked(t *testing.T) {
	snap, pod := full(t, 1)
	low := podInfo(t, snap, api.MakePod("lowest").UID("lowest").Obj())
	for _, tt := range []struct {
		plugin framework.Plugin
		want   string
	}{
		{embedding{}, "n"}, {preemption.DefaultPreemption{}, ""}, {&preemption.DefaultPreemption{}, ""},
	} {
		sched := build(t, scheduling.Profile{Filter: []framework.Plugin{room{}}, PostFilter: []framework.Plugin{tt.plugin}})
		d, err := sched.Schedule(snap, low)
		if err == nil {
			t.Fatal("there is room")
		}
		if r, _, status, err := sched.PostFilter(context.Background(), snap, low, d); r.Nominated != tt.want || err != nil {
			t.Errorf("%T: nominated %q, %s, %v; want %q", tt.plugin, r.Nominated, status, err, tt.want)
		}
	}
	_ = pod
}

// BenchmarkHopeless is a failed attempt, and PostFilter, for a pod that no pod has a
// lower priority than. Beside it, one pod with a lower priority is somewhere. On 5,000
// full nodes the first must not depend on their number.
func BenchmarkHopeless(b *testing.B) {
	for _, nodes := range []int{500, 5000} {
		for _, lower := range []bool{false, true} {
			b.Run(fmt.Sprintf("nodes=%d/lower=%v", nodes, lower), func(b *testing.B) {
				snap := framework.NewSnapshot(framework.ZoneInterleaved)
				add := func(name string, priority int32, node string) {
					info, err := snap.NewPodInfo(api.MakePod(name).Requests("4", "1Gi").Priority(priority).Obj())
					if err = errors.Join(err, snap.AddPod(info, node)); err != nil {
						b.Fatal(err)
					}
				}
				for i := range nodes {
					name := fmt.Sprintf("node-%05d", i)
					if err := snap.AddNode(api.MakeNode(name, "4", "32Gi").Zone(fmt.Sprint(i % 10)).Obj()); err != nil {
						b.Fatal(err)
					}
					add(fmt.Sprint("pod-", i), 1, name)
				}
				if lower {
					info, err := snap.NewPodInfo(api.MakePod("lower").Priority(-1).Obj())
					if err = errors.Join(err, snap.AddPod(info, "node-00000")); err != nil {
						b.Fatal(err)
					}
				}
				sched, err := scheduling.New(scheduling.Kubernetes137())
				if err != nil {
					b.Fatal(err)
				}
				pod, err := snap.NewPodInfo(api.MakePod("waits").Requests("1", "1Gi").Obj())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					attemptOnce(b, snap, sched, pod)
				}
			})
		}
	}
}

func attemptOnce(b *testing.B, snap *framework.Snapshot, s *scheduling.Scheduler, pod *framework.PodInfo) {
	d, err := s.Schedule(snap, pod)
	if err == nil {
		b.Fatal("there is room")
	}
	if r, _, _, err := s.PostFilter(context.Background(), snap, pod, d); r.Nominated != "" || err != nil {
		b.Fatal(r.Nominated, err)
	}
}

// TestRefusalsAreCountedOnce: while a class of pods waits, a node that changes is counted
// again in place of its former answer, and a node where pods can be removed ends that.
func TestRefusalsAreCountedOnce(t *testing.T) {
	snap := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, name := range []string{"a", "b", "c"} {
		if err := snap.AddNode(api.MakeNode(name, "2", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	add := func(name, cpu string, priority int32, node string) *framework.PodInfo {
		info := podInfo(t, snap, api.MakePod(name).Requests(cpu, "1Gi").Priority(priority).Obj())
		if err := snap.AddPod(info, node); err != nil {
			t.Fatal(err)
		}
		return info
	}
	add("a1", "1", 9, "a")
	add("a2", "500m", 0, "a") // lower, but its room is not enough
	b := add("b1", "2", 9, "b")
	add("c1", "2", 9, "c")
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	pod := podInfo(t, snap, api.MakePod("waits").Requests("2", "1Gi").Priority(5).Obj())
	message := func() string {
		d, err := sched.Schedule(snap, pod)
		if err == nil {
			t.Fatalf("it fits on %s", d.Node)
		}
		_, _, status, err := sched.PostFilter(context.Background(), snap, pod, d)
		if err != nil {
			t.Fatal(err)
		}
		return status.Message()
	}
	const none = "preemption: 0/3 nodes are available: 1 Insufficient cpu, 2 No preemption victims found for incoming pod."
	for i := range 4 {
		if got := message(); got != none {
			t.Errorf("attempt %d: %s\nwant %s", i, got, none)
		}
	}
	if err := errors.Join(snap.RemovePod(b, "b"), snap.AddPod(b, "b")); err != nil {
		t.Fatal(err)
	}
	if got := message(); got != none {
		t.Errorf("after a change: %s\nwant %s", got, none)
	}
	if err := snap.RemovePod(b, "b"); err != nil {
		t.Fatal(err)
	}
	add("b2", "1500m", 9, "b")
	lower := add("b3", "500m", 0, "b")
	const two = "preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Insufficient cpu."
	if got := message(); got != two {
		t.Errorf("with a lower pod on b: %s\nwant %s", got, two)
	}
	if err := errors.Join(snap.RemovePod(lower, "b"), snap.RemoveNode("c")); err != nil {
		t.Fatal(err)
	}
	const less = "preemption: 0/2 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod."
	if got := message(); got != less {
		t.Errorf("without c: %s\nwant %s", got, less)
	}
	if err := snap.RemovePod(snap.Node("b").Pods[0], "b"); err != nil {
		t.Fatal(err)
	}
	add("b4", "2", 0, "b")
	if got, want := message(), "preemption: found a potential placement for pod on node b, preempting 1 victims"; got != want {
		t.Errorf("with a victim: %s\nwant %s", got, want)
	}
}

// TestNoCandidateWanted: 10 % of 9 nodes are no candidate, so nobody is proposed although
// pods could be removed. That is no refusal: with a tenth node, one candidate is enough.
func TestNoCandidateWanted(t *testing.T) {
	snap := framework.NewSnapshot(framework.Arrival)
	fill := func(node, cpu string, priority int32) {
		t.Helper()
		info := podInfo(t, snap, api.MakePod("on-"+node).Requests("2", "1Gi").Priority(priority).Obj())
		if err := errors.Join(snap.AddNode(api.MakeNode(node, cpu, "8Gi").Obj()), snap.AddPod(info, node)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 {
		fill(fmt.Sprint("n", i), "2", 0)
	}
	profile := scheduling.Kubernetes137()
	profile.PostFilter = []framework.Plugin{preemption.DefaultPreemption{MinCandidateNodesPercentage: new(int32(10)), MinCandidateNodesAbsolute: new(int32(0))}}
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	pod := podInfo(t, snap, api.MakePod("waits").Requests("2", "1Gi").Priority(5).Obj())
	propose := func() framework.PostFiltered {
		d, err := sched.Schedule(snap, pod)
		if err == nil {
			t.Fatalf("it fits on %s", d.Node)
		}
		r, _, _, err := sched.PostFilter(context.Background(), snap, pod, d)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for range 3 {
		if r := propose(); r.Nominated != "" {
			t.Errorf("node %s is proposed, want none", r.Nominated)
		}
	}
	fill("tenth", "2", 9) // a refusal
	if r := propose(); r.Nominated == "" {
		t.Error("no node is proposed, want one of the nine")
	}
}

// bindings counts how often it is bound, and passes every node.
type bindings struct{ times *int }

func (bindings) Name() string { return "Bindings" }

func (bindings) Scope(*framework.PodInfo) framework.Scope { return framework.Scope{} }

func (b bindings) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	*b.times++
	return framework.PreFiltered{Filter: b}, framework.Status{}
}

func (bindings) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// TestHopelessWithThePreset: pods that are alike ask nobody again while nothing changes, also
// beside DynamicResources, which has nothing to do for them. What changes ends that.
func TestHopelessWithThePreset(t *testing.T) {
	for _, lower := range []bool{false, true} { // whether some pod may be removed, whose room is not enough
		snap := framework.NewSnapshot(framework.ZoneInterleaved)
		for node, cpu := range map[string]string{"n": "2", "small": "1"} {
			if err := snap.AddNode(api.MakeNode(node, cpu, "8Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		add := func(name, cpu string, priority int32) {
			if err := snap.AddPod(podInfo(t, snap, api.MakePod(name).Requests(cpu, "1Gi").Priority(priority).Obj()), "n"); err != nil {
				t.Fatal(err)
			}
		}
		add("high", "1900m", 9)
		if lower {
			add("low", "100m", 0)
		}
		asked := 0
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, bindings{&asked})
		sched := build(t, profile)
		try := func(name string) (calls int, text string) {
			pod := podInfo(t, snap, api.MakePod(name).Requests("2", "1Gi").Priority(5).Obj())
			d, err := sched.Schedule(snap, pod)
			if err == nil {
				t.Fatalf("%s fits on %s", name, d.Node)
			}
			asked = 0
			_, _, status, err := sched.PostFilter(context.Background(), snap, pod, d)
			if err != nil {
				t.Fatal(err)
			}
			return asked, status.Message()
		}
		_, want := try("first")
		for i := range 3 {
			try(fmt.Sprint("warm-", i))
		}
		if calls, got := try("again"); calls != 0 || got != want {
			t.Errorf("lower pods %t: %d calls and %q, want none and %q", lower, calls, got, want)
		}
		add("more", "1m", 5) // nobody may remove it, so only its coming matters
		if calls, got := try("later"); calls == 0 && lower || got != want {
			t.Errorf("lower pods %t, after a change: %d calls and %q, want some and %q", lower, calls, got, want)
		}
	}
}

// curfew rejects every node: by night for good, by day as long as its pods are there.
type curfew struct{ snap *framework.Snapshot }

func (curfew) Name() string { return "Curfew" }

func (curfew) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsTime}
}

// ValidUntil implements [incremental.Expirer].
func (c curfew) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time {
	return c.snap.Now().Truncate(12 * time.Hour).Add(12 * time.Hour)
}

func (c curfew) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	if c.snap.Now().Hour() < 12 {
		return framework.UnresolvableStatus("night")
	}
	return framework.UnschedulableStatus("day")
}

// TestHopelessAtAnotherTime: an answer that depends on the time is not kept with the
// snapshot, which does not change as time passes.
func TestHopelessAtAnotherTime(t *testing.T) {
	snap := framework.NewSnapshot(framework.Arrival)
	if err := snap.AddNode(api.MakeNode("n", "2", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{curfew{snap}}, PostFilter: []framework.Plugin{preemption.DefaultPreemption{}}})
	for i, want := range []string{
		"preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
		"preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
	} {
		snap.SetNow(time.Date(2026, 1, 1, 12*i+1, 0, 0, 0, time.UTC))
		for k := range 3 {
			pod := podInfo(t, snap, api.MakePod(fmt.Sprint("p", i, k)).Obj())
			d, err := sched.Schedule(snap, pod)
			if err == nil {
				t.Fatalf("it fits on %s", d.Node)
			}
			_, _, status, err := sched.PostFilter(context.Background(), snap, pod, d)
			if got := status.Message(); got != want || err != nil {
				t.Errorf("attempt %d at %v: %q, %v, want %q", k, snap.Now(), got, err, want)
			}
		}
	}
}

package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// waiting is a pod that wants more than a full node has, in one of several ways.
func waiting(t *rapid.T, i int) *api.Pod {
	b := api.MakePod(fmt.Sprint("waits-", i)).Requests("1", "1Gi").Priority(rapid.Int32Range(-1, 2).Draw(t, "priority"))
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
		for i := range rapid.IntRange(5, 20).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "change") == 0 {
				node := snap.At(rapid.IntRange(0, snap.Len()-1).Draw(t, "node"))
				if len(node.Pods) > 0 && rapid.Bool().Draw(t, "leaves") {
					err = snap.RemovePodAt(node.Pods[0], node)
				} else {
					var info *framework.PodInfo
					info, err = snap.NewPodInfo(api.MakePod(fmt.Sprint("runs-", i)).Requests("1", "1Gi").Priority(rapid.Int32Range(-1, 2).Draw(t, "its priority")).Obj())
					err = errors.Join(err, snap.AddPodAt(info, node))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			pod, err := snap.NewPodInfo(waiting(t, i))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := attempt(snap, quick, pod), attempt(snap, plain, pod); got != want {
				t.Fatalf("with shortcuts\n  %s\nwithout\n  %s", got, want)
			}
		}
	})
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

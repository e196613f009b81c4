package preemption_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// BenchmarkPreemption preempts on nodes that ten pods of low priority fill, with
// the default profile: the whole PostFilter, and what precedes it.
func BenchmarkPreemption(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			var nodes []*framework.Node
			var pods []*framework.Pod
			for i := range n {
				name := fmt.Sprintf("node-%05d", i)
				nodes = append(nodes, framework.MakeNode(name, "4", "32Gi").Zone(fmt.Sprint(i%10)).Obj())
				for k := range 10 {
					pods = append(pods, on(name, fmt.Sprintf("low-%05d-%d", i, k), "400m", int32(k)).Started(at(i)).Obj())
				}
			}
			s := snapshotOf(b, nodes, pods)
			sched, err := scheduling.New(scheduling.Kubernetes137())
			if err != nil {
				b.Fatal(err)
			}
			pod := podInfo(b, s, preemptor("1", 100).Obj())
			b.ReportAllocs()
			for b.Loop() {
				d, err := sched.Schedule(s, pod)
				if err == nil {
					b.Fatalf("Schedule = %s, want no room", d.Node)
				}
				f, _, status, err := sched.PostFilter(context.Background(), s, pod, d)
				if err != nil || len(f.Victims) != 3 {
					b.Fatalf("PostFilter = %v, %v, %d victims; want 3", status, err, len(f.Victims))
				}
			}
		})
	}
}

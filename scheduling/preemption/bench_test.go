//go:build full

package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// BenchmarkPreemption makes room, with the default profile, on nodes that ten pods
// of low priority fill: one attempt is a failed search and the PostFilter. For a
// known class all nodes are known except changed ones: the victims leave, the pod is
// added, and then everything is put back, so that one node has changed. For another
// class, here by its priority, only the filters' verdicts are known.
func BenchmarkPreemption(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprintf("nodes=%d/class=known", n), func(b *testing.B) {
			c := newCrowd(b, n)
			pod := podInfo(b, c.snap, preemptor("1", 100).Obj())
			for range 20 {
				c.evict(b, pod) // start anywhere, until all nodes are known
			}
			b.ReportAllocs()
			for b.Loop() {
				c.evict(b, pod)
			}
		})
		b.Run(fmt.Sprintf("nodes=%d/class=other", n), func(b *testing.B) {
			c := newCrowd(b, n)
			var pods []*framework.PodInfo
			for i := range 1000 {
				pods = append(pods, podInfo(b, c.snap, preemptor("1", int32(100+i)).Obj()))
			}
			c.evict(b, pods[0])
			c.evict(b, pods[0])
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				c.evict(b, pods[i%len(pods)])
			}
		})
	}
}

// crowd is a cluster full of pods of low priority.
type crowd struct {
	snap  *framework.Snapshot
	sched *scheduling.Scheduler
}

func newCrowd(b *testing.B, n int) crowd {
	var nodes []*api.Node
	var pods []*api.Pod
	for i := range n {
		name := fmt.Sprintf("node-%05d", i)
		nodes = append(nodes, api.MakeNode(name, "4", "32Gi").Zone(fmt.Sprint(i%10)).Obj())
		for k := range 10 {
			pods = append(pods, on(name, fmt.Sprintf("low-%05d-%d", i, k), "400m", int32(k)).Started(at(i)).Obj())
		}
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		b.Fatal(err)
	}
	return crowd{snapshotOf(b, nodes, pods), sched}
}

// evict makes room for the pod, adds it to its node, and puts everything back.
func (c crowd) evict(b *testing.B, pod *framework.PodInfo) {
	d, err := c.sched.Schedule(c.snap, pod)
	var fit *scheduling.FitError
	if !errors.As(err, &fit) {
		b.Fatalf("Schedule = %s, %v; want no room", d.Node, err)
	}
	f, _, status, err := c.sched.PostFilter(context.Background(), c.snap, pod, d)
	if err != nil || len(f.Victims) != 3 {
		b.Fatalf("PostFilter = %v, %v, %d victims; want 3", status, err, len(f.Victims))
	}
	node := c.snap.Node(f.Nominated)
	for _, v := range f.Victims {
		err = errors.Join(err, c.snap.RemovePodAt(v.Pod, node))
	}
	err = errors.Join(err, c.snap.AddPodAt(pod, node), c.snap.RemovePodAt(pod, node))
	for _, v := range f.Victims {
		err = errors.Join(err, c.snap.AddPodAt(v.Pod, node))
	}
	if err != nil {
		b.Fatal(err)
	}
}

//go:build full

package queue_test

import (
	"context"
	"fmt"
	"testing"
	"time"
	"unique"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// BenchmarkQueue takes pods through the queue: Add, Pop, Done. It reports the cost
// per pod for several queue lengths.
func BenchmarkQueue(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			ctx := context.Background()
			schema := resource.NewSchema()
			pods := make([]*framework.PodInfo, n)
			for i := range pods {
				p := api.MakePod(fmt.Sprintf("pod-%06d", i)).Priority(int32(i * 7919 % 10)).Obj()
				p.UID = api.UID(fmt.Sprintf("uid-%06d", i))
				info, err := framework.NewPodInfo(p, schema)
				if err != nil {
					b.Fatal(err)
				}
				pods[i] = info
			}
			now := time.Unix(1_700_000_000, 0)
			q, err := queue.New(queue.Config{Now: func() time.Time { return now }})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range pods {
					now = now.Add(time.Microsecond)
					q.Add(ctx, p)
				}
				for range pods {
					q.Done(q.Pop())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/pod")
		})
	}
}

// BenchmarkAlike wakes waiting pods of 4 classes and lets them fail together again.
func BenchmarkAlike(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			r := newRig(b, queue.Config{Profiles: profiles(b, scheduling.Profile{
				Filter: []framework.Plugin{plugin{"X", []queueing.EventHint{on(queueing.ResourceAssignedPod, queueing.ActionDelete, nil)}}},
			})})
			by := queue.Rejectors{Plugins: []string{"X"}}
			for i := range n {
				r.Add(r.ctx, r.info(api.MakePod(fmt.Sprint("p", i))))
			}
			for i := range n {
				by.Class = unique.Make(fmt.Sprint(i % 4))
				r.Requeue(r.ctx, r.Pop(), nil, by)
			}
			b.ReportAllocs()
			for b.Loop() {
				r.now = r.now.Add(11 * time.Second)
				r.happen(queueing.ResourceAssignedPod, queueing.ActionDelete)
				if got := r.RequeueAlike(r.ctx, func(queue.Class) (queue.Rejectors, bool) { return by, true }); got != n {
					b.Fatalf("RequeueAlike() = %d, want %d", got, n)
				}
			}
		})
	}
}

// A shutter is a gate that is shut for some pods, or for all.
type shutter struct{ all *bool }

func (shutter) Name() string { return "Shutter" }

func (g shutter) PreEnqueue(_ context.Context, p *framework.PodInfo) framework.Status {
	if *g.all || p.Pod.Labels["gated"] != "" {
		return framework.UnschedulableStatus("shut")
	}
	return framework.Status{}
}

// BenchmarkShutGates measures pods that begin to wait before others that wait already: their backoff ends, with FullBackoff, and
// a gate has been shut meanwhile. The cost per pod should not grow with their number.
func BenchmarkShutGates(b *testing.B) {
	for _, n := range []int{1_000, 30_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			shut := false
			profile := scheduling.Kubernetes137()
			profile.PreEnqueue = append(profile.PreEnqueue, shutter{&shut})
			sched, err := scheduling.New(profile)
			if err != nil {
				b.Fatal(err)
			}
			ctx, schema := context.Background(), resource.NewSchema()
			add := func(q *queue.Queue, kind string) {
				for i := range n {
					info, err := framework.NewPodInfo(api.MakePod(fmt.Sprint(kind, i)).Labels("gated", kind).Obj(), schema)
					if err != nil {
						b.Fatal(err)
					}
					q.Add(ctx, info)
				}
			}
			for b.Loop() {
				b.StopTimer()
				shut = false
				now := time.Unix(1_700_000_000, 0)
				q, err := queue.New(queue.Config{Now: func() time.Time { return now }, Profiles: map[string]*scheduling.Scheduler{scheduling.DefaultName: sched}, FullBackoff: true})
				if err != nil {
					b.Fatal(err)
				}
				add(q, "")
				for it := q.Pop(); it != nil; it = q.Pop() {
					q.Requeue(ctx, it, nil, queue.Rejectors{}) // an error
				}
				now = now.Add(time.Second / 2)
				add(q, "yes")
				shut, now = true, now.Add(5*time.Second)
				b.StartTimer()
				q.Flush(ctx)
				if gated := q.Len().Gated; gated != 2*n {
					b.Fatalf("%d pods are gated, want %d", gated, 2*n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/pod")
		})
	}
}

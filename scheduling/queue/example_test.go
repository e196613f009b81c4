package queue_test

import (
	"context"
	"fmt"
	"time"
	"unique"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/queue"
)

func ExampleQueue() {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	q, err := queue.New(queue.Config{Now: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, schema := context.Background(), resource.NewSchema()
	for i, name := range []string{"web", "batch", "urgent"} {
		pod, err := framework.NewPodInfo(api.MakePod(name).Priority([]int32{0, 0, 10}[i]).Obj(), schema)
		if err != nil {
			fmt.Println(err)
			return
		}
		q.Add(ctx, pod)
	}
	for it := q.Pop(); it != nil; it = q.Pop() {
		if it.Pod.Pod.Name == "batch" {
			q.Requeue(ctx, it, nil, queue.Rejectors{}) // the attempt failed
			continue
		}
		fmt.Println("placed", it.Pod.Pod.Name)
		q.Done(it)
	}
	now, _ = q.NextFlush()
	q.Flush(ctx)
	fmt.Println("again after", now.Format("05"), "s:", q.Pop().Pod.Pod.Name)
	// Output:
	// placed urgent
	// placed web
	// again after 02 s: batch
}

// Pods of one class fail together.
func ExampleClass() {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	q, err := queue.New(queue.Config{Now: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, schema := context.Background(), resource.NewSchema()
	by := queue.Rejectors{Plugins: []string{"NodeResourcesFit"}, Class: unique.Make("4 CPUs")}
	for i := range 1000 {
		pod, err := framework.NewPodInfo(api.MakePod(fmt.Sprint("batch-", i)).Requests("4", "1Gi").Obj(), schema)
		if err != nil {
			fmt.Println(err)
			return
		}
		q.Add(ctx, pod)
		q.Requeue(ctx, q.Pop(), nil, by)
	}
	now = now.Add(6 * time.Minute)
	q.Flush(ctx) // they have waited long enough
	it := q.Pop()
	q.Requeue(ctx, it, nil, by) // there is still no room
	others := q.RequeueAlike(ctx, func(c queue.Class) (queue.Rejectors, bool) { return by, c == by.Class })
	fmt.Println(it.Pod.Pod.Name, "and", others, "more")
	// Output: batch-0 and 999 more
}

func ExampleBackoff() {
	var b queue.Backoff
	for failures := range 6 {
		fmt.Print(b.Duration(failures, 1), " ")
	}
	fmt.Println()
	// Output: 0s 1s 2s 4s 8s 10s
}

func ExampleItem() {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	q, err := queue.New(queue.Config{Now: func() time.Time { return now }, MaxUnschedulable: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod, err := framework.NewPodInfo(api.MakePod("web").Obj(), resource.NewSchema())
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	item := q.Add(ctx, pod)
	q.Requeue(ctx, q.Pop(), nil, queue.Rejectors{Plugins: []string{"NodeResourcesFit"}})
	fmt.Println("attempts:", item.Attempts, "rejected by", item.Plugins)

	depth := q.Len()
	fmt.Printf("%+v\n", depth)
	fmt.Println(depth == queue.Length{Unschedulable: 1})

	now = now.Add(2 * time.Minute)
	q.Flush(ctx)
	fmt.Println("only time has passed:", q.Pop().Flushed)
	// Output:
	// attempts: 1 rejected by [NodeResourcesFit]
	// {Active:0 Backoff:0 Unschedulable:1 Gated:0 InFlight:0}
	// true
	// only time has passed: true
}

// A group that has left the queue comes back with its failures.
func ExampleFailures() {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	q, err := queue.New(queue.Config{Now: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod, err := framework.NewPodInfo(api.MakePod("first-of-four").Obj(), resource.NewSchema())
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	q.AddAfter(ctx, pod, 4, queue.Failures{Errors: 3, Last: now.Add(-time.Second)})
	fmt.Println("ready at once:", q.Pop() != nil)
	now, _ = q.NextFlush()
	q.Flush(ctx)
	fmt.Println("after", now.Format("05"), "s:", q.Pop().Pod.Pod.Name)
	// Output:
	// ready at once: false
	// after 04 s: first-of-four
}

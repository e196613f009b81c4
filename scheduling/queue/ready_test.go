package queue_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/queue"
	"pgregory.net/rapid"
)

// TestOrderOfManyPriorities: with far more priorities than a queue has lanes, pods
// come, change, back off and leave. They are popped in the order of priority, time
// and arrival.
func TestOrderOfManyPriorities(t *testing.T) {
	ctx, schema := context.Background(), resource.NewSchema()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_700_000_000, 0)
		q, err := queue.New(queue.Config{Now: func() time.Time { return now }, Backoff: queue.Backoff{Max: queue.NoBackoff}})
		if err != nil {
			t.Fatal(err)
		}
		type entry struct {
			it       *queue.Item
			priority int32
			at       time.Time
			arrival  int
		}
		var want []entry
		pod := func(n int) (*framework.PodInfo, int32) {
			priority := int32(rapid.IntRange(-100, 100).Draw(t, "priority"))
			info, err := framework.NewPodInfo(api.MakePod(fmt.Sprint("p", n)).Priority(priority).Obj(), schema)
			if err != nil {
				t.Fatal(err)
			}
			return info, priority
		}
		for n := range rapid.IntRange(1, 150).Draw(t, "pods") {
			now = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "later")) * time.Millisecond)
			info, priority := pod(n)
			want = append(want, entry{q.Add(ctx, info), priority, now, n})
			k := rapid.IntRange(0, len(want)-1).Draw(t, "which")
			switch e := &want[k]; rapid.IntRange(0, 6).Draw(t, "then") {
			case 0:
				info, priority := pod(n)
				q.Update(ctx, e.it, info)
				e.priority = priority
			case 1:
				q.Delete(e.it)
				want = slices.Delete(want, k, k+1)
			case 2: // the popped pod comes back with a new time
				it := q.Pop()
				i := slices.IndexFunc(want, func(e entry) bool { return e.it == it })
				q.Requeue(ctx, it, nil, queue.Rejectors{Plugins: []string{"X"}})
				q.Activate(ctx, it)
				want[i].at = now
			}
			if got := q.Len().Active; got != len(want) {
				t.Fatalf("%d pods are ready, want %d", got, len(want))
			}
		}
		if got := len(q.Items()); got != len(want) {
			t.Fatalf("Items() has %d items, want %d", got, len(want))
		}
		slices.SortFunc(want, func(a, b entry) int {
			return cmp.Or(cmp.Compare(b.priority, a.priority), a.at.Compare(b.at), cmp.Compare(a.arrival, b.arrival))
		})
		for i, e := range want {
			if it := q.Pop(); it != e.it {
				t.Fatalf("pod %d is %s of priority %d, want %s of %d", i, it.Pod.Pod.Name, it.Pod.Priority, e.it.Pod.Pod.Name, e.priority)
			}
		}
		if it := q.Pop(); it != nil {
			t.Fatalf("one pod too many: %s", it.Pod.Pod.Name)
		}
	})
}

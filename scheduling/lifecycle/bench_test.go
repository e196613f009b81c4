//go:build full

package lifecycle_test

import (
	"context"
	"expvar"
	"fmt"
	"math"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/observe"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// BenchmarkObservers measures an attempt on 1,000 nodes without an observer, with
// steps and the queue observed, and with every plugin observed.
func BenchmarkObservers(b *testing.B) {
	for _, tt := range []struct {
		name     string
		observer lifecycle.Observer
	}{
		{"nobody", nil},
		{"steps", observe.NewVars(new(expvar.Map))},
		{"plugins", observe.NewPluginVars(new(expvar.Map))},
	} {
		b.Run(tt.name, func(b *testing.B) {
			d, err := lifecycle.New(lifecycle.Config{
				Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: virtualclock.New(epoch), Observer: tt.observer,
				Binder: lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
			})
			if err != nil {
				b.Fatal(err)
			}
			for i := range 1000 {
				d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "32", "128Gi").Zone(fmt.Sprint(i % 3)).Obj()))
			}
			pod := api.MakePod("p").Requests("1", "1Gi").Obj()
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				d.Apply(lifecycle.Update(pod))
				if a, ok := d.ScheduleOne(ctx); !ok || a.State != lifecycle.Bound {
					b.Fatal(a.Err)
				}
				d.Apply(lifecycle.Delete(pod))
			}
		})
	}
}

// BenchmarkRefusedLeavings measures what each step of a driver costs more for a pod that an extension does not let off its node.
func BenchmarkRefusedLeavings(b *testing.B) {
	const pods = 1000
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: virtualclock.New(epoch),
		Binder: lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
	})
	if err != nil {
		b.Fatal(err)
	}
	lit := 0
	fuse{lit: &lit}.lay(d)
	pod := func(i int) *api.Pod {
		return onNode(api.MakePod(fmt.Sprint("p", i)).Requests("1m", "1Mi").Obj(), fmt.Sprint("n", i%100))
	}
	for i := range 100 {
		d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "32", "128Gi").Obj()))
	}
	for i := range pods {
		d.Apply(lifecycle.Update(pod(i)))
	}
	ctx := context.Background()
	d.Flush(ctx)
	lit = math.MaxInt
	for i := range pods {
		d.Apply(lifecycle.Delete(pod(i)))
	}
	d.Flush(ctx)
	before := lit
	for b.Loop() {
		d.ScheduleOne(ctx)
	}
	if asked := (before - lit) / b.N; asked != pods {
		b.Fatalf("a step asks %d times, want %d", asked, pods)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pods), "ns/pod")
}

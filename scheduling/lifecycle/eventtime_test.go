package lifecycle_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestPodsCountFromTheirEvent: a pod that another scheduler has bound since the last attempt is young for the load-aware
// filter: its estimate counts, although a report that has seen it begin says that it uses little.
func TestPodsCountFromTheirEvent(t *testing.T) {
	used := func(cpu string) resource.List {
		return resource.List{resource.CPU: resource.MustParse(cpu), resource.Memory: resource.MustParse("1Gi")}
	}
	report := func(at time.Time, pods ...*api.PodMetricInfo) lifecycle.Event {
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "n"}}
		m.Status.UpdateTime = &at
		m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(used("100m"))}
		m.Status.PodsMetric = pods
		return lifecycle.Update(m)
	}
	for _, busy := range []bool{false, true} { // the driver has tried a pod just before
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, filter.LoadAware{})
		profile.Reserve = append(profile.Reserve, estimator.Assigner{})
		w := newWorld(t, profile)
		w.confirm = true
		estimator.LedgerOf(w.d.Snapshot())
		w.nodes(api.MakeNode("n", "10", "64Gi"))
		w.d.Apply(report(w.clock.Now()))
		w.pods(api.MakePod("first").Requests("100m", "1Mi"))
		w.all()
		w.pass(10 * time.Minute)
		w.d.Apply(report(w.clock.Now()))
		if busy {
			w.pods(api.MakePod("nowhere").Requests("100", "1Mi"))
			w.all()
		}
		big := onNode(api.MakePod("big").Requests("8", "1Gi").Obj(), "n")
		w.d.Apply(lifecycle.Update(big))
		w.d.Flush(w.ctx)
		w.pass(30 * time.Second)
		w.d.Apply(report(w.clock.Now(), &api.PodMetricInfo{Namespace: big.Namespace, Name: big.Name, PodUsage: api.ResourceMapOf(used("100m"))}))
		w.pods(api.MakePod("late").Requests("1", "1Mi"))
		w.all()
		if node := w.bound["late"]; node != "" {
			t.Errorf("busy %v: late is bound to %s, which big has filled", busy, node)
		}
	}
}

// TestForksHaveTheTime: a driver that tries no pod, as one that only answers as an extender, has the time of its clock, so
// reports of nodes expire.
func TestForksHaveTheTime(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	w.pass(time.Hour)
	now := make(chan time.Time, 1)
	go func() {
		_ = w.d.Do(w.ctx, func(s *framework.Snapshot) { now <- s.Fork().Now() })
	}()
	for {
		w.d.Flush(w.ctx)
		select {
		case at := <-now:
			if !at.Equal(w.clock.Now()) {
				t.Errorf("the fork has the time %v, want %v", at, w.clock.Now())
			}
			return
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

package lifecycle_test

import (
	"context"
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

// TestUnreserveSparesWhatIsBound: while a pod waits on Permit, another scheduler binds it to the same node. Its own binding ends,
// and what is reserved for it is taken back; but it is on the node, and so in the load-aware ledger.
func TestUnreserveSparesWhatIsBound(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Filter = append(profile.Filter, filter.LoadAware{})
	profile.Reserve = append(profile.Reserve, estimator.Assigner{})
	profile.Permit = []framework.Plugin{awaiting{"big"}}
	w := newWorld(t, profile)
	estimator.LedgerOf(w.d.Snapshot())
	w.nodes(api.MakeNode("n", "10", "64Gi"))
	m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "n"}}
	m.Status.UpdateTime = new(w.clock.Now())
	m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.MustParse("100m"), resource.Memory: resource.MustParse("1Gi")})}
	w.d.Apply(lifecycle.Update(m))
	big := api.MakePod("big").UID("big").Requests("7", "1Gi").Obj()
	w.d.Apply(lifecycle.Update(big))
	w.all()
	w.d.Apply(lifecycle.Update(onNode(big, "n")))
	w.all()
	w.wantOn("n", "big")
	w.pass(20 * time.Second)
	w.pods(api.MakePod("late").UID("late").Requests("2", "1Mi"))
	w.all()
	w.wantOn("n", "big")
}

// awaiting is a Permit plugin that lets pods of one name wait.
type awaiting struct{ name string }

func (awaiting) Name() string { return "awaiting" }

func (h awaiting) Permit(_ context.Context, c *framework.Cycle, _ string) (framework.Status, time.Duration) {
	if c.Pod.Pod.Name == h.name {
		return framework.Status{}.WithCode(framework.Wait), time.Minute
	}
	return framework.Status{}, 0
}

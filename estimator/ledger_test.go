package estimator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// ledgerFixture is a node that was measured a minute ago, with one pod that started
// long before.
type ledgerFixture struct {
	t        *testing.T
	snapshot *framework.Snapshot
}

func newLedgerFixture(t *testing.T) *ledgerFixture {
	t.Helper()
	f := &ledgerFixture{t, framework.NewSnapshot(framework.ZoneInterleaved)}
	f.snapshot.SetNow(modelStart.Add(-time.Hour))
	f.ok(f.snapshot.AddNode(api.MakeNode("n1", "10", "10Gi").Obj()))
	estimator.LedgerOf(f.snapshot)
	f.ok(f.snapshot.AddPod(f.pod("old", "1", "1Gi"), "n1"))
	f.snapshot.SetNow(modelStart)
	f.ok(estimator.LedgerOf(f.snapshot).SetMetric(f.metric(modelStart.Add(-time.Minute))))
	return f
}

func (f *ledgerFixture) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *ledgerFixture) pod(name, cpu, memory string) *framework.PodInfo {
	f.t.Helper()
	info, err := f.snapshot.NewPodInfo(api.MakePod(name).UID(api.UID("uid-"+name)).Requests(cpu, memory).Obj())
	f.ok(err)
	return info
}

// metric reports 2 cores and 4 GiB for the node, and 500m and 512 MiB for pod old.
func (f *ledgerFixture) metric(at time.Time) *api.NodeMetric {
	return &api.NodeMetric{
		ObjectMeta: api.ObjectMeta{Name: "n1"},
		Status: api.NodeMetricStatus{
			UpdateTime: &at,
			NodeMetric: &api.NodeMetricInfo{NodeUsage: usage("2", "4Gi")},
			PodsMetric: []*api.PodMetricInfo{
				{Name: "old", Namespace: "default", PodUsage: usage("500m", "512Mi"), Priority: "koord-prod"},
			},
		},
	}
}

func usage(cpu, memory string) api.ResourceMap {
	return api.ResourceMapOf(resource.List{
		resource.CPU: resource.MustParse(cpu), resource.Memory: resource.MustParse(memory),
	})
}

// use returns the use of n1 by the default configuration: cpu and memory.
func use(s *framework.Snapshot) []int64 {
	return append([]int64(nil), estimator.DefaultLoad().View(s).Use(s.Node("n1"), estimator.WholeForScore)...)
}

const gib = 1 << 30

func TestLedgerCountsPodsUntilTheyAreMeasured(t *testing.T) {
	f := newLedgerFixture(t)
	if diff := cmp.Diff([]int64{2000, 4 * gib}, use(f.snapshot)); diff != "" {
		t.Fatalf("settled node (-want +got)\n%s", diff)
	}
	// 85 % of 1000m and 70 % of 1 GiB, rounded.
	p := f.pod("new", "1", "1Gi")
	f.ok(f.snapshot.AddPod(p, "n1"))
	withNew := []int64{2850, 4*gib + 751619277}
	if diff := cmp.Diff(withNew, use(f.snapshot)); diff != "" {
		t.Fatalf("after a pod came (-want +got)\n%s", diff)
	}

	// Half a minute later it is reported, but not yet for a whole interval, so the
	// part of its estimate above its usage still counts.
	f.snapshot.SetNow(modelStart.Add(30 * time.Second))
	m := f.metric(modelStart.Add(30 * time.Second))
	m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Name: "new", Namespace: "default", PodUsage: usage("100m", "1Gi")})
	f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
	if diff := cmp.Diff([]int64{2750, 4 * gib}, use(f.snapshot)); diff != "" {
		t.Fatalf("in the window (-want +got)\n%s", diff)
	}

	m = f.metric(modelStart.Add(time.Minute))
	m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Name: "new", Namespace: "default", PodUsage: usage("100m", "1Gi")})
	f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
	if diff := cmp.Diff([]int64{2000, 4 * gib}, use(f.snapshot)); diff != "" {
		t.Fatalf("after the window (-want +got)\n%s", diff)
	}
}

func TestLedgerReserveAndUnreserve(t *testing.T) {
	f := newLedgerFixture(t)
	before := use(f.snapshot)
	generation := f.snapshot.Node("n1").Generation()
	var c framework.Cycle
	c.Reset(f.pod("new", "1", "1Gi"), f.snapshot, 0, 0)
	plugin := estimator.Assigner{}
	for range 2 { // the second time changes nothing
		if s := plugin.Reserve(&c, f.snapshot.Node("n1")); !s.IsSuccess() {
			t.Fatal(s)
		}
		if got := use(f.snapshot); got[0] != 2850 {
			t.Fatalf("reserved: use of cpu = %d, want 2850", got[0])
		}
	}
	if f.snapshot.Node("n1").Generation() == generation {
		t.Error("Reserve did not touch the node")
	}
	for range 2 {
		plugin.Unreserve(&c, f.snapshot.Node("n1"))
		if diff := cmp.Diff(before, use(f.snapshot)); diff != "" {
			t.Fatalf("unreserved (-want +got)\n%s", diff)
		}
	}
}

// A fork reserves a pod and undoes it; neither shows in the original, and the
// rollback leaves nothing in the fork.
func TestLedgerForkWithRollback(t *testing.T) {
	f := newLedgerFixture(t)
	before := use(f.snapshot)
	fork := f.snapshot.Fork()
	generation := fork.Node("n1").Generation()
	p := f.pod("new", "1", "1Gi")
	mark := fork.Begin()
	f.ok(fork.AddPod(p, "n1"))
	f.ok(estimator.LedgerOf(fork).Assign(p, fork.Node("n1")))
	f.ok(estimator.LedgerOf(fork).SetMetric(f.metric(modelStart)))
	if got := use(fork); got[0] != 2850 {
		t.Errorf("fork: use of cpu = %d, want 2850", got[0])
	}
	if diff := cmp.Diff(before, use(f.snapshot)); diff != "" {
		t.Errorf("original, while the fork differs (-want +got)\n%s", diff)
	}
	fork.Rollback(mark)
	if diff := cmp.Diff(before, use(fork)); diff != "" {
		t.Errorf("fork, rolled back (-want +got)\n%s", diff)
	}
	if got := fork.Node("n1").Generation(); got != generation {
		t.Errorf("fork, rolled back: generation %d, want %d", got, generation)
	}
	if got := estimator.LedgerOf(fork).Metric(fork.Node("n1")).Status.UpdateTime; !got.Equal(modelStart.Add(-time.Minute)) {
		t.Errorf("fork, rolled back: metric of %v", got)
	}
}

// A rollback that restores a pod on its node keeps the pod's time.
func TestLedgerRollbackKeepsTimes(t *testing.T) {
	f := newLedgerFixture(t)
	old := f.snapshot.Node("n1").Pods[0]
	before := use(f.snapshot)
	mark := f.snapshot.Begin()
	f.ok(f.snapshot.RemovePod(old, "n1"))
	f.snapshot.SetNow(modelStart.Add(time.Minute))
	f.snapshot.Rollback(mark)
	if diff := cmp.Diff(before, use(f.snapshot)); diff != "" {
		t.Errorf("rolled back (-want +got)\n%s", diff)
	}
}

func TestLedgerExpiry(t *testing.T) {
	f := newLedgerFixture(t)
	view := estimator.DefaultLoad().View(f.snapshot)
	n := f.snapshot.Node("n1")
	expires := modelStart.Add(2 * time.Minute) // 180 s after the metric
	if got := view.ValidUntil(n); !got.Equal(expires) {
		t.Errorf("ValidUntil = %v, want %v", got, expires)
	}
	for _, test := range []struct {
		at   time.Time
		want bool
	}{{expires.Add(-1), false}, {expires, true}, {expires.Add(time.Hour), true}, {modelStart.Add(-time.Hour), false}} {
		f.snapshot.SetNow(test.at)
		if got := view.Expired(n); got != test.want {
			t.Errorf("at %v: Expired = %t, want %t", test.at, got, test.want)
		}
	}
	f.snapshot.SetNow(expires)
	if got := view.ValidUntil(n); !got.IsZero() {
		t.Errorf("expired: ValidUntil = %v, want none", got)
	}
	m := f.metric(expires)
	m.Status.UpdateTime = nil
	f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
	if !view.Expired(n) {
		t.Error("a metric without a time has not expired")
	}
	estimator.LedgerOf(f.snapshot).RemoveMetric("n1")
	if view.Expired(n) || view.Measured(n) || view.Use(n, estimator.WholeForScore) != nil {
		t.Error("a node without a metric counts as measured")
	}
}

// Reports are objects of the snapshot: the ledger finds reports from before it, and
// before the node, and follows their changes.
func TestLedgerFollowsObjects(t *testing.T) {
	f := &ledgerFixture{t, framework.NewSnapshot(framework.ZoneInterleaved)}
	f.snapshot.SetNow(modelStart)
	node := api.MakeNode("n1", "10", "10Gi").Obj()
	first, second := f.metric(modelStart.Add(-time.Minute)), f.metric(modelStart)
	second.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: usage("3", "4Gi")}
	f.ok(framework.Put(f.snapshot, first))
	f.ok(f.snapshot.AddNode(node))
	want := func(what string, s *framework.Snapshot, cpu int64) {
		t.Helper()
		var got int64
		if u := use(s); u != nil {
			got = u[0]
		}
		if got != cpu {
			t.Errorf("%s: use of cpu = %d, want %d", what, got, cpu)
		}
	}
	want("metric before the ledger", f.snapshot, 2000)
	fork := f.snapshot.Fork()
	f.ok(framework.Put(fork, second))
	want("new metric in a fork", fork, 3000)
	want("original of the fork", f.snapshot, 2000)

	mark := f.snapshot.Begin()
	f.ok(framework.Put(f.snapshot, second))
	want("new metric", f.snapshot, 3000)
	framework.Delete[api.NodeMetric](f.snapshot, "n1")
	want("no metric", f.snapshot, 0)
	f.snapshot.Rollback(mark)
	want("rolled back", f.snapshot, 2000)

	f.ok(f.snapshot.RemoveNode("n1"))
	f.ok(framework.Put(f.snapshot, second))
	f.ok(f.snapshot.AddNode(node))
	want("metric before the node", f.snapshot, 3000)
	f.ok(framework.Put(f.snapshot, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "n1"}}))
	want("another kind of the same name", f.snapshot, 3000)
}

func TestLedgerErrors(t *testing.T) {
	f := newLedgerFixture(t)
	l := estimator.LedgerOf(f.snapshot)
	p, n := f.pod("p", "1", "1Gi"), f.snapshot.Node("n1")
	gone := f.snapshot.Fork()
	f.ok(gone.RemoveNode("n1"))
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"nil metric", l.SetMetric(nil), "node metric: is nil"},
		{
			"unknown node", l.SetMetric(&api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "n9"}}),
			`node metric n9: metadata.name: "n9": no such node in the snapshot`,
		},
		{"nil pod", l.Assign(nil, n), "pod: is nil"},
		{"nil node", l.Assign(p, nil), "pod default/p: spec.nodeName: no such node in the snapshot"},
		{"node that is gone", estimator.LedgerOf(gone).Unassign(p, n), `pod default/p: spec.nodeName: "n1": no such node in the snapshot`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var invalid *api.InvalidError
			if !errors.As(test.err, &invalid) || test.err.Error() != test.want {
				t.Errorf("error %v, want %s", test.err, test.want)
			}
		})
	}
	l.RemoveMetric("n9") // fine
}

// Loads of equal configurations share their sums, so a filter and a scorer built
// separately cost no more than one.
func TestLedgerSharesBooks(t *testing.T) {
	f := newLedgerFixture(t)
	config := estimator.LoadConfig{Weights: map[resource.Name]int64{resource.CPU: 2, resource.Memory: 1}}
	var views [2]estimator.View
	for i := range views {
		load, err := estimator.NewLoad(config)
		f.ok(err)
		views[i] = load.View(f.snapshot)
	}
	n := f.snapshot.Node("n1")
	a, b := views[0].Use(n, estimator.WholeForScore), views[1].Use(n, estimator.WholeForScore)
	if &a[0] != &b[0] {
		t.Error("two Loads of one configuration have sums of their own")
	}
}

func TestLedgerAllocations(t *testing.T) {
	f := newLedgerFixture(t)
	l, n := estimator.LedgerOf(f.snapshot), f.snapshot.Node("n1")
	p := f.pod("new", "1", "1Gi")
	f.ok(f.snapshot.AddPod(p, "n1"))
	use(f.snapshot)
	if got := testing.AllocsPerRun(100, func() { f.ok(l.Assign(p, n)) }); got > 0 {
		t.Errorf("Assign of a pod that is there: %v allocations, want 0", got)
	}
}

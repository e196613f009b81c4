//go:build full

package estimator_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// recomputed returns the use from a new snapshot with the content of s.
func (f *ledgerFixture) recomputed(s *framework.Snapshot) []int64 {
	f.t.Helper()
	fresh := framework.NewSnapshot(framework.ZoneInterleaved)
	fresh.SetNow(s.Now())
	f.ok(fresh.AddNode(s.Node("n1").Node))
	for _, p := range s.Node("n1").Pods {
		if p.Pod.Name == "old" {
			continue // it was there before, so it is measured and adds nothing
		}
		info, err := fresh.NewPodInfo(p.Pod)
		f.ok(err)
		f.ok(fresh.AddPod(info, "n1"))
	}
	f.ok(estimator.LedgerOf(fresh).SetMetric(estimator.LedgerOf(s).Metric(s.Node("n1"))))
	return use(fresh)
}

// If two versions of a pod are present at once, one counts; if either leaves, the
// other stays.
func TestLedgerAddBeforeRemove(t *testing.T) {
	const newCPU, largerCPU = 2850, 3700
	tests := []struct {
		name  string
		leave func(older, newer *framework.PodInfo) *framework.PodInfo
		want  int64
	}{
		{"the older version leaves", func(older, _ *framework.PodInfo) *framework.PodInfo { return older }, largerCPU},
		{"the newer version leaves", func(_, newer *framework.PodInfo) *framework.PodInfo { return newer }, newCPU},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newLedgerFixture(t)
			older, newer := f.pod("new", "1", "1Gi"), f.pod("new", "2", "1Gi")
			f.ok(f.snapshot.AddPod(older, "n1"))
			f.ok(f.snapshot.AddPod(newer, "n1"))
			before := use(f.snapshot)
			if before[0] != largerCPU {
				t.Fatalf("both there: use of cpu = %d, want %d", before[0], largerCPU)
			}
			gone := test.leave(older, newer)
			mark := f.snapshot.Begin()
			f.ok(f.snapshot.RemovePod(gone, "n1"))
			f.snapshot.Rollback(mark)
			if diff := cmp.Diff(before, use(f.snapshot)); diff != "" {
				t.Fatalf("rolled back (-want +got)\n%s", diff)
			}
			f.ok(f.snapshot.RemovePod(gone, "n1"))
			got := use(f.snapshot)
			if got[0] != test.want {
				t.Errorf("use of cpu = %d, want %d", got[0], test.want)
			}
			if diff := cmp.Diff(f.recomputed(f.snapshot), got); diff != "" {
				t.Errorf("use (-recomputed +got)\n%s", diff)
			}
			for _, p := range f.snapshot.Node("n1").Pods {
				if p.Pod.Name == "new" {
					f.ok(f.snapshot.RemovePod(p, "n1"))
				}
			}
			if got := use(f.snapshot); got[0] != 2000 {
				t.Errorf("both gone: use of cpu = %d, want 2000", got[0])
			}
		})
	}
}

// A finished version does not keep the pod.
func TestLedgerFinishedVersion(t *testing.T) {
	f := newLedgerFixture(t)
	running := f.pod("new", "1", "1Gi")
	object := *running.Pod
	object.Status.Phase = api.PodSucceeded
	finished, err := f.snapshot.NewPodInfo(&object)
	f.ok(err)
	f.ok(f.snapshot.AddPod(running, "n1"))
	f.ok(f.snapshot.AddPod(finished, "n1"))
	f.ok(f.snapshot.RemovePod(running, "n1"))
	if got := use(f.snapshot); got[0] != 2000 {
		t.Errorf("use of cpu = %d, want 2000", got[0])
	}
}

// A new node in the slot of an old one does not see the old node's pods.
func TestLedgerSlotReuse(t *testing.T) {
	f := newLedgerFixture(t)
	f.ok(f.snapshot.RemoveNode("n1"))
	f.ok(f.snapshot.AddNode(api.MakeNode("n1", "10", "10Gi").Obj()))
	f.ok(f.snapshot.AddPod(f.pod("old", "1", "1Gi"), "n1"))
	m := f.metric(modelStart.Add(30 * time.Second)) // half an interval after it came
	f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
	// The pod's estimate is 850m and its usage 500m, so it adds 350m.
	if got := use(f.snapshot); got[0] != 2350 {
		t.Errorf("use of cpu = %d, want 2350: the pod has just come to this node", got[0])
	}
}

// A pod assigned before it had a UID is the same pod when it is bound with one.
func TestLedgerUIDComesLater(t *testing.T) {
	f := newLedgerFixture(t)
	ledger := estimator.LedgerOf(f.snapshot)
	object := *f.pod("new", "1", "1Gi").Pod
	object.UID = ""
	early, err := f.snapshot.NewPodInfo(&object)
	f.ok(err)
	f.ok(ledger.Assign(early, f.snapshot.Node("n1")))
	assigned := use(f.snapshot)
	if assigned[0] != 2850 {
		t.Fatalf("assigned: use of cpu = %d, want 2850", assigned[0])
	}
	bound := f.pod("new", "1", "1Gi")
	mark := f.snapshot.Begin()
	f.ok(f.snapshot.AddPod(bound, "n1"))
	if diff := cmp.Diff(assigned, use(f.snapshot)); diff != "" {
		t.Errorf("bound (-want +got)\n%s", diff)
	}
	f.snapshot.Rollback(mark)
	if diff := cmp.Diff(assigned, use(f.snapshot)); diff != "" {
		t.Errorf("rolled back (-want +got)\n%s", diff)
	}
	f.ok(f.snapshot.AddPod(bound, "n1"))
	f.ok(f.snapshot.RemovePod(bound, "n1"))
	if got := use(f.snapshot); got[0] != 2000 {
		t.Errorf("gone: use of cpu = %d, want 2000", got[0])
	}
}

// The use of prod pods is known only if a configuration or node needs it.
func TestViewProdUse(t *testing.T) {
	for _, rules := range []estimator.Rules{estimator.Koordinator14, estimator.Koordinator15, estimator.Koordinator16, estimator.Koordinator18} {
		for _, asked := range []bool{false, true} {
			f := newLedgerFixture(t)
			load, err := estimator.NewLoad(estimator.LoadConfig{Rules: rules, ScoreProd: asked})
			f.ok(err)
			for _, step := range []string{"settled", "with a pod that is not measured"} {
				for _, b := range []estimator.Basis{estimator.ProdForFilter, estimator.ProdForScore} {
					if got := load.View(f.snapshot).Use(f.snapshot.Node("n1"), b); (got != nil) != asked {
						t.Errorf("rules %s, %s, asked %t: Use(%d) = %v", rules, step, asked, b, got)
					}
				}
				f.ok(f.snapshot.AddPod(f.pod("new", "1", "1Gi"), "n1"))
				f.ok(estimator.LedgerOf(f.snapshot).SetMetric(f.metric(modelStart.Add(-time.Minute))))
			}
		}
	}
}

// A NodeMetric has no namespace. One with a namespace still belongs to its node,
// however it comes.
func TestLedgerMetricWithNamespace(t *testing.T) {
	f := newLedgerFixture(t)
	m := f.metric(modelStart)
	m.Namespace = "monitoring"
	m.Status.NodeMetric.NodeUsage = usage("3", "4Gi")
	f.ok(framework.Put(f.snapshot, m))
	if got := use(f.snapshot); got[0] != 3000 {
		t.Errorf("put: use of cpu = %d, want 3000", got[0])
	}
	framework.Delete[api.NodeMetric](f.snapshot, "n1")
	if got := use(f.snapshot); got != nil {
		t.Errorf("deleted: use = %v, want none", got)
	}
	f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
	if got := use(f.snapshot); got[0] != 3000 {
		t.Errorf("set: use of cpu = %d, want 3000", got[0])
	}
}

// Nil or empty arguments are refused or ignored.
func TestLedgerEmptyArguments(t *testing.T) {
	f := newLedgerFixture(t)
	ledger, n := estimator.LedgerOf(f.snapshot), f.snapshot.Node("n1")
	refused := map[string]error{
		"Assign(empty pod)":    ledger.Assign(&framework.PodInfo{}, n),
		"Assign(empty node)":   ledger.Assign(f.pod("a", "1", "1Gi"), &framework.NodeInfo{}),
		"Unassign(empty pod)":  ledger.Unassign(&framework.PodInfo{}, n),
		"Unassign(empty node)": ledger.Unassign(f.pod("a", "1", "1Gi"), &framework.NodeInfo{}),
	}
	for call, err := range refused {
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s = %v, want an InvalidError", call, err)
		}
	}
	before := use(f.snapshot)
	for _, p := range []*framework.PodInfo{nil, {}} {
		ledger.Observe(p)
		ledger.Unobserve(p)
	}
	if diff := cmp.Diff(before, use(f.snapshot)); diff != "" {
		t.Errorf("use (-want +got)\n%s", diff)
	}
	view := estimator.DefaultLoad().View(f.snapshot)
	if ledger.Metric(nil) != nil || view.Use(nil, estimator.WholeForScore) != nil || view.Measured(nil) || view.Expired(nil) {
		t.Error("a nil node is measured")
	}
	if got := view.Use(n, math.MaxUint8); got != nil {
		t.Errorf("use for an unknown purpose = %v, want none", got)
	}
}

// A Load with the default estimator by name shares its sums with a Load without a
// name.
func TestLoadsShareByEstimator(t *testing.T) {
	c := estimator.LoadConfig{Factors: map[resource.Name]int64{resource.CPU: 50}}
	named := c
	var err error
	if named.Estimator, err = estimator.KnownEstimators().New("", c); err != nil {
		t.Fatal(err)
	}
	f := newLedgerFixture(t)
	f.ok(f.snapshot.AddPod(f.pod("new", "1", "1Gi"), "n1"))
	var uses [][]int64
	for _, config := range []estimator.LoadConfig{c, named} {
		load, err := estimator.NewLoad(config)
		f.ok(err)
		uses = append(uses, load.View(f.snapshot).Use(f.snapshot.Node("n1"), estimator.WholeForScore))
	}
	if &uses[0][0] != &uses[1][0] || uses[0][0] != 2500 {
		t.Errorf("uses %v are apart, want one of 2500", uses)
	}
}

// A tripwire panics when a version of a pod comes, once.
type tripwire struct{ armed *bool }

func (t tripwire) Fork(*framework.Snapshot) framework.Extension { return t }

func (t tripwire) PodAdded(s *framework.Snapshot, _ *framework.NodeInfo, _ *framework.PodInfo) {
	if *t.armed && !s.RollingBack() {
		*t.armed = false
		panic("the wire")
	}
}

func (tripwire) PodRemoved(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}

// TestVersionsThatChangeNothing: a newer version with the same spec and conditions counts as measured as before, in whichever
// way it comes, also if another extension panics over it.
func TestVersionsThatChangeNothing(t *testing.T) {
	for name, come := range map[string]func(s *framework.Snapshot, old, p *framework.PodInfo) error{
		"replaced": func(s *framework.Snapshot, old, p *framework.PodInfo) error { return s.ReplacePod(old, p, "n1") },
		"renewed":  func(s *framework.Snapshot, old, p *framework.PodInfo) error { return s.RenewPod(old, p, "n1") },
	} {
		for _, panics := range []bool{false, true} {
			f := newLedgerFixture(t)
			armed := false
			framework.NewExtensionKey(func(*framework.Snapshot) tripwire { return tripwire{&armed} }).Of(f.snapshot)
			load, err := estimator.NewLoad(estimator.LoadConfig{Rules: estimator.Koordinator18})
			f.ok(err)
			use := func() []int64 {
				return slices.Clone(load.View(f.snapshot).Use(f.snapshot.Node("n1"), estimator.WholeForScore))
			}
			before := use()
			f.snapshot.SetNow(modelStart.Add(10 * time.Second))
			old := f.snapshot.Node("n1").Pods[0]
			newer := api.Clone(old.Pod)
			newer.Annotations = map[string]string{"of": "no matter"}
			p, err := f.snapshot.NewPodInfo(newer)
			f.ok(err)
			armed = panics
			if err := come(f.snapshot, old, p); (err != nil) != panics {
				t.Errorf("%s, an extension panics %t: %v", name, panics, err)
			}
			if got := use(); !slices.Equal(got, before) {
				t.Errorf("%s, an extension panics %t: the use is %v, want %v as before", name, panics, got, before)
			}
		}
	}
}

package estimator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// renewed returns another version of the pod, with that class if it is not empty.
func (f *ledgerFixture) renewed(p *framework.PodInfo, class string) *framework.PodInfo {
	f.t.Helper()
	object := api.Clone(p.Pod)
	if class != "" {
		object.Labels = map[string]string{estimator.LabelPriorityClass: class}
	}
	info, err := f.snapshot.NewPodInfo(object)
	f.ok(err)
	return info
}

// Whatever is tried and rolled back while a pod is away, the pod comes back as
// measured for an hour: it adds nothing.
func TestLedgerDepartureOutlastsOthers(t *testing.T) {
	rolledBack := func(change func(f *ledgerFixture, old *framework.PodInfo)) func(*ledgerFixture, *framework.PodInfo) {
		return func(f *ledgerFixture, old *framework.PodInfo) {
			mark := f.snapshot.Begin()
			change(f, old)
			f.snapshot.Rollback(mark)
		}
	}
	other := func(f *ledgerFixture) *framework.PodInfo { return f.pod("other", "1", "1Gi") }
	tests := []struct {
		name      string
		meanwhile func(f *ledgerFixture, old *framework.PodInfo)
	}{
		{"nothing", func(*ledgerFixture, *framework.PodInfo) {}},
		{"the snapshot is forked", func(f *ledgerFixture, _ *framework.PodInfo) { f.snapshot = f.snapshot.Fork() }},
		{"another pod is tried", rolledBack(func(f *ledgerFixture, _ *framework.PodInfo) {
			f.ok(f.snapshot.AddPod(other(f), "n1"))
		})},
		{"another pod is tried and leaves", rolledBack(func(f *ledgerFixture, _ *framework.PodInfo) {
			p := other(f)
			f.ok(f.snapshot.AddPod(p, "n1"))
			f.ok(f.snapshot.RemovePod(p, "n1"))
		})},
		{"its return is tried", rolledBack(func(f *ledgerFixture, old *framework.PodInfo) {
			f.ok(f.snapshot.AddPod(f.renewed(old, "koord-free"), "n1"))
		})},
		{"its end is tried", rolledBack(func(f *ledgerFixture, old *framework.PodInfo) {
			f.ok(estimator.LedgerOf(f.snapshot).Unassign(old, f.snapshot.Node("n1")))
		})},
		{"another pod is reserved", func(f *ledgerFixture, _ *framework.PodInfo) {
			var c framework.Cycle
			c.Reset(other(f), f.snapshot, 0, 0)
			f.ok(estimator.Assigner{}.Reserve(&c, f.snapshot.Node("n1")).Err())
			estimator.Assigner{}.Unreserve(&c, f.snapshot.Node("n1"))
		}},
		{"another pod finishes", func(f *ledgerFixture, _ *framework.PodInfo) {
			p := other(f)
			p.Pod.Status.Phase = api.PodSucceeded
			f.ok(f.snapshot.AddPod(p, "n1"))
			f.ok(f.snapshot.RemovePod(p, "n1"))
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newLedgerFixture(t)
			before, old := use(f.snapshot), f.snapshot.Node("n1").Pods[0]
			f.ok(f.snapshot.RemovePod(old, "n1"))
			test.meanwhile(f, old)
			f.ok(f.snapshot.AddPod(f.renewed(old, ""), "n1"))
			if diff := cmp.Diff(before, use(f.snapshot)); diff != "" {
				t.Errorf("use after the pod came back (-want +got)\n%s", diff)
			}
		})
	}
}

// A rolled-back pod was never there, so a later version of it is not an update.
func TestLedgerRolledBackPodIsForgotten(t *testing.T) {
	f := newLedgerFixture(t)
	p := f.pod("new", "1", "1Gi")
	mark := f.snapshot.Begin()
	f.ok(f.snapshot.AddPod(f.renewed(p, "koord-free"), "n1")) // its estimate is 0
	if got := use(f.snapshot); got[0] != 2000 {
		t.Fatalf("tried: use of cpu = %d, want 2000", got[0])
	}
	f.snapshot.Rollback(mark)
	f.ok(f.snapshot.AddPod(f.renewed(p, "koord-prod"), "n1"))
	if got := use(f.snapshot); got[0] != 2850 {
		t.Errorf("use of cpu = %d, want 2850", got[0])
	}
}

// A ledger made during an open transaction keeps the pods from before it.
func TestLedgerMadeInTransaction(t *testing.T) {
	f := &ledgerFixture{t, framework.NewSnapshot(framework.ZoneInterleaved)}
	f.snapshot.SetNow(modelStart)
	f.ok(f.snapshot.AddNode(api.MakeNode("n1", "10", "10Gi").Obj()))
	f.ok(framework.Put(f.snapshot, f.metric(modelStart)))
	for _, name := range []string{"a", "b"} {
		f.ok(f.snapshot.AddPod(f.pod(name, "1", "1Gi"), "n1"))
	}
	mark := f.snapshot.Begin()
	f.ok(f.snapshot.AddPod(f.pod("c", "1", "1Gi"), "n1"))
	if got := use(f.snapshot); got[0] != 2000+3*850 {
		t.Fatalf("tried: use of cpu = %d, want 4550", got[0])
	}
	f.snapshot.Rollback(mark)
	if got := use(f.snapshot); got[0] != 2000+2*850 {
		t.Errorf("rolled back: use of cpu = %d, want 3700", got[0])
	}
}

// Trying a pod on a node allocates nothing for the ledger but the placement that it
// undoes.
func TestLedgerTrialAllocations(t *testing.T) {
	f := newLedgerFixture(t)
	p := f.pod("new", "1", "1Gi")
	use(f.snapshot)
	got := testing.AllocsPerRun(100, func() {
		mark := f.snapshot.Begin()
		f.ok(f.snapshot.AddPod(p, "n1"))
		f.snapshot.Rollback(mark)
	})
	if got > 1 {
		t.Errorf("%v allocations, want 1 at most", got)
	}
}

package estimator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// prodUse returns the use of prod pods on n1 for filters.
func (f *ledgerFixture) prodUse(rules estimator.Rules) []int64 {
	f.t.Helper()
	load, err := estimator.NewLoad(estimator.LoadConfig{Rules: rules, ScoreProd: true, ProdThresholds: map[resource.Name]int64{resource.CPU: 50}})
	f.ok(err)
	return append([]int64(nil), load.View(f.snapshot).Use(f.snapshot.Node("n1"), estimator.ProdForFilter)...)
}

// Up to 1.6, a report counts by the class of the pod in the snapshot, even if
// another version was assigned, and whatever pods other nodes have.
func TestLedgerReportHasClassOfResident(t *testing.T) {
	for _, rules := range []estimator.Rules{estimator.Koordinator14, estimator.Koordinator15} {
		t.Run(string(rules), func(t *testing.T) {
			f := newLedgerFixture(t)
			want := f.prodUse(rules)
			if want[0] != 500 {
				t.Fatalf("use of cpu = %d, want 500", want[0])
			}
			expect := func(when string) {
				t.Helper()
				if diff := cmp.Diff(want, f.prodUse(rules)); diff != "" {
					t.Errorf("%s: use (-want +got)\n%s", when, diff)
				}
			}
			ledger, n := estimator.LedgerOf(f.snapshot), f.snapshot.Node("n1")
			f.ok(ledger.Assign(f.renewed(n.Pods[0], "koord-batch"), n))
			expect("assigned as batch")
			f.ok(f.snapshot.AddNode(api.MakeNode("n2", "10", "10Gi").Obj()))
			for i := range 2 {
				p, err := f.snapshot.NewPodInfo(api.MakePod("twin").UID(api.UID(fmt.Sprint("t", i))).Obj())
				f.ok(err)
				f.ok(f.snapshot.AddPod(p, "n2"))
			}
			f.ok(ledger.SetMetric(f.metric(modelStart.Add(-time.Minute))))
			expect("with namesakes on another node")
			f.ok(ledger.Unassign(n.Pods[0], n))
			f.ok(ledger.Assign(f.renewed(n.Pods[0], "koord-batch"), n))
			expect("assigned anew as batch")
		})
	}
}

// If a node has two versions, the last one gives the class, also after a rollback
// restored it.
func TestLedgerReportHasClassOfLastVersion(t *testing.T) {
	f := newLedgerFixture(t)
	old := f.snapshot.Node("n1").Pods[0]
	batch := f.renewed(old, "koord-batch")
	f.ok(f.snapshot.AddPod(batch, "n1"))
	for _, gone := range []*framework.PodInfo{old, batch} {
		mark := f.snapshot.Begin()
		f.ok(f.snapshot.RemovePod(gone, "n1"))
		f.snapshot.Rollback(mark)
		if got := f.prodUse(estimator.Koordinator14); got[0] != 0 {
			t.Errorf("use of cpu = %d, want 0: the pod is batch now", got[0])
		}
	}
}

// A pod in the snapshot without a UID is never replaced by one of its name with a
// UID, even if it was unassigned for a while.
func TestLedgerAssignedAgainIsListed(t *testing.T) {
	f := newLedgerFixture(t)
	object := *f.pod("new", "1", "1Gi").Pod
	object.UID = ""
	p, err := f.snapshot.NewPodInfo(&object)
	f.ok(err)
	f.ok(f.snapshot.AddPod(p, "n1"))
	ledger, n := estimator.LedgerOf(f.snapshot), f.snapshot.Node("n1")
	f.ok(ledger.Unassign(p, n))
	f.ok(ledger.Assign(p, n))
	f.ok(f.snapshot.AddPod(f.pod("new", "1", "1Gi"), "n1"))
	if got := use(f.snapshot); got[0] != 2000+2*850 {
		t.Errorf("use of cpu = %d, want 3700: there are two pods", got[0])
	}
}

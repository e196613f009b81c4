//go:build full

package estimator_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// legacyUse returns the use of n1 for scores, by rules up to 1.6.
func (f *ledgerFixture) legacyUse(rules estimator.Rules) []int64 {
	f.t.Helper()
	load, err := estimator.NewLoad(estimator.LoadConfig{Rules: rules})
	f.ok(err)
	return append([]int64(nil), load.View(f.snapshot).Use(f.snapshot.Node("n1"), estimator.WholeForScore)...)
}

// undated is the fixture's metric without its time.
func (f *ledgerFixture) undated() *api.NodeMetric {
	m := f.metric(modelStart)
	m.Status.UpdateTime = nil
	return m
}

// A metric older than the ledger, or than the node, keeps its time: a pod placed
// long before it is measured.
func TestLedgerFindsTimeOfMetric(t *testing.T) {
	f := &ledgerFixture{t, framework.NewSnapshot(framework.ZoneInterleaved)}
	f.snapshot.SetNow(modelStart.Add(-time.Hour))
	f.ok(f.snapshot.AddNode(api.MakeNode("n1", "10", "10Gi").Obj()))
	f.ok(f.snapshot.AddPod(f.pod("old", "1", "1Gi"), "n1"))
	f.ok(framework.Put(f.snapshot, f.metric(modelStart)))
	want := []int64{2000, 4 * gib}
	if diff := cmp.Diff(want, use(f.snapshot)); diff != "" {
		t.Errorf("metric before the ledger: use (-want +got)\n%s", diff)
	}
	f.ok(f.snapshot.RemoveNode("n1"))
	f.ok(f.snapshot.AddNode(api.MakeNode("n1", "10", "10Gi").Obj()))
	f.ok(f.snapshot.AddPod(f.pod("old", "1", "1Gi"), "n1"))
	if diff := cmp.Diff(want, use(f.snapshot)); diff != "" {
		t.Errorf("metric before the node: use (-want +got)\n%s", diff)
	}
}

// A metric without a time keeps the previous metric's time, until the node has
// neither metric nor pods.
func TestLedgerForgetsTimeOfMetric(t *testing.T) {
	const measured, late = 2000, 2000 + 850 - 500
	ten := modelStart.Add(10 * time.Minute)
	tests := []struct {
		name string
		do   func(f *ledgerFixture, p *framework.PodInfo)
		want int64
	}{
		{"the metric goes, the pod stays", func(f *ledgerFixture, p *framework.PodInfo) {
			f.ok(f.snapshot.AddPod(p, "n1"))
			estimator.LedgerOf(f.snapshot).RemoveMetric("n1")
		}, measured},
		{"there is no pod when the metric goes", func(f *ledgerFixture, p *framework.PodInfo) {
			estimator.LedgerOf(f.snapshot).RemoveMetric("n1")
			f.ok(f.snapshot.AddPod(p, "n1"))
		}, late},
		{"the pod goes, too", func(f *ledgerFixture, p *framework.PodInfo) {
			f.ok(f.snapshot.AddPod(p, "n1"))
			estimator.LedgerOf(f.snapshot).RemoveMetric("n1")
			f.ok(f.snapshot.RemovePod(p, "n1"))
			f.ok(f.snapshot.AddPod(p, "n1"))
		}, late},
		{"the pod goes, too, and that is taken back", func(f *ledgerFixture, p *framework.PodInfo) {
			f.ok(f.snapshot.AddPod(p, "n1"))
			estimator.LedgerOf(f.snapshot).RemoveMetric("n1")
			mark := f.snapshot.Begin()
			f.ok(f.snapshot.RemovePod(p, "n1"))
			f.snapshot.Rollback(mark)
		}, measured},
		{"the pod is unassigned, and that is taken back", func(f *ledgerFixture, p *framework.PodInfo) {
			f.ok(f.snapshot.AddPod(p, "n1"))
			ledger := estimator.LedgerOf(f.snapshot)
			ledger.RemoveMetric("n1")
			mark := f.snapshot.Begin()
			f.ok(ledger.Unassign(p, f.snapshot.Node("n1")))
			f.snapshot.Rollback(mark)
		}, measured},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &ledgerFixture{t, framework.NewSnapshot(framework.ZoneInterleaved)}
			f.snapshot.SetNow(modelStart)
			f.ok(f.snapshot.AddNode(api.MakeNode("n1", "10", "10Gi").Obj()))
			ledger := estimator.LedgerOf(f.snapshot)
			f.ok(ledger.SetMetric(f.metric(ten)))
			test.do(f, f.pod("old", "1", "1Gi"))
			f.ok(ledger.SetMetric(f.undated()))
			if got := use(f.snapshot); got[0] != test.want {
				t.Errorf("use of cpu = %d, want %d", got[0], test.want)
			}
		})
	}
}

// By rules up to 1.6, a metric without a time measures no pod, and a metric with a
// negative interval measures no pod placed after it.
func TestLedgerLegacyWindow(t *testing.T) {
	const late = 2000 - 500 + 850
	for _, rules := range []estimator.Rules{estimator.Koordinator14, estimator.Koordinator15, estimator.Koordinator16} {
		t.Run(string(rules), func(t *testing.T) {
			f := newLedgerFixture(t)
			if got := f.legacyUse(rules); got[0] != 2000 {
				t.Errorf("measured: use of cpu = %d, want 2000", got[0])
			}
			f.ok(estimator.LedgerOf(f.snapshot).SetMetric(f.undated()))
			if got := f.legacyUse(rules); got[0] != late {
				t.Errorf("metric without a time: use of cpu = %d, want %d", got[0], late)
			}
			m := f.metric(modelStart.Add(-time.Hour - 10*time.Second)) // the pod came ten seconds later
			m.Spec.CollectPolicy = &api.NodeMetricCollectPolicy{ReportIntervalSeconds: new(int64(-30))}
			f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
			if got := f.legacyUse(rules); got[0] != late {
				t.Errorf("negative interval: use of cpu = %d, want %d", got[0], late)
			}
		})
	}
}

// A report of a pod without usage does not count, whether the usage is missing or
// empty.
func TestLedgerEmptyReport(t *testing.T) {
	for _, text := range []string{
		`{"name":"old","namespace":"default","priority":"koord-prod"}`,
		`{"name":"old","namespace":"default","priority":"koord-prod","podUsage":{}}`,
		`{"name":"old","namespace":"default","priority":"koord-prod","podUsage":{"resources":{}}}`,
		`{"name":"old","namespace":"default","priority":"koord-prod","podUsage":{"resources":null}}`,
	} {
		f := newLedgerFixture(t)
		report := new(api.PodMetricInfo)
		f.ok(json.Unmarshal([]byte(text), report))
		m := f.metric(modelStart)
		m.Status.PodsMetric[0] = report
		f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
		for _, rules := range []estimator.Rules{estimator.Koordinator14, estimator.Koordinator16, estimator.Koordinator18} {
			if got := f.legacyUse(rules); got[0] != 2850 {
				t.Errorf("rules %s, report %s: use of cpu = %d, want 2850", rules, text, got[0])
			}
		}
	}
}

// If two pods on another node share a name, the newer one gives the class of the
// report.
func TestLedgerReportHasClassOfYoungest(t *testing.T) {
	for _, prodIsYounger := range []bool{true, false} {
		f := newLedgerFixture(t)
		f.ok(f.snapshot.AddNode(api.MakeNode("n2", "10", "10Gi").Obj()))
		for i, class := range []string{"koord-prod", "koord-batch"} {
			object := api.Clone(f.pod("twin", "1", "1Gi").Pod)
			object.UID = api.UID([]string{"a", "b"}[i])
			object.Labels = map[string]string{estimator.LabelPriorityClass: class}
			object.CreationTimestamp = modelStart
			if prodIsYounger == (i == 0) {
				object.CreationTimestamp = modelStart.Add(time.Second)
			}
			info, err := f.snapshot.NewPodInfo(object)
			f.ok(err)
			f.ok(f.snapshot.AddPod(info, "n2"))
		}
		m := f.metric(modelStart)
		m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Name: "twin", Namespace: "default", PodUsage: usage("300m", "1Gi")})
		f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
		want := int64(500)
		if prodIsYounger {
			want = 800
		}
		if got := f.prodUse(estimator.Koordinator14); got[0] != want {
			t.Errorf("the prod pod is younger: %v: use of prod pods = %d, want %d", prodIsYounger, got[0], want)
		}
	}
}

// A pod added to one node changes the sums of another node that reports it, and the
// snapshot marks that node as changed.
func TestLedgerTouchesNodesThatReport(t *testing.T) {
	f := newLedgerFixture(t)
	f.ok(f.snapshot.AddNode(api.MakeNode("n2", "10", "10Gi").Obj()))
	m := f.metric(modelStart)
	m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Name: "guest", Namespace: "default", PodUsage: usage("300m", "1Gi")})
	f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
	before := f.prodUse(estimator.Koordinator14)
	guest := f.pod("guest", "1", "1Gi")
	steps := []struct {
		name string
		do   func() error
		want int64
	}{
		{"it comes", func() error { return f.snapshot.AddPod(guest, "n2") }, before[0] + 300},
		{"it leaves", func() error { return f.snapshot.RemovePod(guest, "n2") }, before[0]},
	}
	for _, step := range steps {
		generation := f.snapshot.Node("n1").Generation()
		f.ok(step.do())
		if got := f.prodUse(estimator.Koordinator14); got[0] != step.want {
			t.Errorf("%s: use of prod pods = %d, want %d", step.name, got[0], step.want)
		}
		if f.snapshot.Node("n1").Generation() == generation {
			t.Errorf("%s: the node that reports it is not marked as changed", step.name)
		}
	}
}

// If one of two pods of a name leaves, the sums of a node that has the other follow: the
// younger one gave the class of the report.
func TestLedgerFollowsNamesakeThatLeaves(t *testing.T) {
	f := newLedgerFixture(t)
	f.ok(f.snapshot.AddNode(api.MakeNode("n2", "10", "10Gi").Obj()))
	twin := func(uid api.UID, class string, age time.Duration) *framework.PodInfo {
		object := api.Clone(f.pod("twin", "1", "1Gi").Pod)
		object.UID, object.CreationTimestamp = uid, modelStart.Add(-age)
		object.Labels = map[string]string{estimator.LabelPriorityClass: class}
		info, err := f.snapshot.NewPodInfo(object)
		f.ok(err)
		return info
	}
	younger := twin("b", "koord-batch", 0)
	f.ok(f.snapshot.AddPod(twin("a", "koord-prod", time.Hour), "n1"))
	f.ok(f.snapshot.AddPod(younger, "n2"))
	m := f.metric(modelStart)
	m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Name: "twin", Namespace: "default", PodUsage: usage("300m", "1Gi")})
	f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
	if got := f.prodUse(estimator.Koordinator14); got[0] != 500 {
		t.Fatalf("the younger pod of the name is no prod pod: use of prod pods = %d, want 500", got[0])
	}
	generation := f.snapshot.Node("n1").Generation()
	f.ok(f.snapshot.RemovePod(younger, "n2"))
	if got := f.prodUse(estimator.Koordinator14); got[0] != 800 {
		t.Errorf("it left: use of prod pods = %d, want 800", got[0])
	}
	if f.snapshot.Node("n1").Generation() == generation {
		t.Error("the node that reports the name is not marked as changed")
	}
}

// From 1.6 on, a pod counts as placed since its first version came; up to 1.5, since the
// last one did.
func TestLedgerKeepsFirstTime(t *testing.T) {
	for rules, want := range map[estimator.Rules]int64{estimator.Koordinator15: 2850 - 100, estimator.Koordinator16: 2000} {
		f := newLedgerFixture(t)
		older, newer := f.pod("new", "1", "1Gi"), f.pod("new", "1", "1Gi")
		f.ok(f.snapshot.AddPod(older, "n1"))
		f.snapshot.SetNow(modelStart.Add(80 * time.Second))
		f.ok(f.snapshot.AddPod(newer, "n1"))
		f.ok(f.snapshot.RemovePod(older, "n1"))
		m := f.metric(modelStart.Add(90 * time.Second))
		m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Name: "new", Namespace: "default", PodUsage: usage("100m", "1Gi")})
		f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
		load, err := estimator.NewLoad(estimator.LoadConfig{Rules: rules})
		f.ok(err)
		if got := load.View(f.snapshot).Use(f.snapshot.Node("n1"), estimator.WholeForScore); got[0] != want {
			t.Errorf("%s: use of cpu = %d, want %d", rules, got[0], want)
		}
	}
}

// A pod that comes back later is a new pod.
func TestLedgerPodComesBackLater(t *testing.T) {
	for away, want := range map[time.Duration]int64{0: 2000, time.Second: 2850 - 100} {
		f := newLedgerFixture(t)
		p := f.pod("new", "1", "1Gi")
		f.ok(f.snapshot.AddPod(p, "n1"))
		f.snapshot.SetNow(modelStart.Add(80 * time.Second))
		f.ok(f.snapshot.RemovePod(p, "n1"))
		f.snapshot.SetNow(f.snapshot.Now().Add(away))
		f.ok(f.snapshot.AddPod(p, "n1"))
		m := f.metric(modelStart.Add(90 * time.Second))
		m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Name: "new", Namespace: "default", PodUsage: usage("100m", "1Gi")})
		f.ok(estimator.LedgerOf(f.snapshot).SetMetric(m))
		if got := use(f.snapshot); got[0] != want {
			t.Errorf("away for %v: use of cpu = %d, want %d", away, got[0], want)
		}
	}
}

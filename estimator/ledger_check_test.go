//go:build full

package estimator

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestCheckFindsFaults plants a fault in each thing that Check finds anew.
func TestCheckFindsFaults(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, rules := range []Rules{Koordinator18, Koordinator14} {
		for name, plant := range map[string]func(l *Ledger, a *account){
			"id":       func(_ *Ledger, a *account) { a.ids[0]++ },
			"ids":      func(_ *Ledger, a *account) { a.ids = a.ids[:1] },
			"name":     func(_ *Ledger, a *account) { a.matches.names[1].name = "other" },
			"unlisted": func(_ *Ledger, a *account) { a.unlisted++ },
			"pods of sums": func(_ *Ledger, a *account) {
				switch s := a.sums[0].(type) {
				case *vectorSums:
					s.entries = s.entries[:1]
				case *quantitySums:
					s.seen = s.seen[:1]
				}
			},
			"total": func(_ *Ledger, a *account) {
				switch s := a.sums[0].(type) {
				case *vectorSums:
					for i := range s.uses {
						s.uses[i]++
					}
				case *quantitySums:
					for i := range s.uses {
						s.uses[i]++
					}
				}
			},
			"snapshot": func(l *Ledger, _ *account) { l.snapshot = nil },
		} {
			t.Run(string(rules)+"/"+name, func(t *testing.T) {
				s := framework.NewSnapshot(framework.Arrival)
				s.SetNow(time.Unix(1_700_000_000, 0))
				must(s.AddNode(api.MakeNode("n", "8", "16Gi").Obj()))
				load, err := NewLoad(LoadConfig{Rules: rules})
				must(err)
				l := LedgerOf(s)
				load.View(s)
				updated := s.Now()
				metric := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "n"}}
				metric.Status.UpdateTime = &updated
				metric.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(500)})}
				must(l.SetMetric(metric))
				for _, pod := range []string{"a", "b"} {
					info, err := s.NewPodInfo(api.MakePod(pod).Requests("1", "1Gi").Obj())
					must(err)
					must(s.AddPod(info, "n"))
				}
				must(s.Check())
				slot := s.Node("n").Slot()
				plant(l, l.own(slot))
				if err := l.Check(s); err == nil {
					t.Error("Check() finds nothing")
				}
			})
		}
	}
}

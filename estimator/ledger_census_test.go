//go:build full

package estimator

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Ending a watch that does not exist changes nothing, whether or not others watch
// the name.
func TestCensusUnwatchWithoutWatch(t *testing.T) {
	c := &census{owner: new(ledgerOwner)}
	name := podName{"default", "p"}
	c.unwatch(1, []podName{name})
	c.own(name.hash()).watchers = map[podName][]int{name: {2, 3}}
	c.unwatch(1, []podName{name, {"default", "q"}})
	if diff := cmp.Diff([]int{2, 3}, c.shard(name.hash()).watchers[name]); diff != "" {
		t.Errorf("who watches (-want +got)\n%s", diff)
	}
	c.unwatch(2, []podName{name})
	c.unwatch(3, []podName{name})
	if n := len(c.shard(name.hash()).watchers); n != 0 {
		t.Errorf("%d names are watched, want none", n)
	}
}

// A node that reports many pods which it does not have watches each name once, in the order of the report.
func TestStraysOnce(t *testing.T) {
	for _, n := range []int{1, fewStrays, fewStrays + 1, 5 * fewStrays} {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		load, err := NewLoad(LoadConfig{Rules: Koordinator16, ScoreProd: true})
		if err != nil {
			t.Fatal(err)
		}
		ledger := load.View(s)
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: "n"}}
		m.Status.UpdateTime, m.Status.NodeMetric = new(time.Unix(1, 0)), &api.NodeMetricInfo{}
		var want []podName
		for i := range 2 * n {
			name := podName{"default", fmt.Sprint("p", i%n)}
			if m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Namespace: name.namespace, Name: name.name}); i < n {
				want = append(want, name)
			}
		}
		if err := framework.Put(s, m); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ledger.ledger.account(0).strays, cmp.AllowUnexported(podName{})); diff != "" {
			t.Errorf("%d reports, each twice: watched (-want +got)\n%s", n, diff)
		}
	}
}

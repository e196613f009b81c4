//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestCrowdedSpread: pods of a service that has some on every node. If nothing changes, nothing is looked at.
func TestCrowdedSpread(t *testing.T) {
	const nodes, asked = 300, 10
	s, _ := runningCluster(t, nodes, nothingCounts)
	x := &api.Service{ObjectMeta: api.ObjectMeta{Name: "all", Namespace: "default"}}
	x.Spec.Selector = map[string]string{"of": "all"}
	if err := framework.Put(s, x); err != nil {
		t.Fatal(err)
	}
	sched := build(t, scheduling.Kubernetes137())
	of := func(name string) *framework.PodInfo {
		return podInfo(t, s, api.MakePod(name).Labels("of", "all").Requests("10m", "1Mi").Obj())
	}
	for i := range nodes {
		if err := s.AddPod(of(fmt.Sprint("there-", i)), fmt.Sprintf("node-%05d", i)); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(from, to int) {
		for i := from; i < to; i++ {
			if _, err := sched.Schedule(s, of(fmt.Sprint("asks-", i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask(0, 500)
	before := sched.Stats()
	ask(500, 500+asked)
	after := sched.Stats()
	if hits, looks := after.Hits-before.Hits, after.Looks-before.Looks; hits != asked || looks > asked*nodes/10 {
		t.Errorf("%d decisions, %d of them from kept answers, took %d looks at nodes", asked, hits, looks)
	}
}

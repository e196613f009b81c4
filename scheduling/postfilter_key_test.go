//go:build full

package scheduling_test

import (
	"context"
	"errors"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// lonely lets as many pods be on a node as an annotation of the pod to place says. It
// tells pods apart by its own key.
type lonely struct{}

func (lonely) Name() string { return "lonely" }

func (lonely) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsPods}
}

func (lonely) AppendClassKey(b []byte, _ *framework.Snapshot, p *framework.PodInfo) []byte {
	return append(b, p.Pod.Annotations["beside"]...)
}

func (lonely) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 }

func (lonely) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if len(n.Pods) > len(p.Pod.Annotations["beside"]) {
		return framework.UnschedulableStatus("node(s) were crowded")
	}
	return framework.Status{}
}

// TestDryRunsKnowKeys: what preemption found out for a pod does not answer for a pod with
// another key of a filter.
func TestDryRunsKnowKeys(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "8", "32Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	info := func(b api.PodBuilder) *framework.PodInfo {
		p, err := s.NewPodInfo(b.Obj())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := s.AddPod(info(api.MakePod(name).Requests("1", "1Gi")), "n"); err != nil {
			t.Fatal(err)
		}
	}
	sched, err := scheduling.New(scheduling.Profile{
		Filter: []framework.Plugin{lonely{}}, PostFilter: []framework.Plugin{preemption.DefaultPreemption{}},
		Cache: scheduling.CacheConfig{Verify: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, beside := range []string{"", "x", "xx", ""} {
		p := info(api.MakePod("urgent").Priority(10).Annotations("beside", beside))
		d, err := sched.Schedule(s, p)
		if !errors.As(err, new(*scheduling.FitError)) {
			t.Fatal(err)
		}
		found, _, _, err := sched.PostFilter(context.Background(), s, p, d)
		if want := 3 - len(beside); err != nil || len(found.Victims) != want {
			t.Errorf("beside %d pods: %d victims, %v, want %d", len(beside), len(found.Victims), err, want)
		}
	}
}

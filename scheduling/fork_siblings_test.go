//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestSiblings: a scheduler that goes from one fork to another decides by the pods of the
// other, also if it found out on the first that a term matches nobody.
func TestSiblings(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for i := range 4 {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "16Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	sched := build(t, scheduling.Kubernetes137())
	pod := func(name string, b api.PodBuilder) *framework.PodInfo {
		p, err := s.NewPodInfo(b.Name(name).Requests("1", "1Gi").Labels("app", "a").Obj())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	feasible := func(s *framework.Snapshot, p *framework.PodInfo) int {
		d, err := sched.Schedule(s, p)
		if err != nil {
			t.Fatal(err)
		}
		return d.Feasible
	}
	plain, apart := pod("plain", api.MakePod("")), pod("apart", api.MakePod("").PodAntiAffinity(api.LabelHostname, "app=a"))
	feasible(s, plain)
	parent := s.Fork()
	empty, full := parent.Fork(), parent.Fork()
	for _, node := range []string{"n0", "n1"} {
		if err := full.AddPod(pod("on-"+node, api.MakePod("")), node); err != nil {
			t.Fatal(err)
		}
		feasible(full, plain)
	}
	if n := feasible(empty, apart); n != 4 {
		t.Errorf("%d nodes are feasible in the empty fork, want 4", n)
	}
	if n := feasible(full, apart); n != 2 {
		t.Errorf("%d nodes are feasible in the other fork, want 2: its pods are on two of 4", n)
	}
}

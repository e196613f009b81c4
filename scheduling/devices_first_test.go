package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// The first question about devices, or about classes behind extended resources, leaves the
// nodes as they are, so other pods keep their answers. A fork that is asked later has nodes
// that are new, and so has a snapshot that is asked first in a transaction: there, devices may
// be in use that are free in what was asked before, or after the rollback.
func TestFirstQuestionAboutDevices(t *testing.T) {
	s := gpuCluster(t, 2)
	sched := build(t, scheduling.Kubernetes137())
	generations := func(s *framework.Snapshot) string {
		return fmt.Sprint(s.Node("n0").Generation(), s.Node("n1").Generation())
	}
	ask := func(s *framework.Snapshot) {
		if _, err := sched.Schedule(s, info(t, s, claiming("one", "one"))); err != nil {
			t.Fatal(err)
		}
		if _, err := sched.Schedule(s, info(t, s, api.MakePod("gpu").Request("example.com/gpu", "1").Obj())); err == nil {
			t.Fatal("no class stands behind the resource, and the pod has a node")
		}
	}
	early, first := s.Fork(), generations(s)
	if ask(s); generations(s) != first {
		t.Errorf("the first question renews the nodes: generations %s, before %s", generations(s), first)
	}
	if ask(early); generations(early) == first {
		t.Errorf("the first question to a fork leaves its nodes as they are")
	}
	late := s.Fork()
	if ask(late); generations(late) != first {
		t.Errorf("a question to a fork whose parent was asked renews the nodes")
	}

	s = gpuCluster(t, 2)
	first = generations(s)
	mark := s.Begin()
	if ask(s); generations(s) == first {
		t.Errorf("the first question in a transaction leaves the nodes as they are")
	}
	if s.Rollback(mark); generations(s) != first {
		t.Errorf("after the rollback, generations are %s; before %s", generations(s), first)
	}
}

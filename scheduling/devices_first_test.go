package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// The first question about devices, or about classes behind extended resources, leaves the
// nodes as they are, so other pods keep their answers. A fork that is asked later, when its objects are
// others, has nodes that are new, and so has a snapshot that is asked first in a transaction that has changed objects: there, devices may
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
	same, early, first := s.Fork(), s.Fork(), generations(s)
	if ask(s); generations(s) != first {
		t.Errorf("the first question renews the nodes: generations %s, before %s", generations(s), first)
	}
	if ask(same); generations(same) != first {
		t.Errorf("the first question to a fork with the same objects renews its nodes: generations %s, before %s", generations(same), first)
	}
	framework.Delete[api.ResourceSlice](early, "n1")
	if ask(early); generations(early) == first {
		t.Errorf("the first question to a fork with other objects leaves its nodes as they are")
	}
	late := s.Fork()
	if ask(late); generations(late) != first {
		t.Errorf("a question to a fork whose parent was asked renews the nodes")
	}

	s = gpuCluster(t, 2)
	first = generations(s)
	mark := s.Begin()
	framework.Delete[api.ResourceSlice](s, "n1")
	if ask(s); generations(s) == first {
		t.Errorf("the first question in a transaction leaves the nodes as they are")
	}
	if s.Rollback(mark); generations(s) != first {
		t.Errorf("after the rollback, generations are %s; before %s", generations(s), first)
	}
}

// What was in use before a transaction stays in use after its rollback, also if the first
// question about devices was asked inside of it.
func TestFirstQuestionInATransaction(t *testing.T) {
	s := gpuCluster(t, 1) // one node with 8 devices
	for i := range 8 {
		_, c := own(fmt.Sprint("running-", i))
		c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: "gpu.example.com", Pool: "n0", Device: fmt.Sprint("gpu-", i)},
		}}}
		if err := framework.Put(s, c); err != nil {
			t.Fatal(err)
		}
	}
	sched := build(t, scheduling.Kubernetes137())
	ask := func(when string) {
		t.Helper()
		if d, err := sched.Schedule(s, info(t, s, claiming("one", "one"))); err == nil {
			t.Errorf("%s, all devices are in use, and the pod fits %s", when, d.Node)
		}
	}
	mark := s.Begin()
	ask("in a transaction")
	s.Rollback(mark)
	ask("after the rollback")
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

package framework_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-sched/berth/framework"
)

func ExampleSnapshot_PodsBelow() {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	err := s.AddNode(plainNode("n"))
	for _, priority := range []int32{0, 0, 100} {
		pod := plainPod(fmt.Sprint("p", priority))
		pod.Spec.Priority = &priority
		if info, failed := s.NewPodInfo(pod); failed == nil {
			err = s.AddPod(info, "n")
		}
	}
	fmt.Println(s.PodsBelow(0), s.PodsBelow(1), s.PodsBelow(1000), err)
	// Output: 0 2 3 <nil>
}

// Once asked for, the counts cost a pod that comes or goes no allocation.
func TestPodsBelow(t *testing.T) {
	s := snapshotOf(t, framework.ZoneInterleaved, "a")
	if got := s.PodsBelow(math.MaxInt32); got != 0 {
		t.Fatalf("%d pods in an empty snapshot", got)
	}
	stays, p := podInfo(t, s, plainPod("stays")), podInfo(t, s, plainPod("p"))
	must(t, s.AddPod(stays, "a"))
	warm(t, s, p)
	if got := testing.AllocsPerRun(100, func() {
		must(t, s.AddPodAt(p, s.At(0)))
		if s.PodsBelow(1) != 2 || s.PodsBelow(0) != 0 {
			t.Error("wrong count")
		}
		must(t, s.RemovePodAt(p, s.At(0)))
	}); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
	fork := s.Fork()
	must(t, fork.RemovePod(stays, "a"))
	if s.PodsBelow(1) != 1 || fork.PodsBelow(1) != 0 {
		t.Errorf("%d pods, and %d in the fork; want 1 and 0", s.PodsBelow(1), fork.PodsBelow(1))
	}
}

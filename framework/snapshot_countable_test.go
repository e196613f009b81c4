package framework_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func ExampleSnapshot_Countable() {
	s := framework.NewSnapshot(framework.Arrival)
	_ = s.AddNode(api.MakeNode("n", "4", "8Gi").Obj())
	var counted []*framework.PodInfo
	for _, name := range []string{"a", "b"} {
		pod, _ := s.NewPodInfo(api.MakePod(name).Requests("6E", "1Gi").Obj())
		if s.AddPod(pod, "n") != nil { // 6E and 6E of CPU are more than an int64 holds
			pod = s.Countable(pod, nil, "n")
			_ = s.AddPod(pod, "n")
		}
		counted = append(counted, pod)
	}
	memory, _ := s.Schema().Index(resource.Memory)
	fmt.Println(len(s.Node("n").Pods), "pods,", s.Node("n").Requested.At(memory)>>30, "GiB")
	_ = s.RemovePod(counted[1], "n")
	fmt.Println(len(s.Node("n").Pods), "pod,", s.Node("n").Requested.At(memory)>>30, "GiB")
	// Output:
	// 2 pods, 2 GiB
	// 1 pod, 1 GiB
}

// A pod counts for what the totals hold, also of resources that no node had when it was derived,
// and in place of another one.
func TestCountable(t *testing.T) {
	const all = "9223372036854775807"
	const late resource.Name = "example.com/late"
	s := framework.NewSnapshot(framework.Arrival)
	info := func(name, memory, devices string) *framework.PodInfo {
		p, err := s.NewPodInfo(api.MakePod(name).UID(api.UID(name)).Requests("1", memory).Request(late, devices).Obj())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	small, large := info("small", "1Gi", "5"), info("large", all, all) // of late, nobody knows yet
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Resource(late, "9").Obj()); err != nil {
		t.Fatal(err)
	}
	if got := s.Countable(large, nil, "n"); got != large {
		t.Error("a pod that fits the totals is not returned as it is")
	}
	if got := s.Countable(large, nil, "gone"); got != large {
		t.Error("on no node, a pod is not returned as it is")
	}
	if err := s.AddPod(small, "n"); err != nil {
		t.Fatal(err)
	}
	index := func(name resource.Name) int { i, _ := s.Schema().Index(name); return i }
	check := func(when string, memory, devices int64) {
		t.Helper()
		n := s.Node("n")
		if got := n.Requested.At(index(resource.Memory)); got != memory || n.NonZeroRequested[1] != memory {
			t.Errorf("%s: %d and %d bytes are requested, want %d", when, got, n.NonZeroRequested[1], memory)
		}
		if got := n.Requested.At(index(late)); got != devices {
			t.Errorf("%s: %d of %s are requested, want %d", when, got, late, devices)
		}
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	if s.AddPod(large, "n") == nil {
		t.Fatal("a total beyond the largest int64 is not refused")
	}
	limited := s.Countable(large, nil, "n")
	if err := s.AddPod(limited, "n"); err != nil {
		t.Fatal(err)
	}
	check("with both", math.MaxInt64, math.MaxInt64)
	if more := s.Countable(large, limited, "n"); s.ReplacePod(limited, more, "n") != nil {
		t.Error("the same again in its place is refused")
	}
	check("in its own place", math.MaxInt64, math.MaxInt64)
	if err := s.RemovePod(small, "n"); err != nil {
		t.Fatal(err)
	}
	if s.Countable(large, limited, "n") != large {
		t.Error("there is room for the pod as it is, but it is not returned")
	}
	if err := s.RemovePod(limited, "n"); err != nil {
		t.Fatal(err)
	}
	check("without pods", 0, 0)
}

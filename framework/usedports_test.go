package framework_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestUsedPorts adds and removes pods with few and many host ports, some of them twice. The
// ports of the node are always those of its pods, sorted.
func TestUsedPorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(plainNode("n")); err != nil {
			t.Fatal(err)
		}
		var on []*framework.PodInfo
		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			if len(on) > 0 && rapid.Bool().Draw(t, "remove") {
				k := rapid.IntRange(0, len(on)-1).Draw(t, "which")
				if err := s.RemovePod(on[k], "n"); err != nil {
					t.Fatal(err)
				}
				on = slices.Delete(on, k, k+1)
			} else {
				pod := plainPod(fmt.Sprint("p", i))
				pod.Spec.Containers = []api.Container{{Ports: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) api.ContainerPort {
					return api.ContainerPort{HostPort: rapid.Int32Range(1, 30).Draw(t, "port"), HostIP: rapid.SampledFrom([]string{"", "10.0.0.1"}).Draw(t, "IP")}
				}), 0, 40).Draw(t, "ports")}}
				info, err := s.NewPodInfo(pod)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.AddPod(info, "n"); err != nil {
					t.Fatal(err)
				}
				on = append(on, info)
			}
			var want []api.HostPort
			for _, p := range on {
				want = append(want, p.HostPorts...)
			}
			slices.SortFunc(want, api.CompareHostPorts)
			if got := s.Node("n").UsedPorts; !slices.Equal(got, want) {
				t.Fatalf("UsedPorts = %v, want %v", got, want)
			}
		}
	})
}

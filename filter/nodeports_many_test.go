//go:build full

package filter_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestManyHostPorts compares verdicts about pods with dozens of ports with the plain
// comparison of all pairs, and the node's list with the ports of its pods.
func TestManyHostPorts(t *testing.T) {
	ips := rapid.SampledFrom([]string{"", "0.0.0.0", "10.0.0.1", "10.0.0.2"})
	protocols := rapid.SampledFrom([]api.Protocol{"", "TCP", "UDP"})
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		first := int32(1)
		derive := func(name string) *framework.PodInfo {
			b := api.MakePod(name).Container("c")
			for range rapid.IntRange(0, 60).Draw(t, "ports") {
				b = b.Port(api.ContainerPort{HostPort: first + rapid.Int32Range(0, 90).Draw(t, "port"), HostIP: ips.Draw(t, "ip"), Protocol: protocols.Draw(t, "protocol")})
			}
			first += rapid.Int32Range(0, 60).Draw(t, "shift")
			p, err := s.NewPodInfo(b.Obj())
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		a, b, gone := derive("a"), derive("b"), derive("gone")
		for _, p := range []*framework.PodInfo{gone, a, b} {
			if err := s.AddPod(p, "n"); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.RemovePod(gone, "n"); err != nil {
			t.Fatal(err)
		}
		n := s.Node("n")
		left := map[api.HostPort]int{}
		for _, p := range n.UsedPorts {
			left[p]++
		}
		for i, p := range n.UsedPorts {
			if i > 0 && api.CompareHostPorts(n.UsedPorts[i-1], p) > 0 {
				t.Fatalf("UsedPorts are not sorted at %d", i)
			}
		}
		pod := derive("p")
		conflict := false
		for _, other := range []*framework.PodInfo{a, b} {
			for _, used := range other.HostPorts {
				left[used]--
				for _, want := range pod.HostPorts {
					conflict = conflict || want.Conflicts(used)
				}
			}
		}
		for p, k := range left {
			if k != 0 {
				t.Fatalf("port %v is counted %d times too often", p, k)
			}
		}
		if got := !(filter.NodePorts{}).Filter(pod, n).IsSuccess(); got != conflict {
			t.Fatalf("the filter rejects: %t, want %t", got, conflict)
		}
	})
}

//go:build full

package scheduling_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// forClaims is a plugin that only pods with claims concern. It counts how often it is asked.
type forClaims struct{ asked map[string]int }

func (forClaims) Name() string { return "ForClaims" }

func (forClaims) Concern() framework.PodParts { return framework.PartClaims }

func (p forClaims) Scope(pod *framework.PodInfo) framework.Scope {
	p.asked["Scope"]++
	if !pod.HasClaims() {
		return framework.Scope{}
	}
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsDomain}
}

func (p forClaims) AppendClassKey(b []byte, _ *framework.Snapshot, pod *framework.PodInfo) []byte {
	p.asked["AppendClassKey"]++
	for _, c := range pod.Pod.Spec.ResourceClaims {
		b = append(b, c.Name...)
	}
	return b
}

func (p forClaims) ClassKeyVersion(s *framework.Snapshot) uint64 {
	p.asked["ClassKeyVersion"]++
	return framework.ObjectsVersion[api.ResourceClaim](s)
}

func (p forClaims) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if !c.Pod.HasClaims() {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: onlyNode(c.Pod.Pod.Spec.ResourceClaims[0].Name)}, framework.Status{}
}

func (p forClaims) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	p.asked["Reserve"]++
	return framework.Status{}
}

func (p forClaims) Unreserve(*framework.Cycle, *framework.NodeInfo) { p.asked["Unreserve"]++ }

func (p forClaims) Reserves(*framework.Snapshot, *framework.PodInfo, *framework.NodeInfo) string {
	p.asked["Reserves"]++
	return "a claim"
}

// onlyNode passes one node.
type onlyNode string

func (name onlyNode) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Name() == string(name) {
		return framework.Status{}
	}
	return framework.UnschedulableStatus("another node")
}

// louder wraps a plugin and reserves for all pods.
type louder struct {
	framework.Plugin
	reserved *int
}

func (louder) Name() string { return "Louder" }

func (l louder) Unwrap() framework.Plugin { return l.Plugin }

func (l louder) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	*l.reserved++
	return framework.Status{}
}

func (louder) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// A plugin is asked nothing about pods that do not concern it, in between others that do, and
// a wrapper that reserves itself is asked about all. Verify compares every decision.
func TestConcern(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"n0", "n1"} {
		if err := s.AddNode(api.MakeNode(name, "64", "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	plugin, reserved := forClaims{map[string]int{}}, 0
	p := scheduling.Kubernetes137()
	p.Filter = append(p.Filter[:1:1], plugin)
	p.Reserve = []framework.Plugin{plugin, louder{plugin, &reserved}}
	p.Cache.Verify = true
	sched := build(t, p)
	for i := range 12 {
		object := api.MakePod(fmt.Sprint("p", i)).Requests("100m", "64Mi").Obj()
		if i%3 == 2 { // the claim's name stands for the node
			object.Spec.ResourceClaims = []api.PodResourceClaim{{Name: fmt.Sprint("n", i%2)}}
			if err := framework.Put(s, &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("c", i)}}); err != nil {
				t.Fatal(err)
			}
		}
		pod := info(t, s, object)
		before := maps.Clone(plugin.asked)
		d, err := sched.Place(s, pod)
		if err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		if i%2 == 1 {
			if err := sched.Release(s, pod, d.Node); err != nil {
				t.Fatal(err)
			}
		}
		switch asked := !maps.Equal(before, plugin.asked); {
		case asked != pod.HasClaims():
			t.Errorf("pod %d, claims %t: the plugin was asked %v times, before %v", i, pod.HasClaims(), plugin.asked, before)
		case pod.HasClaims() && d.Node != fmt.Sprint("n", i%2):
			t.Errorf("pod %d is on %s", i, d.Node)
		case pod.HasClaims() != (d.Reserved != ""):
			t.Errorf("pod %d, claims %t: Reserved = %q", i, pod.HasClaims(), d.Reserved)
		}
		if reserved != i+1 {
			t.Errorf("after %d pods, the wrapper has reserved %d times", i+1, reserved)
		}
	}
	if n := plugin.asked["Unreserve"]; n != 2 {
		t.Errorf("Unreserve was called %d times, want 2: for pods 5 and 11", n)
	}
}

package framework_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestManyResourceNames adds nodes with a hundred resources of their own each:
// vectors stay as long as what the node has, and the names that are too many are
// refused by node and by pod, without a trace.
func TestManyResourceNames(t *testing.T) {
	list := func(i, n int) resource.List {
		l := resource.List{resource.CPU: resource.Milli(4000)}
		for k := range n {
			l[resource.Name(fmt.Sprintf("example.com/r%03d-%03d", i, k))] = resource.Milli(1000)
		}
		return l
	}
	node := func(i, n int) *api.Node {
		x := plainNode(fmt.Sprintf("n%03d", i))
		x.Status.Allocatable = list(i, n)
		return x
	}
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 10 {
		must(t, s.AddNode(node(i, 100)))
	}
	must(t, s.AddNode(node(0x7f, 0)))
	if n := s.Node("n127"); cap(n.Allocatable) > 3 || len(n.Requested) > 3 {
		t.Errorf("a node with cpu has vectors of %d and %d", cap(n.Allocatable), len(n.Requested))
	}
	if got := s.Schema().Len(); got != 1003 {
		t.Fatalf("the schema has %d names, want 1003", got)
	}
	const reason = " would be one of more than 1024 resource names: leave out resources that no pod needs; where many names are of the past, which still count, make a new snapshot"
	wantError(t, s.AddNode(node(10, 100)), "node n010: status.allocatable[example.com/r010-021]: example.com/r010-021"+reason)
	wantError(t, s.UpdateNode(node(0, 150)), "node n000: status.allocatable[example.com/r000-121]: example.com/r000-121"+reason)
	p := plainPod("p")
	p.Spec.Containers[0].Resources.Requests = list(20, 22)
	_, err := s.NewPodInfo(p)
	wantError(t, err, "pod default/p: spec.containers[].resources.requests[example.com/r020-021]: example.com/r020-021"+reason)
	if got := s.Schema().Len(); got != 1003 || s.Len() != 11 || len(s.Node("n000").Node.Status.Allocatable) != 101 {
		t.Errorf("what was refused left traces: %d names, %d nodes", got, s.Len())
	}
	must(t, s.AddNode(node(10, 21)))

	// Names of nodes that are gone count on, but not in a new snapshot.
	for i := range 10 {
		must(t, s.RemoveNode(fmt.Sprintf("n%03d", i)))
	}
	wantError(t, s.AddNode(node(11, 1)), "node n011: status.allocatable[example.com/r011-000]: example.com/r011-000"+reason)
	must(t, framework.NewSnapshot(framework.Arrival).AddNode(node(11, 1)))
}

// TestRollbackRestoresPorts removes and adds pods whose ports overlap: after the
// rollback the ports are exactly those that were, in their order.
func TestRollbackRestoresPorts(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	web := func(name string, ports ...int32) *framework.PodInfo {
		p := plainPod(name)
		for _, port := range ports {
			for _, ip := range []string{"", "10.0.0.1"} {
				p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, api.ContainerPort{HostPort: port, HostIP: ip})
			}
		}
		return podInfo(t, s, p)
	}
	pods := []*framework.PodInfo{web("a", 80, 9), web("b", 443, 80), web("c", 1, 80)}
	for _, p := range pods {
		must(t, s.AddPod(p, "n"))
	}
	want, generation := append([]api.HostPort(nil), s.Node("n").UsedPorts...), s.Node("n").Generation()
	for _, order := range [][]int{{0}, {1}, {2}, {0, 1}, {1, 0}, {2, 0}, {1, 2, 0}} {
		m := s.Begin()
		for _, i := range order {
			must(t, s.RemovePod(pods[i], "n"))
		}
		must(t, s.AddPod(web("d", 8080, 80), "n"))
		s.Rollback(m)
		n := s.Node("n")
		if diff := cmp.Diff(want, n.UsedPorts); diff != "" || n.Generation() != generation {
			t.Errorf("removing %v and rolling back: generation %d, want %d; ports (-want +got):\n%s", order, n.Generation(), generation, diff)
		}
	}
	var text strings.Builder
	for _, p := range want {
		fmt.Fprintf(&text, "%d/%s ", p.Port, p.IP)
	}
	const sorted = "1/0.0.0.0 1/10.0.0.1 9/0.0.0.0 9/10.0.0.1 80/0.0.0.0 80/0.0.0.0 80/0.0.0.0 80/10.0.0.1 80/10.0.0.1 80/10.0.0.1 443/0.0.0.0 443/10.0.0.1 "
	if text.String() != sorted {
		t.Errorf("UsedPorts = %s, want %s", text.String(), sorted)
	}
}

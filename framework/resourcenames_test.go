//go:build full

package framework_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestManyResourceNames adds nodes with a hundred resources of their own each:
// vectors stay as long as what the node has, and the names that are too many are
// refused, without a trace; names of pods take no space from those of nodes.
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
	const reason = " would be one of more than 1024 resource names: leave out resources that no pod needs"
	wantError(t, s.AddNode(node(10, 100)), "node n010: status.allocatable[example.com/r010-021]: example.com/r010-021"+reason)
	wantError(t, s.UpdateNode(node(0, 150)), "node n000: status.allocatable[example.com/r000-121]: example.com/r000-121"+reason)
	p := plainPod("p")
	p.Spec.Containers[0].Resources.Requests = list(20, 22)
	crowd, err := s.NewPodInfo(p)
	must(t, err)
	if len(crowd.Unknown) != 0 || s.Schema().Len() != 1025 {
		t.Errorf("a pod with 22 new names: %d unknown, the schema has %d names, want 0 and 1025", len(crowd.Unknown), s.Schema().Len())
	}
	if s.Len() != 11 || len(s.Node("n000").Node.Status.Allocatable) != 101 {
		t.Errorf("what was refused left traces: %d nodes", s.Len())
	}
	must(t, s.AddNode(node(10, 21)))

	// Names of nodes that are gone are given up as soon as there is need.
	before := s.Schema()
	for i := range 10 {
		must(t, s.RemoveNode(fmt.Sprintf("n%03d", i)))
	}
	must(t, s.AddNode(node(11, 1)))
	if got := s.Schema(); got == before || got.Len() > before.Len() || !got.Related(before) {
		t.Errorf("the schema has %d names, as the one before with %d", got.Len(), before.Len())
	}
	must(t, s.AddNode(node(12, 990)))
	wantError(t, s.AddNode(node(13, 10)), "node n013: status.allocatable[example.com/r013-009]: example.com/r013-009"+reason)
}

// TestUnknownRequests counts pods that were derived before the schema had numbers for
// their resources: whatever happens to the node, its totals equal those of pods that
// are derived now.
func TestUnknownRequests(t *testing.T) {
	const gpu = "example.com/gpu"
	s := snapshotOf(t, framework.Arrival, "n")
	hostile := plainPod("hostile")
	hostile.Spec.Containers[0].Resources.Requests = resource.List{}
	for i := range 1021 {
		hostile.Spec.Containers[0].Resources.Requests[resource.Name(fmt.Sprintf("example.com/a%04d", i))] = resource.Milli(1000)
	}
	flood := podInfo(t, s, hostile)
	if got := s.Schema().Len(); got != 3+resource.MaxGuests || len(flood.Unknown) != 1021-resource.MaxGuests {
		t.Fatalf("a pod with 1021 names: the schema has %d, the pod %d unknown", got, len(flood.Unknown))
	}
	asks := func(name string, n int64) *framework.PodInfo {
		p := plainPod(name)
		p.Spec.Containers[0].Resources.Requests = resource.List{gpu: resource.New(n, resource.DecimalSI), "cpu": resource.Milli(100)}
		return podInfo(t, s, p)
	}
	early := []*framework.PodInfo{asks("a", 1), asks("b", 2), asks("c", 4)}
	for _, p := range early {
		if len(p.Unknown) != 1 || p.Unknown[0] != (framework.UnknownRequest{Name: gpu, Requested: p.Unknown[0].Used, Used: p.Unknown[0].Used}) || p.Fresh() != p {
			t.Fatalf("%s: unknown %v", p.Pod.Name, p.Unknown)
		}
	}
	must(t, s.AddPod(early[0], "n"))
	must(t, s.AddPod(early[1], "n"))
	must(t, s.AddPod(flood, "n"))
	with := func(gpus int64) *api.Node {
		n := plainNode("n")
		n.Status.Allocatable = resource.List{"cpu": resource.Milli(4000), gpu: resource.New(gpus, resource.DecimalSI)}
		return n
	}
	total := func(want int64, when string) {
		t.Helper()
		i, ok := s.Schema().Index(gpu)
		if got := s.Node("n").Requested.At(i); !ok || got != want {
			t.Errorf("%s: %d gpus requested, want %d", when, got, want)
		}
	}
	must(t, s.UpdateNode(with(8)))
	total(3, "the node brings gpus")
	if fresh := early[2].Fresh(); len(fresh.Unknown) != 0 || fresh.Requests.At(s.Schema().Len()-1) != 4 {
		t.Errorf("derived again: %v, unknown %v", fresh.Requests, fresh.Unknown)
	}
	late := asks("late", 8)
	mark := s.Begin()
	must(t, s.AddPod(early[2], "n"))
	must(t, s.AddPod(late, "n"))
	total(15, "two more pods")
	must(t, s.RemovePod(early[0], "n"))
	total(14, "one less")
	s.Rollback(mark)
	total(3, "rolled back")
	must(t, s.AddPod(late, "n"))
	must(t, s.RemovePod(early[1], "n"))
	total(9, "one comes, one goes")
	must(t, s.UpdateNode(with(9)))
	total(9, "the node changes")
	fork := s.Fork()
	must(t, fork.RemovePod(early[0], "n"))
	total(9, "a fork changes")
	must(t, s.RemovePod(flood, "n"))
	must(t, s.RemovePod(early[0], "n"))
	must(t, s.RemovePod(late, "n"))
	total(0, "empty")
	huge := asks("huge", 9e18)
	must(t, s.AddPod(huge, "n"))
	must(t, s.AddPod(asks("huge too", 9e18), "n"))
	total(math.MaxInt64, "more than an int64 holds")
	must(t, s.AddPod(late, "n"))
	must(t, s.RemovePod(huge, "n"))
	total(9e18+8, "one huge pod and another")
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

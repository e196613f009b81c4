package framework_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestSnapshotRefuses gives bad input: each is an error that names object,
// field and value, and changes nothing.
func TestSnapshotRefuses(t *testing.T) {
	build := func(t *testing.T) *framework.Snapshot {
		s := snapshotOf(t, framework.Arrival, "n1", "n2")
		must(t, s.AddPod(podInfo(t, s, plainPod("p1")), "n1"))
		return s
	}
	negative := plainNode("bad")
	negative.Status.Allocatable = quantities("memory", "-5Gi", "cpu", "4")
	negativeDevice := plainNode("n1")
	negativeDevice.Status.Allocatable = quantities("example.com/gpu", "-1")
	tests := []struct {
		name string
		do   func(t *testing.T, s *framework.Snapshot) error
		want string
	}{
		{"nil node", func(_ *testing.T, s *framework.Snapshot) error { return s.AddNode(nil) }, "node: is nil"},
		{"nil update", func(_ *testing.T, s *framework.Snapshot) error { return s.UpdateNode(nil) }, "node: is nil"},
		{"node without a name", func(_ *testing.T, s *framework.Snapshot) error { return s.AddNode(&api.Node{}) }, "node: metadata.name: must not be empty"},
		{"update without a name", func(_ *testing.T, s *framework.Snapshot) error { return s.UpdateNode(&api.Node{}) }, "node: metadata.name: must not be empty"},
		{"duplicate node", func(_ *testing.T, s *framework.Snapshot) error { return s.AddNode(plainNode("n1")) }, `node n1: metadata.name: "n1": there is already a node of this name`},
		{"negative memory", func(_ *testing.T, s *framework.Snapshot) error { return s.AddNode(negative) }, `node bad: status.allocatable[memory]: "-5Gi": must not be negative`},
		{"update to negative", func(_ *testing.T, s *framework.Snapshot) error { return s.UpdateNode(negativeDevice) }, `node n1: status.allocatable[example.com/gpu]: "-1": must not be negative`},
		{"update of an unknown node", func(_ *testing.T, s *framework.Snapshot) error { return s.UpdateNode(plainNode("n9")) }, `node n9: metadata.name: "n9": no such node`},
		{"removal of an unknown node", func(_ *testing.T, s *framework.Snapshot) error { return s.RemoveNode("n9") }, `node n9: metadata.name: "n9": no such node`},
		{"removal of no name", func(_ *testing.T, s *framework.Snapshot) error { return s.RemoveNode("") }, "node: metadata.name: no such node"},
		{"pod on an unknown node", func(t *testing.T, s *framework.Snapshot) error {
			return s.AddPod(podInfo(t, s, plainPod("p2")), "n9")
		}, `pod default/p2: spec.nodeName: "n9": no such node`},
		{"pod on no node", func(t *testing.T, s *framework.Snapshot) error {
			return s.AddPod(podInfo(t, s, plainPod("p2")), "")
		}, "pod default/p2: spec.nodeName: no such node"},
		{"nil pod", func(_ *testing.T, s *framework.Snapshot) error { return s.AddPod(nil, "n1") }, "pod: is nil"},
		{"empty PodInfo", func(_ *testing.T, s *framework.Snapshot) error { return s.AddPod(&framework.PodInfo{}, "n1") }, "pod: is nil"},
		{"removal of a nil pod", func(_ *testing.T, s *framework.Snapshot) error { return s.RemovePod(nil, "n1") }, "pod: is nil"},
		{"assume nil", func(_ *testing.T, s *framework.Snapshot) error { return s.AddPodAt(nil, s.Node("n1")) }, "pod: is nil"},
		{"forget nil", func(_ *testing.T, s *framework.Snapshot) error { return s.RemovePodAt(nil, s.Node("n1")) }, "pod: is nil"},
		{"assume on a nil node", func(t *testing.T, s *framework.Snapshot) error {
			return s.AddPodAt(podInfo(t, s, plainPod("p2")), nil)
		}, "pod default/p2: spec.nodeName: the node is nil"},
		{"forget on a nil node", func(t *testing.T, s *framework.Snapshot) error {
			return s.RemovePodAt(podInfo(t, s, plainPod("p2")), nil)
		}, "pod default/p2: spec.nodeName: the node is nil"},
		{"removal from an unknown node", func(t *testing.T, s *framework.Snapshot) error {
			return s.RemovePod(podInfo(t, s, plainPod("p1")), "n9")
		}, `pod default/p1: spec.nodeName: "n9": no such node`},
		{"removal from the wrong node", func(t *testing.T, s *framework.Snapshot) error {
			return s.RemovePod(podInfo(t, s, plainPod("p1")), "n2")
		}, `pod default/p1: spec.nodeName: "n2": the pod is not on this node`},
		{"PodInfo of another snapshot", func(t *testing.T, s *framework.Snapshot) error {
			return s.AddPod(podInfo(t, framework.NewSnapshot(framework.Arrival), plainPod("p2")), "n1")
		}, "pod default/p2: its PodInfo was made for another snapshot; make it with Snapshot.NewPodInfo"},
		{"PodInfo made by hand", func(_ *testing.T, s *framework.Snapshot) error {
			return s.RemovePod(&framework.PodInfo{Pod: plainPod("p1")}, "n1")
		}, "pod default/p1: its PodInfo was made for another snapshot; make it with Snapshot.NewPodInfo"},
		{"node of another snapshot", func(t *testing.T, s *framework.Snapshot) error {
			return s.AddPodAt(podInfo(t, s, plainPod("p2")), snapshotOf(t, framework.Arrival, "x1").Node("x1"))
		}, `pod default/p2: spec.nodeName: "x1": no such node`},
		{"new node in a transaction", func(_ *testing.T, s *framework.Snapshot) error {
			defer s.Rollback(s.Begin())
			return s.AddNode(plainNode("n3"))
		}, "node n3: nodes cannot come, go or change while a transaction is open; use Snapshot.Fork"},
		{"changed node in a transaction", func(_ *testing.T, s *framework.Snapshot) error {
			defer s.Rollback(s.Begin())
			return s.UpdateNode(plainNode("n1", "v", "2"))
		}, "node n1: nodes cannot come, go or change while a transaction is open; use Snapshot.Fork"},
		{"removed node in a transaction", func(_ *testing.T, s *framework.Snapshot) error {
			defer s.Rollback(s.Begin())
			return s.RemoveNode("n1")
		}, "node n1: nodes cannot come, go or change while a transaction is open; use Snapshot.Fork"},
		{"nil pod object", func(_ *testing.T, s *framework.Snapshot) error { _, err := s.NewPodInfo(nil); return err }, "pod: is nil"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := build(t)
			version, set := s.Version(), s.NodeSet()
			wantError(t, test.do(t, s), test.want)
			if s.Version() != version || s.NodeSet() != set || s.Len() != 2 || len(s.Node("n1").Pods) != 1 {
				t.Errorf("the refused change left traces: version %d, was %d; %v; pods %v", s.Version(), version, nodeNames(s), podNames(s.Node("n1")))
			}
		})
	}
}

// Reading an empty snapshot, or beyond its end, finds nothing.
func TestSnapshotEmpty(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	if s.Len() != 0 || len(s.Slots()) != 0 || s.SlotLimit() != 0 || s.Node("") != nil || s.AtSlot(0) != nil || s.AtSlot(-1) != nil {
		t.Error("an empty snapshot is not empty")
	}
	for range s.All() {
		t.Error("All yields a node")
	}
	if got := s.String(); got != "snapshot of 0 nodes" {
		t.Errorf("String() = %q", got)
	}
	if f := s.Fork(); f.Len() != 0 {
		t.Error("a fork of an empty snapshot is not empty")
	}
}

func TestSnapshotTime(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	if !s.Now().IsZero() {
		t.Errorf("Now() = %v, want the zero time", s.Now())
	}
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s.SetNow(noon)
	f := s.Fork()
	f.SetNow(noon.Add(time.Hour))
	if !s.Now().Equal(noon) || !f.Now().Equal(noon.Add(time.Hour)) {
		t.Errorf("Now() = %v and %v in the fork", s.Now(), f.Now())
	}
}

// All can be left early.
func TestAllStops(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "a", "b", "c")
	var seen []string
	for i, n := range s.All() {
		seen = append(seen, n.Name())
		if i == 1 {
			break
		}
	}
	if len(seen) != 2 {
		t.Errorf("saw %v, want a and b", seen)
	}
}

// Slots are used again, and a NodeInfo from before a fork still finds its node.
func TestSlots(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, manyNames(257)...)
	if got := s.SlotLimit(); got != 288 {
		t.Errorf("SlotLimit() = %d, want 288", got)
	}
	n := s.Node("node-00003")
	if n.Slot() != 3 {
		t.Fatalf("slot of the fourth node = %d, want 3", n.Slot())
	}
	f := s.Fork()
	must(t, f.AddPodAt(podInfo(t, s, plainPod("p")), n))
	if len(n.Pods) != 0 || len(f.Node("node-00003").Pods) != 1 {
		t.Error("the fork changed the NodeInfo of the original")
	}
	must(t, s.RemoveNode("node-00003"))
	must(t, s.AddNode(plainNode("new")))
	if got := s.Node("new").Slot(); got != 3 {
		t.Errorf("slot of the new node = %d, want 3 again", got)
	}
	if err := s.AddPodAt(podInfo(t, s, plainPod("q")), n); err == nil {
		t.Error("a pod was assumed on a node that has gone")
	}
}

func TestHasPod(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	info := func(b api.PodBuilder) *framework.PodInfo {
		t.Helper()
		p, err := s.NewPodInfo(b.Obj())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if err := s.AddPod(info(api.MakePod("p").UID("u")), "n"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		node *framework.NodeInfo
		pod  *framework.PodInfo
		want bool
	}{
		{"its next version", s.Node("n"), info(api.MakePod("p").UID("u").Labels("a", "b")), true},
		{"another of its name", s.Node("n"), info(api.MakePod("p").UID("v")), false},
		{"no pod", s.Node("n"), nil, false},
		{"no node", nil, info(api.MakePod("p").UID("u")), false},
	} {
		if got := tt.node.HasPod(tt.pod); got != tt.want {
			t.Errorf("%s: HasPod = %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestNodeOf: wherever a pod came to last, NodeOf finds what Node finds, also where
// another node has got the slot since, and in forks that have other nodes.
func TestNodeOf(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n0", "n1", "n2", "n3")
	r := rand.New(rand.NewPCG(3, 9))
	pods := make([]*framework.PodInfo, 5)
	for i := range pods {
		pods[i] = podInfo(t, s, plainPod(fmt.Sprintf("p%d", i)))
	}
	forks := []*framework.Snapshot{s, s.Fork()}
	for round := range 2000 {
		s := forks[r.IntN(len(forks))]
		name := fmt.Sprintf("n%d", r.IntN(6))
		switch known := s.Node(name) != nil; {
		case !known:
			must(t, s.AddNode(plainNode(name)))
		case r.IntN(4) == 0:
			must(t, s.RemoveNode(name))
		default:
			must(t, s.AddPod(pods[r.IntN(len(pods))], name))
		}
		p, asked := pods[r.IntN(len(pods))], fmt.Sprintf("n%d", r.IntN(7))
		if got, want := s.NodeOf(p, asked), s.Node(asked); got != want {
			t.Fatalf("round %d: NodeOf(%s) is %v, Node %v", round, asked, got, want)
		}
		if got, want := s.NodeOf(nil, asked), s.Node(asked); got != want {
			t.Fatalf("round %d: NodeOf(nil, %s) is %v, Node %v", round, asked, got, want)
		}
	}
}

// TestAtSlot looks up slots of several chunks, and some that have no node.
func TestAtSlot(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for i := range 300 {
		must(t, s.AddNode(plainNode(fmt.Sprint("n", i))))
	}
	for i := range 300 {
		n := s.Node(fmt.Sprint("n", i))
		if got := s.AtSlot(n.Slot()); got != n {
			t.Errorf("AtSlot(%d) = %v, want %v", n.Slot(), got, n)
		}
	}
	gone := s.Node("n7").Slot()
	must(t, s.RemoveNode("n7"))
	for _, slot := range []int{gone, -1, s.SlotLimit() - 1, s.SlotLimit(), math.MaxInt, math.MinInt} {
		if n := s.AtSlot(slot); n != nil {
			t.Errorf("AtSlot(%d) = %v, want none", slot, n.Name())
		}
	}
}

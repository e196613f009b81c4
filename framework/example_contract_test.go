package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// crane lifts one thing at a time: a pod that comes while another waits is
// kept waiting too, and the first to be bound lets the next one go.
type crane struct{ handle framework.Handle }

func (*crane) Name() string { return "Crane" }

// Done lets the pod go on that has waited longest.
func (c *crane) Done() {
	for _, waiting := range c.handle.WaitingPods() {
		waiting.Allow(c.Name())
		return
	}
}

// dock is a Handle of two waiting pods: scheduling.Scheduler and
// lifecycle.Driver are real ones.
type dock struct {
	framework.Handle
	waiting []framework.WaitingPod
}

func (d dock) WaitingPods() []framework.WaitingPod { return d.waiting }

// waitingPod prints what is decided.
type waitingPod struct {
	framework.WaitingPod
	name string
}

func (w waitingPod) Allow(plugin string) { fmt.Println(plugin, "lets", w.name, "go on") }

// A plugin that decides outside of a cycle is given a Handle when it is made.
func ExampleHandle() {
	c := &crane{handle: dock{waiting: []framework.WaitingPod{waitingPod{name: "web-1"}, waitingPod{name: "web-2"}}}}
	c.Done()
	// Output: Crane lets web-1 go on
}

// A filter that is bound to a pod answers for one node after another.
func ExampleNodeFilter() {
	s, p := twoNodes()
	var bound framework.NodeFilter = Quay{}
	for _, n := range s.All() {
		fmt.Println(n.Name(), bound.Filter(p, n))
	}
	// Output:
	// n1 Success
	// n2 Success
}

// rows scores a node by its row of racks alone, and so all nodes of a row
// alike.
type rows struct{ s *framework.Snapshot }

func (rows) Name() string { return "Rows" }

func (r rows) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return int64(len(node.Node.Labels["row"]))
}

// NormalizeScore and Excludes leave nodes out of the range that are in no row.
func (rows) NormalizeScore(raw, smallest, largest int64) int64 {
	if largest == smallest {
		return framework.MaxNodeScore
	}
	return framework.MaxNodeScore * (raw - smallest) / (largest - smallest)
}

func (rows) Excludes(node *framework.NodeInfo) bool { return node.Node.Labels["row"] == "" }

// inRows is a snapshot of three nodes, two of them in one row.
func inRows() *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []api.NodeBuilder{
		api.MakeNode("n1", "4", "8Gi").Labels("row", "A"),
		api.MakeNode("n2", "4", "8Gi").Labels("row", "A"),
		api.MakeNode("n3", "4", "8Gi"),
	} {
		if err := s.AddNode(n.Obj()); err != nil {
			panic(err)
		}
	}
	return s
}

func ExampleRangeExcluder() {
	s := inRows()
	var plugin framework.RangeExcluder = rows{s}
	for _, n := range s.All() {
		fmt.Println(n.Name(), "left out:", plugin.Excludes(n))
	}
	// Output:
	// n1 left out: false
	// n2 left out: false
	// n3 left out: true
}

// booked counts reservations per node, in the snapshot.
type booked struct{ bySlot map[int]int }

func (b *booked) Fork(*framework.Snapshot) framework.Extension {
	f := &booked{map[int]int{}}
	for slot, n := range b.bySlot {
		f.bySlot[slot] = n
	}
	return f
}

// unbook takes one reservation back.
type unbook struct {
	b    *booked
	slot int
}

func (u unbook) Undo(*framework.Snapshot) { u.b.bySlot[u.slot]-- }

var bookedKey = framework.NewExtensionKey(func(*framework.Snapshot) *booked { return &booked{map[int]int{}} })

// A key, kept in a package variable, finds the extension of any snapshot.
func ExampleExtensionKey() {
	var key *framework.ExtensionKey[*booked] = bookedKey
	s, _ := twoNodes()
	key.Of(s).bySlot[0]++
	other, _ := twoNodes()
	fmt.Println(key.Of(s).bySlot[0], key.Of(other).bySlot[0])
	// Output: 1 0
}

// What an extension changes on its own it records, so that a rollback takes it
// back.
func ExampleUndoer() {
	s, _ := twoNodes()
	b := bookedKey.Of(s)
	mark := s.Begin()
	b.bySlot[0]++
	var back framework.Undoer = unbook{b, 0}
	s.Record(back)
	fmt.Println("booked:", b.bySlot[0])
	s.Rollback(mark)
	fmt.Println("booked:", b.bySlot[0])
	// Output:
	// booked: 1
	// booked: 0
}

// Several plugins may keep a pod waiting; it goes on when the last one allows
// it.
func ExampleWaitingPod() {
	var w framework.WaitingPod = waitingPod{name: "web-1"}
	w.Allow("Crane")
	// Output: Crane lets web-1 go on
}

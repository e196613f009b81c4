package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// rivals prefers zones with few rivals. A change of a zone's number concerns one group.
type rivals struct {
	count   []int64 // by zone
	of      []int32 // the zone, by slot
	changes []int   // zones; the version is how many there are
}

func (r *rivals) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return 10 - r.count[r.of[node.Slot()]]
}

func (r *rivals) Groups() incremental.Groups {
	return incremental.Groups{Of: r.of, Count: len(r.count)}
}

func (r *rivals) Version() uint64 { return uint64(len(r.changes)) }

// Changed cannot name single nodes.
func (r *rivals) Changed(since uint64, _ func(slot int)) bool { return since == r.Version() }

func (r *rivals) GroupsChanged(since uint64, dirty func(group int)) bool {
	for _, zone := range r.changes[since:] {
		dirty(zone)
	}
	return true
}

func ExampleGroupTracker() {
	r := &rivals{count: make([]int64, 3), of: []int32{0, 1, 2, 0}}
	var tracker incremental.GroupTracker = r
	version := tracker.Version()
	r.count[1], r.changes = 7, append(r.changes, 1) // as if rivals had come
	ok := tracker.GroupsChanged(version, func(group int) { fmt.Println("zone", group, "has changed") })
	fmt.Println(ok)
	// Output:
	// zone 1 has changed
	// true
}

// numbered is a set of feasible nodes with a number.
type numbered struct {
	nodes  []*framework.NodeInfo
	number uint64
}

func (n *numbered) Len() int { return len(n.nodes) }

func (n *numbered) Each(f func(node *framework.NodeInfo, nodes int)) {
	for _, node := range n.nodes {
		f(node, 1)
	}
}

func (n *numbered) FeasibleVersion() uint64 { return n.number }

// A plugin that found something out about a set need not do so again.
func ExampleVersionedNodes() {
	snap := framework.NewSnapshot(framework.Arrival)
	if err := snap.AddNode(api.MakeNode("a", "4", "8Gi").Obj()); err != nil {
		fmt.Println(err)
		return
	}
	var feasible incremental.FeasibleNodes = &numbered{[]*framework.NodeInfo{snap.Node("a")}, snap.NewVersion()}
	known := map[uint64]int{} // what the plugin found out, here how many nodes there are
	for range 2 {
		set, ok := feasible.(incremental.VersionedNodes)
		if !ok {
			return
		}
		nodes, again := known[set.FeasibleVersion()]
		if !again {
			feasible.Each(func(*framework.NodeInfo, int) { nodes++ })
			known[set.FeasibleVersion()] = nodes
		}
		fmt.Println(nodes, "known:", again)
	}
	// Output:
	// 1 known: false
	// 1 known: true
}

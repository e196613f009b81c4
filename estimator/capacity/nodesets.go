package capacity

import (
	"iter"
	"math"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A NodeComponent is a component to place on known nodes.
type NodeComponent struct {
	Replicas int64
	// Pod is one copy. It must have the snapshot's schema. A nil pod requests
	// nothing.
	Pod *framework.PodInfo
	// May reports for each node, in the snapshot's order, whether the pod may run
	// there, apart from resources. nil allows all nodes.
	May []bool
	// Ask reports the same about a node, by its place in the snapshot's order. It is
	// called if May is nil, and only about nodes with room for a replica.
	Ask func(node int) bool
}

// SetsOnNodes returns how many whole sets of components, at most bound, fit on the
// nodes of a snapshot. It first places each set of others once. Sets are placed one
// after another: component by component in the given order, each replica on the
// first node with room. The result is the number of sets placed before something
// did not fit. If a component of others does not fit, it and the later components
// of the same set are skipped. If the set has no replicas, the result is bound.
//
// Only resources with scheduler accounting and the number of pods count. Negative
// replicas count as none, and a nil snapshot has no nodes.
//
// The cost grows with the number of nodes that are filled and, if the components differ, with
// that number times the number of components.
//
// Source: Karmada 1.18, the accurate estimator's EstimateComponents.
func SetsOnNodes(s *framework.Snapshot, set []NodeComponent, others [][]NodeComponent, bound int64) int64 {
	p := nodePacker(s, set, others)
	return p.pack(p.kindsOfNodes(set), bound)
}

// ReplicasOnNodes returns, for each node, how many copies of the pod fit beside
// others, which it places like [SetsOnNodes]; see [OnNode].
func ReplicasOnNodes(s *framework.Snapshot, pod *framework.PodInfo, others [][]NodeComponent) []int64 {
	one := []NodeComponent{{Replicas: 1, Pod: pod}}
	p := nodePacker(s, one, others)
	needs := p.kindsOfNodes(one)[0].needs
	nodes := &p.rows[0].nodes
	room := make([]int64, nodes.count)
	for i := range room {
		room[i] = min(fits(nodes.room(i), needs), MaxReplicas)
	}
	return room
}

// nodePacker returns a packer of known nodes with the others placed.
func nodePacker(s *framework.Snapshot, set []NodeComponent, others [][]NodeComponent) *setPacker {
	width := 0
	for _, kinds := range append([][]NodeComponent{set}, others...) {
		for _, c := range kinds {
			width = max(width, len(c.requests()))
		}
	}
	known := setNodes{width: 1 + width}
	for _, n := range all(s) {
		room := []int64{max(0, n.AllowedPods-int64(len(n.Pods)))}
		for i := range width {
			room = append(room, max(0, resource.SatSub(n.Allocatable.At(i), n.Requested.At(i))))
		}
		known.add(room)
	}
	p := &setPacker{rows: []setRow{{nodes: known}}, maxSteps: math.MaxInt64}
	for _, kinds := range others {
		p.place(p.kindsOfNodes(kinds))
	}
	return p
}

func (p *setPacker) kindsOfNodes(components []NodeComponent) []setKind {
	var kinds []setKind
	for _, c := range components {
		k := setKind{replicas: max(0, c.Replicas), needs: []int64{c.slots()}, may: c.Ask}
		for _, request := range c.requests() {
			k.needs = append(k.needs, max(0, request))
		}
		if c.May != nil {
			k.may = func(node int) bool { return node < len(c.May) && c.May[node] }
		}
		kinds = append(kinds, k)
	}
	return kinds
}

func (c *NodeComponent) requests() resource.Vector {
	if c.Pod == nil {
		return nil
	}
	return c.Pod.Fresh().Requests
}

// slots is how many pods a replica counts as: one, or more than any node takes if it
// requests a resource that no node has.
func (c *NodeComponent) slots() int64 {
	if c.Pod != nil {
		for _, u := range c.Pod.Fresh().Unknown {
			if u.Requested > 0 {
				return math.MaxInt64
			}
		}
	}
	return 1
}

// all returns the nodes of a snapshot.
func all(s *framework.Snapshot) iter.Seq2[int, *framework.NodeInfo] {
	if s == nil {
		return func(func(int, *framework.NodeInfo) bool) {}
	}
	return s.All()
}

package capacity

import (
	"iter"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A NodeComponent is a component as it is placed on nodes that are at hand.
type NodeComponent struct {
	Replicas int64
	// Pod is one copy. Its schema must be that of the snapshot. nil is a pod that
	// requests nothing.
	Pod *framework.PodInfo
	// May tells for each node, in the snapshot's order, whether the pod may run
	// there, apart from resources; nil: on any.
	May []bool
}

// SetsOnNodes returns how many whole sets of components, at most bound, the
// nodes of a snapshot have room for, beside sets of other components that are placed before,
// once each. Sets are placed one after the other: component by component in the
// order given, each replica on the first node that has room. The result is what
// was placed before something did not fit. What does not fit of others is left
// out, with the components of the same set after it. Without replicas in the
// set, it is bound.
//
// Only resources that schedulers keep accounts of, and the number of pods,
// count. Negative replicas count as none, and a nil snapshot has no nodes.
//
// Cost: grows with the number of nodes times that of components, and with the
// number of nodes that are filled.
//
// Source: Karmada 1.18, the accurate estimator's EstimateComponents.
func SetsOnNodes(s *framework.Snapshot, set []NodeComponent, others [][]NodeComponent, bound int64) int64 {
	p := nodePacker(s, set, others)
	return p.pack(p.kindsOfNodes(set), bound)
}

// ReplicasOnNodes returns, for each node, how many copies of the pod it has room
// for beside others, which are placed as [SetsOnNodes] does; see [OnNode].
func ReplicasOnNodes(s *framework.Snapshot, pod *framework.PodInfo, others [][]NodeComponent) []int64 {
	one := []NodeComponent{{Replicas: 1, Pod: pod}}
	p := nodePacker(s, one, others)
	needs := p.kindsOfNodes(one)[0].needs
	room := make([]int64, len(p.nodes))
	for i := range p.nodes {
		room[i] = min(fits(p.nodes[i].room, needs), MaxReplicas)
	}
	return room
}

// nodePacker returns a packer of nodes that are at hand, after the others were
// placed.
func nodePacker(s *framework.Snapshot, set []NodeComponent, others [][]NodeComponent) *setPacker {
	width := 0
	for _, kinds := range append([][]NodeComponent{set}, others...) {
		for _, c := range kinds {
			width = max(width, len(c.requests()))
		}
	}
	p := &setPacker{}
	for _, n := range all(s) {
		room := []int64{max(0, n.AllowedPods-int64(len(n.Pods)))}
		for i := range width {
			room = append(room, max(0, resource.SatSub(n.Allocatable.At(i), n.Requested.At(i))))
		}
		p.nodes = append(p.nodes, setNode{room: room})
	}
	for _, kinds := range others {
		p.place(p.kindsOfNodes(kinds))
	}
	return p
}

func (p *setPacker) kindsOfNodes(components []NodeComponent) []setKind {
	var kinds []setKind
	for _, c := range components {
		k := setKind{replicas: max(0, c.Replicas), needs: []int64{1}}
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
	return c.Pod.Requests
}

// all returns the nodes of a snapshot.
func all(s *framework.Snapshot) iter.Seq2[int, *framework.NodeInfo] {
	if s == nil {
		return func(func(int, *framework.NodeInfo) bool) {}
	}
	return s.All()
}

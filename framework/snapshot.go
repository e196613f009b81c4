package framework

import (
	"fmt"
	"iter"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A Snapshot is the cluster at one moment: nodes in a defined order, the pods
// on them, the time, and what plugins keep per node ([Extension]). Make one
// with [NewSnapshot]; the zero Snapshot is of no use.
//
// Changes are exact and cheap: O(1) for a pod that comes or goes. [Snapshot.Fork]
// makes an independent copy that shares everything not yet changed, and
// [Snapshot.Begin] opens a transaction that can be rolled back.
//
// A Snapshot must be used by one goroutine at a time, apart from calls that
// only read it: Len, At, All, Node, NodeOf, AtSlot, Slots, Order, NodeSet, Image,
// Now, Schema, Version and Changes may run beside each other. Fork is not among
// them. Forks are independent of each other: each may be used by its own
// goroutine.
type Snapshot struct {
	now         time.Time
	lineage     *lineage
	owner       *owner
	generations generations

	chunks    []*chunk // nodes by slot
	free      []int    // slots without a node
	freeOwner *owner
	tree      *nodeTree
	names     *nameIndex
	images    *imageTable
	nodeSet   uint64 // generation of the set of node objects

	tables      []any  // a *table for each kind of other objects
	objects     uint64 // generation of their content
	nominations int

	extensions []extension
	journal    journal
	undo       undoLog

	changing bool // see startChange
	strict   bool // see RefuseDuplicates
}

// NewSnapshot returns an empty snapshot whose nodes will be in the given order.
func NewSnapshot(order NodeOrder) *Snapshot {
	o := new(owner)
	return &Snapshot{
		lineage:   &lineage{schema: resource.NewSchema()},
		owner:     o,
		freeOwner: o,
		tree:      newNodeTree(order, o),
		names:     &nameIndex{owner: o, slots: map[string]int{}},
		images:    &imageTable{owner: o, states: map[string]ImageState{}},
	}
}

// Schema returns the schema of all vectors in the snapshot and its forks. It
// keeps the names of resources whose nodes and pods are gone, at most
// [resource.MaxNames] in all.
func (s *Snapshot) Schema() *resource.Schema {
	s.must()
	return s.lineage.schema
}

// Now returns the snapshot's time, the zero time unless it was set.
func (s *Snapshot) Now() time.Time { return s.now }

// SetNow sets the snapshot's time. It is no change of a node: generations,
// Version and transactions do not know of it.
func (s *Snapshot) SetNow(t time.Time) { s.now = t }

// Len returns the number of nodes.
func (s *Snapshot) Len() int {
	s.must()
	return s.tree.len
}

// At returns the node at a position of the snapshot's order, 0 <= i < Len.
func (s *Snapshot) At(i int) *NodeInfo {
	s.must()
	return s.node(s.tree.list()[i])
}

// All iterates over the nodes in the snapshot's order, as they are at the
// first step: a node that is removed meanwhile may be yielded as nil.
func (s *Snapshot) All() iter.Seq2[int, *NodeInfo] {
	s.must()
	return func(yield func(int, *NodeInfo) bool) {
		for i, slot := range s.tree.list() {
			if !yield(i, s.node(slot)) {
				return
			}
		}
	}
}

// Node returns the node of that name, nil if there is none.
//
// A NodeInfo shows a node as it is until the snapshot is forked and the node
// then changes: the changed node is a new NodeInfo. Ask again after a fork.
func (s *Snapshot) Node(name string) *NodeInfo {
	s.must()
	if slot, ok := s.names.slots[name]; ok {
		return s.node(slot)
	}
	return nil
}

// SlotLimit returns an upper bound of all slots in use; see [NodeInfo.Slot].
func (s *Snapshot) SlotLimit() int { return len(s.chunks) * chunkSize }

// AtSlot returns the node of that slot, nil if there is none.
func (s *Snapshot) AtSlot(slot int) *NodeInfo {
	if uint(slot) >= uint(s.SlotLimit()) {
		return nil
	}
	return s.node(slot)
}

// Slots returns the slots of all nodes in the snapshot's order. The result
// must not be changed; it stays as it is when nodes come or go.
func (s *Snapshot) Slots() []int {
	s.must()
	return s.tree.list()
}

// NodeSet identifies, like a generation, the set of node objects: it changes
// when a node comes, goes, or its object changes.
func (s *Snapshot) NodeSet() uint64 { return s.nodeSet }

func (s *Snapshot) node(slot int) *NodeInfo {
	return s.chunks[slot/chunkSize].nodes[slot%chunkSize]
}

// NewPodInfo derives a PodInfo that fits the snapshot and its forks.
func (s *Snapshot) NewPodInfo(p *api.Pod) (*PodInfo, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return NewPodInfo(p, s.lineage.schema)
}

// String describes the snapshot for people.
func (s *Snapshot) String() string {
	return fmt.Sprintf("snapshot of %d nodes", s.Len())
}

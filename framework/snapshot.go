package framework

import (
	"fmt"
	"iter"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/changelog"
	"github.com/berth-sched/berth/resource"
)

// A Snapshot is the cluster at one moment: nodes in a defined order, the pods on them,
// other objects, the time, and what plugins keep ([NodeState], [Extension]). Make one
// with [NewSnapshot] or [SnapshotOf]. With a nil or zero Snapshot, methods that return
// an error return one, and others panic.
//
// Changes are exact and cheap: O(1) for a pod that comes or goes. [Snapshot.Fork]
// makes an independent copy that shares everything not yet changed, and
// [Snapshot.Begin] opens a transaction that can be rolled back.
//
// A Snapshot must be used by one goroutine at a time, except that calls which only
// read it may run beside each other: Len, At, All, Node, NodeOf, AtSlot, Slots,
// NodeSet, Image, Now, Schema, Version, Changes and RunGeneration. Fork is not one of them. Two
// changes at once panic if they are noticed, as with Go's maps. Each fork may be used
// by its own goroutine.
//
// Where to look: snapshot_node.go and snapshot_pod.go change nodes and pods,
// snapshot_objects.go all other objects, snapshot_nominate.go nominations;
// snapshot_fork.go and snapshot_transaction.go copy and undo; snapshot_changes.go
// tells what changed; snapshot_order.go keeps the order of nodes, snapshot_images.go
// counts images, snapshot_index.go finds pods; snapshot_load.go fills a snapshot.
type Snapshot struct {
	now         time.Time
	lineage     *lineage
	schema      *resource.Schema
	owner       *owner
	generations generations

	chunks    []*chunk // nodes by slot
	free      []int    // slots without a node
	freeOwner *owner
	tree      *nodeTree
	names     *nameIndex
	images    *imageTable
	nodeSet   uint64 // generation of the set of node objects
	affine    int    // pods on nodes that have pod affinity

	priorities *priorityCounts // nil before somebody asks

	tables      []*table // one for each other kind of objects
	objects     ObjectVersions
	nominations int   // pods
	nominated   []int // slots that they are nominated to

	extensions     []extension
	podWatchers    []PodWatcher       // of extensions
	watched        PodParts           // pods with one of them concern podWatchers; all bits: every pod does
	commitWatchers []commitWatcher    // of extensions
	podHolders     []podHolder        // of extensions
	losing         bool               // LoseNode or LosePod is running
	views          views              // of pods that extensions have panicked over
	journal        changelog.Log[int] // of slots that changed
	undo           undoLog

	changing bool  // see startChange
	broken   error // see ErrBroken
	strict   bool  // see RefuseDuplicates
}

// NewSnapshot returns an empty snapshot whose nodes will be in the given order.
func NewSnapshot(order NodeOrder) *Snapshot {
	o := new(owner)
	return &Snapshot{
		lineage:   new(lineage),
		schema:    resource.NewSchema(),
		owner:     o,
		freeOwner: o,
		tree:      newNodeTree(order, o),
		names:     &nameIndex{owner: o, slots: map[string]int{}},
		images:    &imageTable{owner: o, states: map[string]imageState{}},
		journal:   changelog.New[int](journalLimit),
	}
}

// Schema returns the schema of all vectors in the snapshot. Forks have the same until
// one of them needs another.
//
// A schema has at most [resource.MaxNames] names of nodes and [resource.MaxGuests] that only
// pods have. If a node brings more, [Snapshot.AddNode] and [Snapshot.UpdateNode] replace the
// schema by one that keeps the names of nodes and of pods on or nominated to nodes, under
// the same numbers. Methods of the snapshot that take a pod, and schedulers, derive a pod
// anew that was derived with an earlier one; see [Snapshot.Current].
func (s *Snapshot) Schema() *resource.Schema {
	s.must()
	return s.schema
}

// Now returns the snapshot's time; it is the zero time until SetNow is called.
func (s *Snapshot) Now() time.Time { return s.now }

// SetNow sets the snapshot's time. That does not change generations or Version, and a
// rollback does not take it back.
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

// All iterates over the nodes in the order that they have at the first step. A node
// that is removed meanwhile may be yielded as nil.
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
// A NodeInfo follows its node until the snapshot is forked. If the node changes after
// that, the changed node is a new NodeInfo, so ask again after a fork.
func (s *Snapshot) Node(name string) *NodeInfo {
	s.must()
	if slot, ok := s.names.slots[name]; ok {
		return s.node(slot)
	}
	return nil
}

// SlotLimit returns a number that is larger than every slot; see [NodeInfo.Slot].
func (s *Snapshot) SlotLimit() int { return len(s.chunks) * chunkSize }

// AtSlot returns the node of that slot, nil if there is none.
func (s *Snapshot) AtSlot(slot int) *NodeInfo {
	if c := uint(slot) / chunkSize; c < uint(len(s.chunks)) {
		return s.chunks[c].nodes[uint(slot)%chunkSize]
	}
	return nil
}

// Slots returns the slots of all nodes in the snapshot's order. The result must not be
// changed. It stays the same when nodes come or go.
func (s *Snapshot) Slots() []int {
	s.must()
	return s.tree.list()
}

// NodeSet identifies the set of node objects like a generation: it changes whenever a
// node is added, updated or removed.
func (s *Snapshot) NodeSet() uint64 { return s.nodeSet }

// PodsWithAffinity returns how many of the pods on nodes have pod affinity or
// anti-affinity; see [PodInfo.HasPodAffinity]. It looks at no pod.
func (s *Snapshot) PodsWithAffinity() int { return s.affine }

// tallyPod counts a pod that comes (by is 1) or leaves (-1).
func (s *Snapshot) tallyPod(p *PodInfo, by int) {
	if p.HasPodAffinity() {
		s.affine += by
	}
	if s.priorities != nil {
		s.priorities.add(p.Priority, by)
	}
}

func (s *Snapshot) node(slot int) *NodeInfo {
	return s.chunks[uint(slot)/chunkSize].nodes[uint(slot)%chunkSize]
}

// NewPodInfo derives a PodInfo that fits the snapshot and its forks.
func (s *Snapshot) NewPodInfo(p *api.Pod) (*PodInfo, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return NewPodInfo(p, s.schema)
}

// String describes the snapshot for people.
func (s *Snapshot) String() string {
	return fmt.Sprintf("snapshot of %d nodes", s.Len())
}

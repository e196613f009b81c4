package framework

import (
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/berth-sched/berth/resource"
)

// A Snapshot is the cluster at one moment: nodes in a defined order, the pods
// on them, the time, and what plugins keep per node ([Extension]).
//
// Changes are exact and cheap: O(1) for a pod that comes or goes. [Snapshot.Fork]
// makes an independent copy that shares everything not yet changed, and
// [Snapshot.Begin] opens a transaction that can be rolled back.
//
// A Snapshot must be used by one goroutine at a time, apart from calls that
// only read it. Forks are independent of each other: each may be used by its
// own goroutine.
type Snapshot struct {
	now     time.Time
	lineage *lineage
	owner   *owner

	chunks  []*chunk // nodes by slot
	free    []int    // slots without a node
	tree    *nodeTree
	names   *nameIndex
	images  *imageTable
	nodeSet uint64 // generation of the set of node objects

	extensions []extension
	journal    journal
	undo       undoLog
}

// lineage is shared by a snapshot and all its forks.
type lineage struct {
	schema      *resource.Schema
	generations atomic.Uint64
}

func (l *lineage) next() uint64 { return l.generations.Add(1) }

// owner marks what a snapshot may write to; everything else is shared with a
// fork and copied first. It has a size so that every owner has its own address.
type owner struct{ _ byte }

const chunkSize = 256

type chunk struct {
	owner *owner
	nodes [chunkSize]*NodeInfo
}

// NewSnapshot returns an empty snapshot whose nodes will be in the given order.
func NewSnapshot(order Order) *Snapshot {
	o := new(owner)
	return &Snapshot{
		lineage: &lineage{schema: resource.NewSchema()},
		owner:   o,
		tree:    newNodeTree(order, o),
		names:   &nameIndex{owner: o, slots: map[string]int{}},
		images:  &imageTable{owner: o, states: map[string]ImageState{}},
	}
}

// Schema returns the schema of all vectors in the snapshot and its forks.
func (s *Snapshot) Schema() *resource.Schema { return s.lineage.schema }

// Now returns the snapshot's time, the zero time unless it was set.
func (s *Snapshot) Now() time.Time { return s.now }

// SetNow sets the snapshot's time.
func (s *Snapshot) SetNow(t time.Time) { s.now = t }

// Len returns the number of nodes.
func (s *Snapshot) Len() int { return s.tree.len }

// At returns the node at a position of the snapshot's order, 0 <= i < Len.
func (s *Snapshot) At(i int) *NodeInfo { return s.node(s.tree.list()[i]) }

// All iterates over the nodes in the snapshot's order.
func (s *Snapshot) All() iter.Seq2[int, *NodeInfo] {
	return func(yield func(int, *NodeInfo) bool) {
		for i, slot := range s.tree.list() {
			if !yield(i, s.node(slot)) {
				return
			}
		}
	}
}

// Node returns the node of that name, nil if there is none.
func (s *Snapshot) Node(name string) *NodeInfo {
	if slot, ok := s.names.slots[name]; ok {
		return s.node(slot)
	}
	return nil
}

// Slots returns an upper bound of all slots in use; see [NodeInfo.Slot].
func (s *Snapshot) Slots() int { return len(s.chunks) * chunkSize }

// AtSlot returns the node of that slot, nil if there is none.
func (s *Snapshot) AtSlot(slot int) *NodeInfo {
	if uint(slot) >= uint(s.Slots()) {
		return nil
	}
	return s.node(slot)
}

// Order returns the slots of all nodes in the snapshot's order. The result
// must not be changed; it stays as it is when nodes come or go.
func (s *Snapshot) Order() []int { return s.tree.list() }

// NodeSet identifies, like a generation, the set of node objects: it changes
// when a node comes, goes, or its object changes.
func (s *Snapshot) NodeSet() uint64 { return s.nodeSet }

func (s *Snapshot) node(slot int) *NodeInfo {
	return s.chunks[slot/chunkSize].nodes[slot%chunkSize]
}

// own returns the node for writing: it has a new generation, and no fork
// shares it.
func (s *Snapshot) own(slot int) *NodeInfo {
	c := s.chunks[slot/chunkSize]
	if c.owner != s.owner {
		copied := *c
		copied.owner = s.owner
		c = &copied
		s.chunks[slot/chunkSize] = c
	}
	n := c.nodes[slot%chunkSize]
	if n != nil && n.owner != s.owner {
		n = n.clone(s.owner)
		c.nodes[slot%chunkSize] = n
	}
	return n
}

func (s *Snapshot) put(slot int, n *NodeInfo) {
	s.own(slot)
	s.chunks[slot/chunkSize].nodes[slot%chunkSize] = n
	s.journal.add(slot)
}

// AddNode adds a node without pods. A node without a name, with a negative
// quantity, or with the name of a node that is there already is an
// [*InvalidError]; the object must not change while it is in the snapshot.
func (s *Snapshot) AddNode(node *Node) error {
	n, err := newNodeInfo(node, s.lineage.schema)
	if err != nil {
		return err
	}
	if s.Node(node.Name) != nil {
		return &InvalidError{Object: "node " + node.Name, Field: "metadata.name", Value: node.Name, Err: errDuplicate}
	}
	if err := s.undo.refuseNodes(); err != nil {
		return err
	}
	n.owner, n.slot = s.owner, s.takeSlot()
	s.nodeSet = s.lineage.next()
	n.generation, n.static.generation = s.nodeSet, s.nodeSet
	s.put(n.slot, n)
	s.names = s.names.own(s.owner)
	s.names.slots[node.Name] = n.slot
	s.tree = s.tree.own(s.owner)
	s.tree.add(n.static.zone, n.slot)
	s.images = s.images.own(s.owner)
	s.images.add(node)
	s.eachNodeWatcher(func(w NodeWatcher) { w.NodeAdded(s, n) })
	return nil
}

// UpdateNode replaces the object of a node and keeps its pods. A node that is
// not there, or an object that AddNode would refuse, is an [*InvalidError].
func (s *Snapshot) UpdateNode(node *Node) error {
	n, err := newNodeInfo(node, s.lineage.schema)
	if err != nil {
		return err
	}
	old := s.Node(node.Name)
	if old == nil {
		return &InvalidError{Object: "node " + node.Name, Field: "metadata.name", Value: node.Name, Err: errUnknown}
	}
	if err := s.undo.refuseNodes(); err != nil {
		return err
	}
	kept := old.clone(s.owner)
	n.owner, n.slot = s.owner, old.slot
	n.Requested, n.NonZeroRequested, n.Pods, n.UsedPorts = kept.Requested, kept.NonZeroRequested, kept.Pods, kept.UsedPorts
	s.nodeSet = s.lineage.next()
	n.generation, n.static.generation = s.nodeSet, s.nodeSet
	s.put(n.slot, n)
	if n.static.zone != old.static.zone {
		s.tree = s.tree.own(s.owner)
		s.tree.remove(old.static.zone, n.slot)
		s.tree.add(n.static.zone, n.slot)
	}
	s.images = s.images.own(s.owner)
	s.images.remove(old.Node)
	s.images.add(node)
	s.eachNodeWatcher(func(w NodeWatcher) { w.NodeUpdated(s, old, n) })
	return nil
}

// RemoveNode removes a node and its pods. A node that is not there is an
// [*InvalidError].
func (s *Snapshot) RemoveNode(name string) error {
	n := s.Node(name)
	if n == nil {
		return &InvalidError{Object: "node " + name, Field: "metadata.name", Value: name, Err: errUnknown}
	}
	if err := s.undo.refuseNodes(); err != nil {
		return err
	}
	for len(n.Pods) > 0 {
		s.remove(n.slot, len(n.Pods)-1)
		n = s.node(n.slot)
	}
	s.eachNodeWatcher(func(w NodeWatcher) { w.NodeRemoved(s, n) })
	s.nodeSet = s.lineage.next()
	s.put(n.slot, nil)
	s.free = append(s.free[:len(s.free):len(s.free)], n.slot)
	s.names = s.names.own(s.owner)
	delete(s.names.slots, name)
	s.tree = s.tree.own(s.owner)
	s.tree.remove(n.static.zone, n.slot)
	s.images = s.images.own(s.owner)
	s.images.remove(n.Node)
	return nil
}

func (s *Snapshot) takeSlot() int {
	if k := len(s.free); k > 0 {
		slot := s.free[k-1]
		s.free = s.free[:k-1]
		return slot
	}
	base := s.Slots()
	s.chunks = append(s.chunks, &chunk{owner: s.owner})
	s.free = make([]int, 0, chunkSize)
	for slot := base + chunkSize - 1; slot > base; slot-- {
		s.free = append(s.free, slot)
	}
	return base
}

// NewPodInfo derives a PodInfo that fits the snapshot and its forks.
func (s *Snapshot) NewPodInfo(p *Pod) (*PodInfo, error) { return NewPodInfo(p, s.lineage.schema) }

// AddPod counts the pod on the node of that name. An unknown node, a PodInfo
// of another schema, or a total beyond the largest int64 is an
// [*InvalidError]. The snapshot does not check whether the pod fits, nor
// whether it is on another node already.
func (s *Snapshot) AddPod(p *PodInfo, node string) error {
	n := s.Node(node)
	if n == nil {
		return &InvalidError{Object: "pod " + p.Pod.Key(), Field: "spec.nodeName", Value: node, Err: errors.New("no such node")}
	}
	return s.Assume(p, n)
}

// RemovePod takes the pod off the node of that name. A pod is recognised by
// its UID, without one by namespace and name. A pod that is not there is an
// [*InvalidError].
func (s *Snapshot) RemovePod(p *PodInfo, node string) error {
	n := s.Node(node)
	if n == nil {
		return &InvalidError{Object: "pod " + p.Pod.Key(), Field: "spec.nodeName", Value: node, Err: errors.New("no such node")}
	}
	return s.Forget(p, n)
}

// Assume is AddPod for a node of this snapshot that is at hand.
func (s *Snapshot) Assume(p *PodInfo, n *NodeInfo) error {
	if err := s.check(p, n); err != nil {
		return err
	}
	n = s.own(n.slot)
	if err := n.add(p); err != nil {
		return err
	}
	s.undo.record(undoEntry{kind: undoAdd, slot: n.slot, generation: n.generation})
	s.changed(n)
	s.eachPodWatcher(func(w PodWatcher) { w.PodAdded(s, n, p) })
	return nil
}

// Forget is RemovePod for a node of this snapshot that is at hand. Forgetting
// the pod that was assumed last restores the node exactly.
func (s *Snapshot) Forget(p *PodInfo, n *NodeInfo) error {
	if err := s.check(p, n); err != nil {
		return err
	}
	i := s.node(n.slot).find(p)
	if i < 0 {
		return &InvalidError{
			Object: "pod " + p.Pod.Key(), Field: "spec.nodeName", Value: n.Name(), Err: errors.New("the pod is not on this node"),
		}
	}
	s.remove(n.slot, i)
	return nil
}

func (s *Snapshot) check(p *PodInfo, n *NodeInfo) error {
	if p.schema != s.lineage.schema {
		return &InvalidError{Object: "pod " + p.Pod.Key(), Err: errors.New("its PodInfo was made for another snapshot; make it with Snapshot.NewPodInfo")}
	}
	if have := s.AtSlot(n.slot); have == nil || have.Node.Name != n.Node.Name {
		return &InvalidError{Object: "node " + n.Name(), Err: errUnknown}
	}
	return nil
}

func (s *Snapshot) remove(slot, i int) {
	n := s.own(slot)
	p := n.removeAt(i)
	s.undo.record(undoEntry{kind: undoRemove, slot: slot, index: i, pod: p, generation: n.generation})
	s.changed(n)
	s.eachPodWatcher(func(w PodWatcher) { w.PodRemoved(s, n, p) })
}

// changed gives the node a new generation. The caller owns it.
func (s *Snapshot) changed(n *NodeInfo) {
	n.generation = s.lineage.next()
	s.journal.add(n.slot)
}

// Touch tells the snapshot that an extension changed what it holds for the
// node: answers kept for the node are no longer valid.
func (s *Snapshot) Touch(n *NodeInfo) {
	n = s.own(n.slot)
	s.undo.record(undoEntry{kind: undoTouch, slot: n.slot, generation: n.generation})
	s.changed(n)
}

// Fork returns an independent copy. It costs O(N/256) for N nodes and what the
// extensions ask; later changes on either side copy what they touch.
func (s *Snapshot) Fork() *Snapshot {
	s.tree.list() // made before it is shared
	f := &Snapshot{
		now: s.now, lineage: s.lineage, owner: new(owner),
		chunks: append([]*chunk(nil), s.chunks...), free: s.free[:len(s.free):len(s.free)],
		tree: s.tree, names: s.names, images: s.images, nodeSet: s.nodeSet,
	}
	// From now on s, too, shares what it holds.
	s.owner = new(owner)
	s.free = s.free[:len(s.free):len(s.free)]
	f.extensions = make([]extension, len(s.extensions))
	for i, e := range s.extensions {
		f.extensions[i] = newExtension(e.key, e.value.Fork(f))
	}
	return f
}

// String describes the snapshot for people.
func (s *Snapshot) String() string {
	return fmt.Sprintf("snapshot of %d nodes", s.Len())
}

var (
	errDuplicate = errors.New("there is already a node of this name")
	errUnknown   = errors.New("no such node in the snapshot")
)

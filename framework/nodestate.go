package framework

import (
	"slices"

	"github.com/berth-sched/berth/internal/cow"
)

// A NodeState holds a value of type T for each node of one snapshot: state that
// decisions change, such as which device each pod holds. Forks and transactions
// cover it: a fork has its own, and a rollback brings the old values back.
//
// A node starts with the zero T, and so does a later node that takes its slot. The
// state of a node stays when its object is updated, and goes when it is removed. A
// value that shares memory (a slice, a map, a pointer) must not be changed in place:
// Set a new one. A plugin whose answers read the state declares ReadsPods in its
// [Scope].
//
// Reading is safe for concurrent use; everything else is a change of the snapshot.
type NodeState[T any] struct{ in *nodeState[T] }

// Get returns the node's value. The node must be one of the snapshot, as it is now
// or as it was before a fork.
func (x NodeState[T]) Get(n *NodeInfo) T { return x.in.pages.At(n.Slot()) }

// Set gives the node a new value and makes the answers that are kept for it invalid
// ([Snapshot.Touch]). It panics if the node is not in the snapshot.
func (x NodeState[T]) Set(n *NodeInfo, v T) {
	s := x.in.snapshot
	if n != nil {
		n = s.asIs(n)
	}
	if n == nil {
		panic("framework: NodeState.Set: the node is not in the snapshot")
	}
	x.in.set(n.Slot(), v)
	s.Touch(n)
}

// NodeHooks let a [NodeState] follow the pods of each node. Each may be nil, and
// returns the node's next value, and whether it differs from the one before. It must
// depend on its arguments alone and not change the snapshot.
//
// The hooks run whenever a pod comes to a node or leaves it, for whatever reason: it
// ran there when the snapshot was made, it has just been placed, it is nominated
// there, or a preemption tries what happens without it. They do not run in a
// rollback, which restores the values.
type NodeHooks[T any] struct {
	// PodAdded follows pod p, which has come to node n: n counts it already.
	PodAdded func(state T, n *NodeInfo, p *PodInfo) (next T, changed bool)
	// PodRemoved follows pod p, which has left node n: n no longer counts it.
	PodRemoved func(state T, n *NodeInfo, p *PodInfo) (next T, changed bool)
}

// A NodeStateKey gives access to one [NodeState] of every snapshot. Keep it in a
// package variable, or in a field of the plugins that share it.
type NodeStateKey[T any] struct {
	key *ExtensionKey[*nodeState[T]]
}

// NewNodeStateKey returns a key for a state that follows pods by the hooks; the zero
// NodeHooks follow none.
func NewNodeStateKey[T any](hooks NodeHooks[T]) *NodeStateKey[T] {
	return &NodeStateKey[T]{NewExtensionKey(func(s *Snapshot) *nodeState[T] {
		x := &nodeState[T]{hooks: hooks, snapshot: s}
		x.Rebuild(s)
		return x
	})}
}

// Of returns the snapshot's state. The first call makes it, from the pods on each
// node in their order; that is a change of the snapshot and costs O(pods). Call it in
// PreFilter, PreScore or Reserve, not once per node.
func (k *NodeStateKey[T]) Of(s *Snapshot) NodeState[T] { return NodeState[T]{k.key.Of(s)} }

// nodeState is the extension behind a NodeState.
type nodeState[T any] struct {
	hooks    NodeHooks[T]
	snapshot *Snapshot
	pages    cow.Pages[T] // by slot; their owner is the snapshot's

	undo  []nodeStateUndo[T] // one for each entry of the snapshot's undo log
	outer uint64             // serial number of the outermost transaction of undo
}

// nodeStateUndo is what one change has replaced.
type nodeStateUndo[T any] struct {
	slot int
	old  T
}

// Rebuild makes the state from the pods that are there; see rebuilder.
func (x *nodeState[T]) Rebuild(*Snapshot) {
	x.pages = nil
	if x.hooks.PodAdded == nil {
		return
	}
	for _, n := range x.snapshot.All() {
		var state T
		some := false
		for _, p := range n.Pods {
			if next, changed := x.hooks.PodAdded(state, n, p); changed {
				state, some = next, true
			}
		}
		if some {
			*x.own(n.Slot()) = state
		}
	}
}

func (x *nodeState[T]) own(slot int) *T { return x.pages.Own(x.snapshot.owner, slot) }

// set gives a slot a new value and records the old one.
func (x *nodeState[T]) set(slot int, v T) {
	at := x.own(slot)
	if log := &x.snapshot.undo; log.isOpen() && !log.rolling {
		if x.outer != log.open[0] { // what is left was committed
			clear(x.undo)
			x.undo, x.outer = x.undo[:0], log.open[0]
		}
		x.undo = append(x.undo, nodeStateUndo[T]{slot, *at})
		log.record(undoEntry{kind: undoExtension, undoer: x})
	}
	*at = v
}

// Undo takes back the last change.
func (x *nodeState[T]) Undo(*Snapshot) {
	last := len(x.undo) - 1
	u := x.undo[last]
	x.undo[last] = nodeStateUndo[T]{}
	x.undo = x.undo[:last]
	*x.own(u.slot) = u.old
}

// Fork implements [Extension].
func (x *nodeState[T]) Fork(s *Snapshot) Extension {
	return &nodeState[T]{hooks: x.hooks, snapshot: s, pages: slices.Clone(x.pages)}
}

// followsPods spares snapshots the events that no hook is for.
func (x *nodeState[T]) followsPods() bool {
	return x.hooks.PodAdded != nil || x.hooks.PodRemoved != nil
}

// PodAdded implements [PodWatcher].
func (x *nodeState[T]) PodAdded(s *Snapshot, n *NodeInfo, p *PodInfo) {
	x.follow(x.hooks.PodAdded, s, n, p)
}

// PodRemoved implements [PodWatcher].
func (x *nodeState[T]) PodRemoved(s *Snapshot, n *NodeInfo, p *PodInfo) {
	x.follow(x.hooks.PodRemoved, s, n, p)
}

func (x *nodeState[T]) follow(hook func(T, *NodeInfo, *PodInfo) (T, bool), s *Snapshot, n *NodeInfo, p *PodInfo) {
	if hook == nil || s.undo.rolling {
		return
	}
	if next, changed := hook(x.pages.At(n.Slot()), n, p); changed {
		x.set(n.Slot(), next)
	}
}

// NodeAdded implements [NodeWatcher].
func (x *nodeState[T]) NodeAdded(*Snapshot, *NodeInfo) {}

// NodeUpdated implements [NodeWatcher].
func (x *nodeState[T]) NodeUpdated(*Snapshot, *NodeInfo, *NodeInfo) {}

// NodeRemoved implements [NodeWatcher]: the slot may become another node's. No
// transaction is open.
func (x *nodeState[T]) NodeRemoved(_ *Snapshot, n *NodeInfo) {
	if k := n.Slot() / cow.PageSize; k < len(x.pages) && x.pages[k] != nil {
		var none T
		*x.own(n.Slot()) = none
	}
}

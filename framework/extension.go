package framework

import "time"

// An Extension is state that a plugin keeps in the [Snapshot], because decisions
// change it or because it follows the pods and nodes: claimed volumes, counts per
// topology domain. For state per node use a [NodeState], which is an extension that
// has all of the following already.
//
// An extension may implement [PodWatcher], [NodeWatcher] and [ObjectWatcher] to follow
// the cluster. If it changes for another reason, it must call [Snapshot.Record], so
// that a rollback takes the change back, and [Snapshot.Touch], so that kept answers
// for the node are renewed:
//
//	func (l *ledger) charge(s *framework.Snapshot, n *framework.NodeInfo, x int64) {
//		s.Record(refund{l, n.Slot(), x}) // its Undo subtracts x
//		l.sum[n.Slot()] += x
//		s.Touch(n)
//	}
type Extension interface {
	// Fork returns the extension of the fork s of the snapshot. Later changes
	// of either must not show in the other. It must not ask s for other
	// extensions.
	Fork(s *Snapshot) Extension
}

// A PodWatcher is told of every pod that comes to a node or leaves it, after the
// NodeInfo has changed. When a transaction is rolled back, it is told the opposite
// events in reverse order. It must not add or remove pods itself.
//
// One that has a method WatchedParts() PodParts need not be told of pods that have none of
// these parts; it may be told of them nevertheless. 0 means that it must be told of all. The
// snapshot asks when it makes the extension, and at [Snapshot.AskWatchers].
//
// If a method panics, the pod's coming or going is taken back: the extensions that were
// told before are told the opposite, and the snapshot returns an error that names the
// extension. An extension that panics must have changed nothing, or have recorded what
// it changed. It cannot prevent what a cluster says, as a driver tells it: see [Snapshot.CountPod].
type PodWatcher interface {
	// PodAdded follows the pod that has come to n.
	PodAdded(s *Snapshot, n *NodeInfo, p *PodInfo)
	// PodRemoved follows the pod that has left n.
	PodRemoved(s *Snapshot, n *NodeInfo, p *PodInfo)
}

// A NodeWatcher is told of every node that is added (without pods), updated, or
// removed (its pods have left before), after the snapshot has changed. A removed node
// is no longer in the snapshot, and the next node that is added may get its slot.
type NodeWatcher interface {
	// NodeAdded follows the new node n.
	NodeAdded(s *Snapshot, n *NodeInfo)
	// NodeRemoved follows n, which has left.
	NodeRemoved(s *Snapshot, n *NodeInfo)
	// NodeUpdated follows the node whose object was replaced.
	NodeUpdated(s *Snapshot, old, n *NodeInfo)
}

// An ObjectWatcher is told of every object that [Put] and [Delete] change, after the
// snapshot has changed. When a transaction is rolled back it is told nothing: it must
// have recorded how to take back what it did.
type ObjectWatcher interface {
	// ObjectChanged follows the object of that key. obj is a pointer to its new
	// version, such as a *NodeMetric; the pointer is nil if the object was deleted.
	ObjectChanged(s *Snapshot, key string, obj any)
}

// An ExtensionKey gives access to one extension of every snapshot. Keep it in
// a package variable.
type ExtensionKey[T Extension] struct {
	id    *extensionID
	build func(s *Snapshot) T
}

// An extensionID is the identity of a key: keys of different types compare as pointers.
type extensionID struct{ _ byte } // with a size, so that each has its own address

// NewExtensionKey returns a key. build makes the extension for a snapshot that does
// not have it yet, from the nodes and pods of the snapshot. Keys are compared by
// identity.
func NewExtensionKey[T Extension](build func(s *Snapshot) T) *ExtensionKey[T] {
	return &ExtensionKey[T]{new(extensionID), build}
}

// NewTouchingExtensionKey is [NewExtensionKey] for an extension that touches nodes when objects
// change ([ObjectWatcher]). Changes before it was made have touched no node. So making it
// touches all nodes if answers may have been kept that such changes concern. There are two cases: a
// fork of the snapshot, or one that it is a fork of, made the extension before, from other objects or at
// another time; or a transaction is open that has changed objects. A rollback brings generations back, so at
// its end the same is asked again.
func NewTouchingExtensionKey[T Extension](build func(s *Snapshot) T) *ExtensionKey[T] {
	id := new(extensionID)
	return &ExtensionKey[T]{id, func(s *Snapshot) T {
		t := build(s)
		_, before := s.lineage.touching.LoadOrStore(id, originOf(s))
		x := lateTouch{id, before}
		x.Rebuild(s)
		s.Record(madeInside{x})
		return t
	}}
}

// A lateTouch touches all nodes for an extension that is made late: answers may have been kept by
// their generations, in the transactions around it if they have changed objects, or in other snapshots that
// made it before, unless the first of those made it from the same. A rollback brings generations back, so
// it touches the nodes again then.
type lateTouch struct {
	id     *extensionID
	before bool
}

func (x lateTouch) isNeeded(s *Snapshot) bool {
	if s.undo.isOpen() && s.undo.objects != s.objects.all {
		return true
	}
	was, _ := s.lineage.touching.Load(x.id)
	return x.before && was != originOf(s)
}

// Rebuild implements rebuilder.
func (x lateTouch) Rebuild(s *Snapshot) {
	if !x.isNeeded(s) {
		return
	}
	for _, n := range s.All() {
		s.Touch(n)
	}
}

// An origin is what the first snapshot of a lineage made an extension from, besides its nodes. One that makes
// it from something else touches its nodes, so generations from before stand for answers by the first.
type origin struct {
	objects uint64
	now     time.Time
}

func originOf(s *Snapshot) origin { return origin{s.objects.all, s.now} }

// Of returns the snapshot's extension. The first call makes it, which is a change of
// the snapshot; forks made later have it too. It costs O(E) for the E extensions of
// the snapshot.
func (k *ExtensionKey[T]) Of(s *Snapshot) T {
	s.must()
	for i := range s.extensions {
		if e := &s.extensions[i]; e.key == k.id {
			return e.value.(T)
		}
	}
	t := k.build(s)
	s.extend(k.id, t)
	if r, ok := any(t).(rebuilder); ok && s.undo.records() {
		s.Record(madeInside{r})
	}
	return t
}

// A rebuilder makes an extension again from the pods or objects that are there, at the end of the
// rollback of the transaction in which it was made: it did not follow the changes before.
type rebuilder interface{ Rebuild(s *Snapshot) }

// madeInside takes back that a rebuilder was made.
type madeInside struct{ r rebuilder }

func (u madeInside) Undo(s *Snapshot) { s.undo.rebuild = append(s.undo.rebuild, u.r) }

type extension struct {
	key     *extensionID
	value   Extension
	nodes   NodeWatcher
	objects ObjectWatcher
}

// A commitWatcher is an extension that is told when the outermost transaction has been
// committed: what happened in it is final. If it panics, the snapshot is broken.
type commitWatcher interface{ Committed(s *Snapshot) }

// A partWatcher is a [PodWatcher] that need not be told of all pods.
type partWatcher interface{ WatchedParts() PodParts }

// A podHolder is an extension that holds something for pods until they are gone. It is told
// when a pod has gone that is on no node. If it panics, the snapshot is broken.
//
// PodRemoved is not enough for it: another extension may refuse to let the pod go, or the pod may come
// back in the same transaction, see [Snapshot.ReplacePod], or with its node, see [Snapshot.LosesNode]. What has
// gone for good it sees when it is told that a transaction has been committed.
type podHolder interface {
	PodReleased(s *Snapshot, p *PodInfo)
}

// extend adds an extension.
func (s *Snapshot) extend(key *extensionID, value Extension) {
	e := extension{key: key, value: value}
	e.nodes, _ = value.(NodeWatcher)
	e.objects, _ = value.(ObjectWatcher)
	s.extensions = append(s.extensions, e)
	if w, ok := value.(commitWatcher); ok {
		s.commitWatchers = append(s.commitWatchers, w)
	}
	if h, ok := value.(podHolder); ok {
		s.podHolders = append(s.podHolders, h)
	}
	if w, ok := value.(PodWatcher); ok {
		if f, ok := value.(interface{ followsPods() bool }); !ok || f.followsPods() {
			s.podWatchers = append(s.podWatchers, w)
			s.AskWatchers()
		}
	}
}

// AskWatchers asks the extensions again what parts the pods have that they must be told of; see
// [PodWatcher]. An extension calls it once it needs to be told of others than before.
func (s *Snapshot) AskWatchers() {
	s.watched = ^PodParts(0) // if one panics
	watched := PodParts(0)
	for _, w := range s.podWatchers {
		x, ok := w.(partWatcher)
		if !ok {
			return
		}
		parts := x.WatchedParts()
		if parts == 0 {
			return
		}
		watched |= parts
	}
	s.watched = watched
}

// isWatched reports whether an extension must be told of the pod.
func (s *Snapshot) isWatched(p *PodInfo) bool {
	return s.watched == ^PodParts(0) || s.watched&p.Parts() != 0 || len(s.views) > 0 // who sees an earlier version hears of it
}

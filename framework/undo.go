package framework

import "errors"

// undoLog holds, while a transaction is open, how to take back each change.
type undoLog struct {
	entries []undoEntry
	depth   int
}

type undoKind uint8

const (
	undoAdd       undoKind = iota // a pod was added last on the node
	undoRemove                    // pod was removed from place index
	undoTouch                     // the node was touched
	undoExtension                 // an extension changed
)

type undoEntry struct {
	kind       undoKind
	slot       int
	index      int
	pod        *PodInfo
	generation uint64 // before the change
	undoer     Undoer
}

func (l *undoLog) record(e undoEntry) {
	if l.depth > 0 {
		l.entries = append(l.entries, e)
	}
}

func (l *undoLog) refuseNodes() error {
	if l.depth > 0 {
		return errNodesInTransaction
	}
	return nil
}

var errNodesInTransaction = errors.New("framework: nodes cannot come, go or change while a transaction is open; use Snapshot.Fork")

// A Mark is a point that a transaction can be rolled back to.
type Mark struct{ entries, depth int }

// Begin opens a transaction: until it is ended, changes can be taken back.
// Transactions may be nested; the inner one ends first. Nodes cannot come, go
// or change while one is open: what-if questions about nodes are for
// [Snapshot.Fork].
func (s *Snapshot) Begin() Mark {
	m := Mark{len(s.undo.entries), s.undo.depth}
	s.undo.depth++
	return m
}

// Rollback ends the transaction and takes back everything since Begin, exactly:
// the order of pods and the generations included.
func (s *Snapshot) Rollback(m Mark) {
	s.undo.depth = 0 // taking back is not recorded
	for len(s.undo.entries) > m.entries {
		last := len(s.undo.entries) - 1
		e := s.undo.entries[last]
		s.undo.entries[last] = undoEntry{}
		s.undo.entries = s.undo.entries[:last]
		s.takeBack(e)
	}
	s.undo.depth = m.depth
}

// Commit ends the transaction and keeps its changes.
func (s *Snapshot) Commit(m Mark) {
	s.undo.depth = m.depth
	if m.depth == 0 {
		clear(s.undo.entries)
		s.undo.entries = s.undo.entries[:0]
	}
}

func (s *Snapshot) takeBack(e undoEntry) {
	if e.kind == undoExtension {
		e.undoer.Undo(s)
		return
	}
	n := s.own(e.slot)
	switch e.kind {
	case undoAdd:
		p := n.removeAt(len(n.Pods) - 1)
		s.eachPodWatcher(func(w PodWatcher) { w.PodRemoved(s, n, p) })
	case undoRemove:
		n.insertAt(e.index, e.pod)
		s.eachPodWatcher(func(w PodWatcher) { w.PodAdded(s, n, e.pod) })
	}
	n.generation = e.generation
	s.journal.add(e.slot)
}

// An Undoer takes back one change of an extension.
type Undoer interface{ Undo(s *Snapshot) }

// Record tells the snapshot how to take back a change that an extension has
// just made. It does nothing unless a transaction is open. Changes that follow
// from pods coming and going need no record: the opposite event follows.
func (s *Snapshot) Record(u Undoer) {
	if s.undo.depth > 0 {
		s.undo.record(undoEntry{kind: undoExtension, undoer: u})
	}
}

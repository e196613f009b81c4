package framework

// undoLog holds, while a transaction is open, how to take back each change.
type undoLog struct {
	entries []undoEntry
	open    []uint64 // the serial numbers of the open transactions
	objects uint64   // the version of the objects when the outermost one began
	rolling bool     // a rollback is running: nothing is recorded
	own     bool     // see beginOwn

	// rebuild holds the states that were made inside the transaction that is being
	// rolled back. They are made again at its end.
	rebuild []rebuilder
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

func (l *undoLog) isOpen() bool { return len(l.open) > 0 }

// records reports whether changes are recorded.
func (l *undoLog) records() bool { return len(l.open) > 0 && !l.rolling }

func (l *undoLog) record(e undoEntry) {
	if l.records() {
		l.entries = append(l.entries, e)
	}
}

// has reports whether the transaction is open.
func (l *undoLog) has(m Mark) bool {
	return m.depth < len(l.open) && l.open[m.depth] == m.serial
}

// A Mark is a point that a transaction can be rolled back to.
type Mark struct {
	entries, depth int
	serial         uint64
}

// Begin opens a transaction: until it ends, changes of pods, objects and extensions can
// be taken back. Transactions may be nested; when one ends, so do the ones inside it.
// Nodes cannot be added, updated or removed while one is open: for what-if questions
// about nodes use [Snapshot.Fork].
func (s *Snapshot) Begin() Mark {
	s.must()
	if !s.undo.isOpen() {
		s.undo.objects = s.objects.all
	}
	m := Mark{len(s.undo.entries), len(s.undo.open), s.newGeneration()}
	s.undo.open = append(s.undo.open, m.serial)
	return m
}

// Rollback ends the transaction and takes back everything since Begin exactly, with the
// order of pods and the generations. It costs O(1) per change.
//
// It does nothing if the transaction has ended, so a deferred Rollback may follow a
// Commit. If an extension panics, the rest is taken back and the transaction ends
// nevertheless, but the snapshot is broken; see [ErrBroken].
func (s *Snapshot) Rollback(m Mark) {
	if !s.undo.has(m) {
		return
	}
	s.rollTo(m.entries)
	s.undo.open = s.undo.open[:m.depth]
	s.rebuildAll()
}

// rebuildAll makes the extensions again that were made in what has been rolled back.
func (s *Snapshot) rebuildAll() {
	for i, x := range s.undo.rebuild {
		s.undo.rebuild[i] = nil
		s.rebuild(x)
	}
	s.undo.rebuild = s.undo.rebuild[:0]
}

// rollTo takes back the changes down to a number of entries.
func (s *Snapshot) rollTo(entries int) {
	s.undo.rolling = true
	for len(s.undo.entries) > entries {
		if err := s.takeBackSome(entries); err != nil {
			s.breakBy(err)
		}
	}
	s.undo.rolling = false
}

// takeBackSome takes back changes down to a number of entries. It stops at an extension
// that panics, whose change is then lost, and returns an error that names it.
func (s *Snapshot) takeBackSome(entries int) (err error) {
	var e undoEntry
	defer func() {
		if v := recover(); v != nil {
			err = panicked(e.undoer, "Undo", v)
		}
	}()
	for last := len(s.undo.entries) - 1; last >= entries; last-- {
		e = s.undo.entries[last]
		s.undo.entries[last] = undoEntry{}
		s.undo.entries = s.undo.entries[:last]
		s.takeBack(e)
	}
	return nil
}

// rebuild makes an extension again.
func (s *Snapshot) rebuild(x rebuilder) {
	defer func() {
		if v := recover(); v != nil {
			s.breakBy(panicked(x, "Rebuild", v))
		}
	}()
	x.Rebuild(s)
	s.Record(madeInside{x}) // an outer transaction may be rolled back, too
}

// revert takes back the change of a pod after an extension has panicked over it. told watchers know of the change, and those
// from made on were made meanwhile; start entries were there before it.
func (s *Snapshot) revert(change undoEntry, start, told, made int) {
	s.rollTo(start + 1) // first what the extensions recorded, which came after it
	s.undo.entries = s.undo.entries[:start]
	s.undo.rolling = true
	s.takeBackPod(change, told, made)
	s.undo.rolling = false
	s.rebuildAll()
}

// beginOwn opens a transaction for what is told to extensions outside of one, so that what they record can be taken back if
// one panics. It is none for [Snapshot.Transaction].
func (s *Snapshot) beginOwn() Mark {
	m := s.Begin()
	s.undo.own = true
	return m
}

// endOwn ends it. If there is an error, everything is taken back.
func (s *Snapshot) endOwn(m Mark, err error) error {
	s.undo.own = false
	if err != nil {
		s.Rollback(m)
		return err
	}
	s.Commit(m)
	return s.broken
}

// Commit ends the transaction and keeps its changes. If it is inside another one, a
// rollback of that one still takes them back. It does nothing if the transaction has
// ended.
func (s *Snapshot) Commit(m Mark) {
	if !s.undo.has(m) {
		return
	}
	s.undo.open = s.undo.open[:m.depth]
	if !s.undo.isOpen() {
		for i := range s.undo.entries { // mostly one, that holds nothing: faster than clear
			if e := &s.undo.entries[i]; e.kind != undoAdd {
				if e.kind == undoRemove {
					s.forgetLeft(e.pod, e.slot)
				}
				e.pod, e.undoer = nil, nil
			}
		}
		s.undo.entries = s.undo.entries[:0]
		for _, w := range s.commitWatchers {
			s.tellCommitted(w)
		}
	}
}

func (s *Snapshot) takeBack(e undoEntry) {
	if e.kind == undoExtension {
		e.undoer.Undo(s)
		return
	}
	s.takeBackPod(e, len(s.podWatchers), len(s.podWatchers))
}

// takeBackPod takes back a change of a node or its pods, and tells the first told watchers
// of pods, and those from made on.
func (s *Snapshot) takeBackPod(e undoEntry, told, made int) {
	s.startChange()
	n := s.own(s.node(e.slot))
	n.generation = e.generation
	s.note(e.slot, s.newGeneration())
	switch e.kind {
	case undoAdd:
		p := n.removeAt(len(n.Pods) - 1)
		s.tallyPod(p, -1)
		s.endChange()
		if s.isWatched(p) {
			s.tellPodsBack(podRemoved, 0, told, n, p)
			s.tellPodsBack(podRemoved, made, len(s.podWatchers), n, p)
		}
	case undoRemove:
		n.insertAt(e.index, e.pod)
		s.tallyPod(e.pod, 1)
		s.endChange()
		if s.isWatched(e.pod) {
			s.tellPodsBack(podAdded, 0, told, n, e.pod)
			s.tellPodsBack(podAdded, made, len(s.podWatchers), n, e.pod)
		}
	default:
		s.endChange()
	}
}

// An Undoer takes back one change of an extension.
type Undoer interface{ Undo(s *Snapshot) }

// Recording reports whether a transaction is open. If none is, an extension need not
// call [Snapshot.Record], nor make the Undoer for it.
func (s *Snapshot) Recording() bool { return s.undo.isOpen() }

// Transaction returns the serial number of the outermost transaction that [Snapshot.Begin] has opened, 0 if none is open. An
// extension that keeps something until it ends sees by another number that it has ended.
func (s *Snapshot) Transaction() uint64 {
	if !s.undo.isOpen() || s.undo.own {
		return 0
	}
	return s.undo.open[0]
}

// RollingBack reports whether a rollback is running. An event that an extension is told
// of is then the opposite of an earlier one, and nothing is recorded.
func (s *Snapshot) RollingBack() bool { return s.undo.rolling }

// LosesNode reports whether [Snapshot.LoseNode] or [Snapshot.LosePod] is running. A pod that an extension is told
// of as removed still exists then.
func (s *Snapshot) LosesNode() bool { return s.losing }

// Record tells the snapshot how to take back a change that an extension makes. It does
// nothing unless a transaction is open. A change that only follows a pod's coming or
// going needs no record: a rollback tells the extension the opposite event. It panics
// if u is nil.
func (s *Snapshot) Record(u Undoer) {
	if u == nil {
		panic("framework: Snapshot.Record: the Undoer is nil")
	}
	s.undo.record(undoEntry{kind: undoExtension, undoer: u})
}

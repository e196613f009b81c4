package framework

// journalLimit is how many changes a snapshot knows at most. A reader that is further
// behind compares generations.
const journalLimit = 1 << 14

// Version counts the changes of this snapshot to any node or its pods. A change that is
// rolled back counts twice. Use it only with [Snapshot.Changes] of the same snapshot: a
// fork counts from 0.
func (s *Snapshot) Version() uint64 { return s.journal.End() }

// Changes returns the slots of the nodes that were added, removed or changed since a
// version, oldest first and possibly several times. It returns false if the snapshot no
// longer knows; it remembers at least the last 8,192 changes. The slice is valid until
// the next change.
func (s *Snapshot) Changes(since uint64) ([]int, bool) {
	return s.journal.Since(since)
}

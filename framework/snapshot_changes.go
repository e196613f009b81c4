package framework

// journalLimit is how many changes a snapshot knows at most. A reader that is further
// behind compares generations.
const journalLimit = 1 << 14

// RunSize is how many neighbouring slots share a [Snapshot.RunGeneration].
const RunSize = 16

// RunGeneration identifies the nodes of the slots run*RunSize to run*RunSize+RunSize-1
// within the snapshot and its forks, as a generation identifies one node: if two
// snapshots return the same number, their nodes there are the same. If the numbers
// differ, the nodes may still be the same, because a rollback changes the number. So
// what differs between forks is found without a look at each node. The run
// must not be negative; the number is 0 beyond [Snapshot.SlotLimit].
func (s *Snapshot) RunGeneration(run int) uint64 {
	if slot := run * RunSize; slot < s.SlotLimit() {
		return s.chunks[slot/chunkSize].runs[slot%chunkSize/RunSize]
	}
	return 0
}

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

package framework

// journal remembers which slots changed, so that a reader that saw the snapshot before
// looks only at these. Old entries are dropped; a reader that is further behind
// compares generations.
//
// Invariant: entry i of slots has the sequence number base+i.
type journal struct {
	slots []int
	base  uint64
}

const journalLimit = 1 << 14

func (j *journal) add(slot int) {
	if len(j.slots) == journalLimit {
		const drop = journalLimit / 2
		j.slots = j.slots[:copy(j.slots, j.slots[drop:])]
		j.base += drop
	}
	j.slots = append(j.slots, slot)
}

// Version counts the changes of this snapshot to any node or its pods. A change that is
// rolled back counts twice. Use it only with [Snapshot.Changes] of the same snapshot: a
// fork counts from 0.
func (s *Snapshot) Version() uint64 { return s.journal.base + uint64(len(s.journal.slots)) }

// Changes returns the slots of the nodes that were added, removed or changed since a
// version, oldest first and possibly several times. It returns false if the snapshot no
// longer knows; it remembers at least the last 8,192 changes. The slice is valid until
// the next change.
func (s *Snapshot) Changes(since uint64) ([]int, bool) {
	if since < s.journal.base || since > s.Version() {
		return nil, false
	}
	return s.journal.slots[since-s.journal.base:], true
}

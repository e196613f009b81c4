package framework

// journal remembers which slots changed, so that someone who saw the snapshot
// before looks only at those. Old entries are dropped; who is further behind
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

// Version counts the changes of this snapshot to any node or its pods, those
// that a rollback takes back and those that take back included. It is of use
// only with [Snapshot.Changes] of the same snapshot: a fork counts anew.
func (s *Snapshot) Version() uint64 { return s.journal.base + uint64(len(s.journal.slots)) }

// Changes returns the slots of the nodes that came, went or changed since a
// version, oldest first and possibly several times; false when the snapshot no
// longer knows. It remembers at least the last 8,192 changes. The slice is
// valid until the next change.
func (s *Snapshot) Changes(since uint64) ([]int, bool) {
	if since < s.journal.base || since > s.Version() {
		return nil, false
	}
	return s.journal.slots[since-s.journal.base:], true
}

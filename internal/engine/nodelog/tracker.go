package nodelog

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/changelog"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// A Tracker follows one snapshot for all readers: which nodes changed, and when. It can
// go to a fork of the snapshot, or back: then the nodes that differ have changed.
//
// It reads the snapshot that it is asked about, and no other: the others may be in use
// by other goroutines.
//
// Invariant (after Follow): at[place] is the very node of the snapshot, unless an entry from listed on
// is about it; nodes[slot].generation is its generation, 0 if there is no node, and
// nodes[slot].entry the number of the last entry about it, 0 for none. runs are the
// snapshot's, so a run of another snapshot with the same number has the same nodes; but
// a run with an entry from compared on may have another number since.
// Entries from arranged on are about nodes of the order.
type Tracker struct {
	// Snapshot is what it follows, and Order the order of its nodes.
	Snapshot *framework.Snapshot
	Order    *Order

	at       []*framework.NodeInfo // by place
	listed   uint64                // number of the first entry that at may not heed
	version  uint64                // of the snapshot's journal
	nodes    []nodeVersion
	runs     []uint64             // [framework.Snapshot.RunGeneration]
	log      changelog.Log[int32] // its entries are numbered from 1
	arranged uint64               // number of the first entry since the order changed
	compared uint64               // number of the first entry since compare
}

// A nodeVersion is when a node became what it is.
type nodeVersion struct{ generation, entry uint64 }

// NewTracker returns a tracker that follows no snapshot yet.
func NewTracker() *Tracker {
	return &Tracker{log: changelog.From[int32](1), arranged: 1, compared: 1, listed: 1}
}

// Clone returns a copy that follows no snapshot yet. It may be used by another goroutine.
func (t *Tracker) Clone() *Tracker {
	c := *t
	c.Snapshot = nil
	c.at, c.nodes, c.runs, c.log = slices.Clone(t.at), slices.Clone(t.nodes), slices.Clone(t.runs), t.log.Clone()
	return &c
}

// Follow brings the tracker up to date with the snapshot, which must be a fork of the
// one before, or the same. It costs O(1) for each change of the same snapshot. To go
// to another one costs O(N/16) for N nodes, and O(16) for each node that differs: compared is how many
// slots were looked at for that.
func (t *Tracker) Follow(s *framework.Snapshot, o *Order) (compared int) {
	slots, listed := []int(nil), false
	if t.Snapshot == s {
		slots, listed = s.Changes(t.version)
	}
	t.Snapshot, t.version = s, s.Version()
	if slots := s.SlotLimit(); len(t.nodes) < slots {
		t.grow(slots)
	}
	rearranged := t.Order != o
	if rearranged {
		t.arrange(o)
	}
	if listed {
		t.lookAt(slots)
	} else {
		compared = t.compare()
	}
	if rearranged {
		t.arranged = t.log.End()
	}
	return compared
}

// Nodes returns the nodes by place. The list is valid until Follow.
func (t *Tracker) Nodes() []*framework.NodeInfo {
	entries, ok := t.log.Since(t.listed)
	if !ok {
		t.list()
	}
	for _, slot := range entries {
		if t.Order.Has(slot) {
			t.at[t.Order.Place[slot]] = t.Snapshot.AtSlot(int(slot))
		}
	}
	t.listed = t.log.End()
	return t.at
}

// Node returns the node at a place. One alone is found faster in the snapshot, which a decision
// reads anyway.
func (t *Tracker) Node(place int) *framework.NodeInfo {
	return t.Snapshot.AtSlot(int(t.Order.Slots[place]))
}

// IsCurrent reports whether the snapshot has not changed since Follow.
func (t *Tracker) IsCurrent() bool { return t.version == t.Snapshot.Version() }

// Behind is how often the snapshot has changed since Follow.
func (t *Tracker) Behind() int { return int(t.Snapshot.Version() - t.version) }

// Distance is about how many nodes of a fork of the snapshot, or of the snapshot, are not as they
// were at Follow. It costs O(N/16).
func (t *Tracker) Distance(s *framework.Snapshot) (nodes int) {
	if t.Snapshot == s {
		return t.Behind()
	}
	for run, was := range t.runs {
		if s.RunGeneration(run) == was {
			continue
		}
		for slot := run * framework.RunSize; slot < (run+1)*framework.RunSize; slot++ {
			if n := s.AtSlot(slot); n != nil && n.Generation() != t.nodes[slot].generation {
				nodes++
			}
		}
	}
	return nodes
}

// lookAt adds entries about the nodes that changed, which are among slots.
func (t *Tracker) lookAt(slots []int) {
	switch {
	case len(slots) == 1 || len(slots) == 2 && slots[0] != slots[1]:
		// The usual case: one pod was added, or one was removed and one added. The journal
		// names each slot once, so its node has changed, or a rollback has touched it and
		// an entry costs one evaluation. The old version is not read: in a large cluster it
		// would have to come from memory.
		for _, slot := range slots {
			t.record(slot, generation(t.Snapshot.AtSlot(slot)))
		}
	case len(slots) == 2: // the same one twice: a pod was added that touched its node
		t.record(slots[0], generation(t.Snapshot.AtSlot(slots[0])))
	default:
		for _, slot := range slots {
			t.look(slot)
			t.noteRun(slot)
		}
	}
}

// grow makes room for so many slots.
func (t *Tracker) grow(slots int) {
	t.nodes = slotlist.AtLeast(t.nodes, slots)
	t.runs = slotlist.AtLeast(t.runs, len(t.nodes)/framework.RunSize)
}

// arrange finds the nodes of an order's places.
func (t *Tracker) arrange(o *Order) {
	t.Order, t.at = o, slotlist.AtLeast(t.at, len(o.Slots))
	clear(t.at[len(o.Slots):]) // those nodes may be gone
	t.at = t.at[:len(o.Slots)]
	t.list()
}

// list finds the nodes of all places.
func (t *Tracker) list() {
	for place, slot := range t.Order.Slots {
		t.at[place] = t.Snapshot.AtSlot(int(slot))
	}
	t.listed = t.log.End()
}

// compare looks at all runs that may differ from those of the snapshot.
func (t *Tracker) compare() (slots int) {
	t.forgetRuns()
	for run, was := range t.runs {
		now := t.Snapshot.RunGeneration(run)
		if now == was {
			continue
		}
		t.runs[run] = now
		for slot := run * framework.RunSize; slot < (run+1)*framework.RunSize; slot++ {
			t.look(slot)
		}
		slots += framework.RunSize
	}
	t.compared = t.log.End()
	return slots
}

// unknown is no generation of a run.
const unknown = ^uint64(0)

// forgetRuns makes the runs unknown that have entries since compare.
func (t *Tracker) forgetRuns() {
	entries, ok := t.log.Since(t.compared)
	if !ok {
		for run := range t.runs {
			t.runs[run] = unknown
		}
	}
	for _, slot := range entries {
		t.runs[slot/framework.RunSize] = unknown
	}
}

// noteRun notes the run of a slot. All nodes of the run that changed are looked at.
func (t *Tracker) noteRun(slot int) {
	run := slot / framework.RunSize
	t.runs[run] = t.Snapshot.RunGeneration(run)
}

// look adds an entry if the node of the slot has changed.
func (t *Tracker) look(slot int) {
	n := t.Snapshot.AtSlot(slot)
	if n != nil {
		t.at[t.Order.Place[slot]] = n // after a fork it may be a copy with the same generation
	}
	if g := generation(n); t.nodes[slot].generation != g {
		t.record(slot, g)
	}
}

// record adds an entry about the node of the slot.
func (t *Tracker) record(slot int, generation uint64) {
	t.log.Add(int32(slot))
	t.nodes[slot] = nodeVersion{generation, t.log.End() - 1}
}

// generation is that of a node, 0 if there is none.
func generation(n *framework.NodeInfo) uint64 {
	if n == nil {
		return 0
	}
	return n.Generation()
}

// End is the number of the next entry.
func (t *Tracker) End() uint64 { return t.log.End() }

// Since appends the slots of the order that have entries from the given number on,
// each once.
func (t *Tracker) Since(entry uint64, list []int32) []int32 {
	entries, ok := t.log.Since(entry)
	if !ok || len(entries) > len(t.Order.Slots)/2 {
		for _, slot := range t.Order.Slots {
			if t.nodes[slot].entry >= entry {
				list = append(list, slot)
			}
		}
		return list
	}
	// The last entry is the last about its node, and so are the last two if they are
	// about two nodes: their versions need not be read.
	arranged := entry >= t.arranged
	if arranged && (len(entries) == 1 || len(entries) == 2 && entries[0] != entries[1]) {
		return append(list, entries...)
	}
	nodes, n := t.nodes, len(list)
	list = slices.Grow(list, len(entries))[:n+len(entries)]
	for _, slot := range entries {
		if nodes[slot].entry == entry && (arranged || t.Order.Has(slot)) {
			list[n] = slot
			n++
		}
		entry++
	}
	return list[:n]
}

// Check returns what the tracker says wrongly of its snapshot, which must not have
// changed since the tracker was asked for; nil if nothing.
func (t *Tracker) Check() error {
	if err := t.log.Check(0); err != nil {
		return err
	}
	changed := map[int]bool{} // runs with entries since compare
	for slot, v := range t.nodes {
		if v.entry >= t.compared {
			changed[slot/framework.RunSize] = true
		}
	}
	for run, g := range t.runs {
		if want := t.Snapshot.RunGeneration(run); g != want && !changed[run] {
			return fmt.Errorf("tracker: run %d has generation %d, want %d", run, g, want)
		}
	}
	for slot, v := range t.nodes {
		if v.generation != 0 && !t.Order.Has(int32(slot)) {
			return fmt.Errorf("tracker: slot %d, which has no node, has generation %d", slot, v.generation)
		}
	}
	at := t.Nodes()
	for place, slot := range t.Order.Slots {
		n := t.Snapshot.AtSlot(int(slot))
		switch v := t.nodes[slot]; {
		case t.Order.Place[slot] != int32(place):
			return fmt.Errorf("order: slot %d has place %d, want %d", slot, t.Order.Place[slot], place)
		case at[place] != n:
			return fmt.Errorf("tracker: place %d has another node than slot %d of the snapshot", place, slot)
		case v.generation != n.Generation():
			return fmt.Errorf("tracker: slot %d has generation %d, want %d", slot, v.generation, n.Generation())
		case v.entry >= t.log.End():
			return fmt.Errorf("tracker: the last entry of slot %d is %d, but entries end at %d", slot, v.entry, t.log.End())
		}
	}
	return nil
}

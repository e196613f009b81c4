package nodelog

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/changelog"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// A Tracker follows one snapshot for all readers: which nodes changed, and when.
//
// Invariant (after follow): At[place] is the very node of the snapshot;
// nodes[slot].generation is its generation, 0 if there is no node, and
// nodes[slot].entry the number of the last entry about it, 0 for none. After the
// tracker was dropped, only nodes and entries still hold, as they were.
type Tracker struct {
	// Snapshot is what it follows, and Order the order of At.
	Snapshot *framework.Snapshot
	Order    *Order
	// At has the nodes by place.
	At []*framework.NodeInfo

	version uint64 // of the snapshot's journal
	nodes   []nodeVersion
	log     changelog.Log[int32] // its entries are numbered from 1
	used    uint64
}

// A nodeVersion is when a node became what it is.
type nodeVersion struct{ generation, entry uint64 }

// Recent keeps the trackers of the snapshots used last.
type Recent struct{ list []*Tracker }

// most is how many snapshots are followed at a time.
const most = 4

// Of returns the tracker of the snapshot, up to date. clock must grow from call to
// call; the tracker used longest ago is dropped for a new one.
func (r *Recent) Of(s *framework.Snapshot, o *Order, clock uint64) *Tracker {
	oldest := 0
	for i, t := range r.list {
		if t.Snapshot == s {
			t.used = clock
			t.follow(o)
			return t
		}
		if t.used < r.list[oldest].used {
			oldest = i
		}
	}
	t := &Tracker{Snapshot: s, version: s.Version(), log: changelog.From[int32](1), used: clock}
	t.nodes = make([]nodeVersion, s.SlotLimit())
	if len(r.list) < most {
		r.list = append(r.list, t)
	} else {
		old := r.list[oldest] // a reader may still have it
		t.At, old.At = old.At, nil
		r.list[oldest] = t
	}
	t.arrange(o)
	for place, slot := range o.Slots {
		t.nodes[slot].generation = t.At[place].Generation()
	}
	return t
}

// arrange finds the nodes of an order's places.
func (t *Tracker) arrange(o *Order) {
	t.Order, t.At = o, slotlist.AtLeast(t.At, len(o.Slots))
	clear(t.At[len(o.Slots):]) // those nodes may be gone
	t.At = t.At[:len(o.Slots)]
	for place, slot := range o.Slots {
		t.At[place] = t.Snapshot.AtSlot(int(slot))
	}
}

// follow records what changed since the last use.
func (t *Tracker) follow(o *Order) {
	slots, ok := t.Snapshot.Changes(t.version)
	t.version = t.Snapshot.Version()
	t.nodes = slotlist.AtLeast(t.nodes, t.Snapshot.SlotLimit())
	if t.Order != o {
		t.arrange(o)
	}
	if !ok {
		for slot := range t.nodes {
			t.look(slot)
		}
	}
	if len(slots) == 1 || len(slots) == 2 && slots[0] != slots[1] {
		// The usual case: one pod was added, or one was removed and one added. The journal
		// names each slot once, so its node has changed, or a rollback has touched it and
		// an entry costs one evaluation. The old version is not read: in a large cluster it
		// would have to come from memory.
		for _, slot := range slots {
			t.record(slot, t.generation(slot))
		}
		return
	}
	for _, slot := range slots {
		t.look(slot)
	}
}

// look adds an entry if the node of the slot has changed.
func (t *Tracker) look(slot int) {
	if g := t.generation(slot); t.nodes[slot].generation != g {
		t.record(slot, g)
	}
}

// record adds an entry about the node of the slot.
func (t *Tracker) record(slot int, generation uint64) {
	t.log.Add(int32(slot))
	t.nodes[slot] = nodeVersion{generation, t.log.End() - 1}
}

// generation finds the node of the slot and its generation, 0 if there is none.
func (t *Tracker) generation(slot int) uint64 {
	n := t.Snapshot.AtSlot(slot)
	if n == nil {
		return 0
	}
	t.At[t.Order.Place[slot]] = n // after a fork it may be a copy with the same generation
	return n.Generation()
}

// End is the number of the next entry.
func (t *Tracker) End() uint64 { return t.log.End() }

// Since appends the slots of the order that have entries from the given number on,
// each once. It must not be asked about nodes that have been removed since.
func (t *Tracker) Since(entry uint64, o *Order, list []int32) []int32 {
	entries, ok := t.log.Since(entry)
	if !ok || len(entries) > len(o.Slots)/2 {
		for _, slot := range o.Slots {
			if t.nodes[slot].entry >= entry {
				list = append(list, slot)
			}
		}
		return list
	}
	// The last entry is the last about its node, and so are the last two if they are
	// about two nodes: their versions need not be read.
	if len(entries) == 1 || len(entries) == 2 && entries[0] != entries[1] {
		return append(list, entries...)
	}
	for i, slot := range entries {
		if t.nodes[slot].entry == entry+uint64(i) {
			list = append(list, slot)
		}
	}
	return list
}

// Stood reports whether the node of the slot has the given generation, and has had it
// since before that entry.
func (t *Tracker) Stood(slot int32, generation, entry uint64) bool {
	return int(slot) < len(t.nodes) && t.nodes[slot].generation == generation && t.nodes[slot].entry < entry
}

// Check returns what the tracker says wrongly of its snapshot, which must not have
// changed since the tracker was asked for; nil if nothing.
func (t *Tracker) Check() error {
	if err := t.log.Check(0); err != nil {
		return err
	}
	for place, slot := range t.Order.Slots {
		n := t.Snapshot.AtSlot(int(slot))
		switch v := t.nodes[slot]; {
		case t.Order.Place[slot] != int32(place):
			return fmt.Errorf("order: slot %d has place %d, want %d", slot, t.Order.Place[slot], place)
		case t.At[place] != n:
			return fmt.Errorf("tracker: place %d has another node than slot %d of the snapshot", place, slot)
		case v.generation != n.Generation():
			return fmt.Errorf("tracker: slot %d has generation %d, want %d", slot, v.generation, n.Generation())
		case v.entry >= t.log.End():
			return fmt.Errorf("tracker: the last entry of slot %d is %d, but entries end at %d", slot, v.entry, t.log.End())
		}
	}
	return nil
}

// Check returns what the trackers say wrongly of the snapshot, nil if nothing.
func (r *Recent) Check(s *framework.Snapshot) error {
	if len(r.list) > most {
		return fmt.Errorf("%d trackers, want %d at most", len(r.list), most)
	}
	for _, t := range r.list {
		if t.Snapshot == s {
			return t.Check()
		}
	}
	return nil
}

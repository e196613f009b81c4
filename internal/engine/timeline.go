package engine

import "github.com/berth-sched/berth/framework"

// A timeline follows one snapshot for all bases: which nodes changed, and when.
//
// Invariant (after follow): at[place] is the very node that the snapshot has at the
// place of its order; nodes[slot].generation is that of the node in the
// snapshot, 0 where there is none, and nodes[slot].entry the number of the last
// entry about it, 0 for none; entry i of slots has the number from+i. After it was
// given up, only nodes and entries still hold, as they were.
type timeline struct {
	snapshot *framework.Snapshot
	version  uint64 // of the snapshot's journal
	order    *order
	at       []*framework.NodeInfo
	nodes    []moment
	slots    []int32
	from     uint64
	used     uint64 // engine clock of the last use
}

// A moment is when a node came to be as it is.
type moment struct{ generation, entry uint64 }

const (
	timelineLimit = 1 << 14
	timelinesMost = 4
)

// timelineOf returns the timeline of the snapshot, up to date. Those of the
// snapshots used longest ago are given up.
func (e *Engine) timelineOf(s *framework.Snapshot, o *order) *timeline {
	oldest := 0
	for i, t := range e.timelines {
		if t.snapshot == s {
			t.used = e.clock
			t.follow(o)
			return t
		}
		if t.used < e.timelines[oldest].used {
			oldest = i
		}
	}
	t := &timeline{snapshot: s, version: s.Version(), from: 1, used: e.clock}
	t.nodes = make([]moment, s.SlotLimit())
	if len(e.timelines) < timelinesMost {
		e.timelines = append(e.timelines, t)
	} else {
		old := e.timelines[oldest] // a base may still have it
		t.at, old.at = old.at, nil
		e.timelines[oldest] = t
	}
	t.arrange(o)
	for place, slot := range o.slots {
		t.nodes[slot].generation = t.at[place].Generation()
	}
	return t
}

// arrange finds the nodes of an order's places.
func (t *timeline) arrange(o *order) {
	t.order, t.at = o, resize(t.at, len(o.slots))
	clear(t.at[len(o.slots):]) // those nodes may be gone
	t.at = t.at[:len(o.slots)]
	for place, slot := range o.slots {
		t.at[place] = t.snapshot.AtSlot(int(slot))
	}
}

// follow notes what changed since the last use.
func (t *timeline) follow(o *order) {
	slots, ok := t.snapshot.Changes(t.version)
	t.version = t.snapshot.Version()
	t.nodes = resize(t.nodes, t.snapshot.SlotLimit())
	if t.order != o {
		t.arrange(o)
	}
	if !ok {
		for slot := range t.nodes {
			t.look(slot, false)
		}
	}
	// One pod has come, or one has gone and one has come: the usual case.
	once := len(slots) == 1 || len(slots) == 2 && slots[0] != slots[1]
	for _, slot := range slots {
		t.look(slot, once)
	}
}

// look makes an entry if the node of the slot has changed. sure tells that the
// journal names the slot once since the last use: then the node has changed, or was
// touched in a rollback, where an entry costs no more than one evaluation. So
// nothing waits for the old moment, which in a large cluster comes from far away.
func (t *timeline) look(slot int, sure bool) {
	var g uint64
	if n := t.snapshot.AtSlot(slot); n != nil {
		g = n.Generation()
		t.at[t.order.place[slot]] = n // which may be a copy of the same generation, after a fork
	}
	if m := &t.nodes[slot]; sure || m.generation != g {
		*m = moment{g, t.add(int32(slot))}
	}
}

// add makes an entry and returns its number.
func (t *timeline) add(slot int32) uint64 {
	if len(t.slots) == timelineLimit {
		const drop = timelineLimit / 2
		t.slots = t.slots[:copy(t.slots, t.slots[drop:])]
		t.from += drop
	}
	t.slots = append(t.slots, slot)
	return t.from + uint64(len(t.slots)-1)
}

// end is the number of the next entry.
func (t *timeline) end() uint64 { return t.from + uint64(len(t.slots)) }

// since appends the slots of the order about which there are entries from the
// given number on, each once. It is not to be asked about nodes that have gone since.
func (t *timeline) since(entry uint64, o *order, list []int32) []int32 {
	if entry < t.from || t.end()-entry > uint64(len(o.slots)/2) {
		for _, slot := range o.slots {
			if t.nodes[slot].entry >= entry {
				list = append(list, slot)
			}
		}
		return list
	}
	// The last entry is the last about its node, and so are the last two where they
	// are about two nodes: there is no need to read when.
	if tail := t.slots[entry-t.from:]; len(tail) == 1 || len(tail) == 2 && tail[0] != tail[1] {
		return append(list, tail...)
	}
	for i, slot := range t.slots[entry-t.from:] {
		if t.nodes[slot].entry == entry+uint64(i) {
			list = append(list, slot)
		}
	}
	return list
}

// stood reports whether the node of the slot has the given generation, and has
// had it since before that entry.
func (t *timeline) stood(slot int32, generation, entry uint64) bool {
	return int(slot) < len(t.nodes) && t.nodes[slot].generation == generation && t.nodes[slot].entry < entry
}

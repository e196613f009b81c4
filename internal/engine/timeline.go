package engine

import "github.com/berth-sched/berth/framework"

// A timeline follows one snapshot for all bases: which nodes changed, and when.
//
// Invariant (after follow): at[place] is the node of the place in the order, as
// the snapshot has it; nodes[slot].generation is that of the node in the
// snapshot, 0 where there is none, and nodes[slot].entry the number of the last
// entry about it, 0 for none; entry i of slots has the number from+i.
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
	t.nodes = make([]moment, s.Slots())
	t.arrange(o)
	for place, slot := range o.slots {
		t.nodes[slot].generation = t.at[place].Generation()
	}
	if len(e.timelines) < timelinesMost {
		e.timelines = append(e.timelines, t)
	} else {
		e.timelines[oldest] = t // a base may still have the old one
	}
	return t
}

// arrange finds the nodes of an order's places.
func (t *timeline) arrange(o *order) {
	t.order, t.at = o, resize(t.at, len(o.slots))[:len(o.slots)]
	for place, slot := range o.slots {
		t.at[place] = t.snapshot.AtSlot(int(slot))
	}
}

// follow notes what changed since the last use.
func (t *timeline) follow(o *order) {
	slots, ok := t.snapshot.Changes(t.version)
	t.version = t.snapshot.Version()
	t.nodes = resize(t.nodes, t.snapshot.Slots())
	if !ok || t.order != o {
		t.arrange(o)
	}
	if !ok {
		for slot := range t.nodes {
			t.look(slot, false)
		}
	}
	once := len(slots) == 1 || len(slots) == 2 && slots[0] != slots[1]
	for _, slot := range slots {
		t.look(slot, once)
	}
}

// look makes an entry if the node of the slot has changed, or if that is sure: a
// node that the journal names once was not changed and changed back. Then nothing
// waits for the old moment, which in a large cluster comes from far away.
func (t *timeline) look(slot int, sure bool) {
	var g uint64
	if n := t.snapshot.AtSlot(slot); n != nil {
		g = n.Generation()
		t.at[t.order.place[slot]] = n
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
// given number on, each once.
func (t *timeline) since(entry uint64, o *order, list []int32) []int32 {
	if entry < t.from || t.end()-entry > uint64(len(o.slots)/2) {
		for _, slot := range o.slots {
			if t.nodes[slot].entry >= entry {
				list = append(list, slot)
			}
		}
		return list
	}
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

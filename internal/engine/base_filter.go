package engine

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// The verdicts of rows. Filters that read no pods are asked only if the node's object
// may have changed.

// evaluate renews all that the rows keep of the node.
func (b *base) evaluate(n *framework.NodeInfo) {
	first := b.firstRejection(b.plugins.nodeFilters, n, maxPlace)
	b.rows.nodes[n.Slot()].setReason(first)
	b.evaluatePods(n, first)
}

// evaluateChanged renews what depends on the node's pods, or on time.
func (b *base) evaluateChanged(n *framework.NodeInfo) {
	first := feasible
	if !b.rows.uniform {
		first = b.rows.nodes[n.Slot()].reason()
	}
	b.evaluatePods(n, first)
}

// evaluatePods asks the filters that read pods, and then the scorers. first is the
// first rejection by the other filters.
func (b *base) evaluatePods(n *framework.NodeInfo, first int32) {
	slot := int32(n.Slot())
	b.evaluated += 2
	if reason := b.firstRejection(b.plugins.podFilters, n, b.reasons.list[first].at); reason != feasible {
		first = reason
	}
	switch {
	case first != feasible:
		b.put(slot, rejected(first))
	case b.state == scored:
		b.scoreOne(n, slot, b.askScores(b.plugins.podScorers, n))
	default:
		b.put(slot, 0)
	}
	if b.plugins.timed {
		b.schedule(n)
	}
	b.log.Add(slot)
}

// listDirty lists the nodes whose slots are in slots, with their first rejection by a
// filter that reads no pods.
func (b *base) listDirty() {
	b.nodes, b.verdicts = slotlist.AtLeast(b.nodes, len(b.slots))[:len(b.slots)], slotlist.AtLeast(b.verdicts, len(b.slots))[:len(b.slots)]
	b.someRejected = false
	clear(b.verdicts)
	s, nodes := b.tracker.Snapshot, b.nodes
	for i, slot := range b.slots {
		nodes[i] = s.AtSlot(int(slot))
	}
	if b.rows.uniform {
		return
	}
	for k, slot := range b.slots {
		if reason := b.rows.nodes[slot].reason(); reason != feasible {
			b.verdicts[k], b.someRejected = reason, true
		}
	}
}

// recordVerdicts writes the verdicts of the listed nodes into their rows and removes
// the rejected nodes from the list. If the base is scored, the others are scored next.
func (b *base) recordVerdicts() {
	if b.state == scored && !b.someRejected {
		return
	}
	k := 0
	for i, slot := range b.slots {
		if reason := b.verdicts[i]; reason != feasible {
			b.put(slot, rejected(reason))
			continue
		}
		if b.state != scored {
			b.put(slot, 0)
		}
		b.nodes[k], b.slots[k] = b.nodes[i], slot
		k++
	}
	b.nodes, b.slots = b.nodes[:k], b.slots[:k]
}

// askMany asks filters about the listed nodes, one filter after the other. If several
// reject a node, the first in the profile counts.
func (b *base) askMany(filters []Filter) {
	b.evaluated += int64(2 * len(b.slots))
	for i := range filters {
		f := &filters[i]
		if f.Batch == nil {
			for k := range b.nodes {
				b.askOne(f, k)
			}
			continue
		}
		b.guard.Enter()
		b.rejected = f.Batch.FilterNodes(b.pod, b.nodes, b.rejected[:0])
		b.guard.Leave()
		for _, k := range b.rejected {
			b.askOne(f, k)
		}
	}
}

// askOne asks a filter about one listed node, unless an earlier filter of the profile
// has rejected it.
func (b *base) askOne(f *Filter, k int) {
	if first := b.verdicts[k]; first != feasible && b.reasons.list[first].at < f.At {
		return
	}
	b.guard.Enter()
	status := f.Filter.Filter(b.pod, b.nodes[k])
	b.guard.Leave()
	if !status.IsSuccess() {
		b.verdicts[k], b.someRejected = b.reject(f.At, status), true
	}
}

const maxPlace = int(^uint(0) >> 1)

// firstRejection asks filters up to the given place of the profile.
func (b *base) firstRejection(filters []Filter, n *framework.NodeInfo, upTo int) int32 {
	b.guard.Enter()
	for i := range filters {
		f := &filters[i]
		if f.At > upTo {
			break
		}
		if status := f.Filter.Filter(b.pod, n); !status.IsSuccess() {
			b.guard.Leave()
			return b.reject(f.At, status)
		}
	}
	b.guard.Leave()
	return feasible
}

// reject returns the number of a rejection.
func (b *base) reject(at int, status framework.Status) int32 {
	if !status.IsRejected() {
		b.state = broken
	}
	if b.reasons.isLatest(at, status) {
		return int32(b.reasons.latest)
	}
	return b.reasons.number(reason{at: at, status: status})
}

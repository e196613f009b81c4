package engine

import "github.com/berth-sched/berth/framework"

// evaluate renews what the row keeps of the node; whole tells that the node's
// object may have changed too.
func (b *base) evaluate(n *framework.NodeInfo, whole bool) {
	slot := int32(n.Slot())
	first := feasible
	if whole {
		b.fixedly[slot].set(b.ask(b.fixed, n, maxPlace), false)
	}
	before := maxPlace
	if whole || !b.even {
		if first = b.fixedly[slot].reason(); first != feasible {
			before = b.reasons.list[first].at
		}
	}
	if reason := b.ask(b.moving, n, before); reason != feasible {
		first = reason
	}
	switch {
	case first != feasible:
		b.put(slot, rejected(first))
	case b.scored:
		b.scoreOne(n, slot, b.askScores(b.movingScorers, n))
	default:
		b.put(slot, 0)
	}
	if b.timed {
		b.schedule(n)
	}
	b.log.add(slot)
}

// askMany asks filters about the listed nodes, one filter after the other. Of
// the rejections of a node, the one that comes first in the profile stays.
func (b *base) askMany(filters []Filter) {
	for i := range filters {
		f := &filters[i]
		if f.Batch == nil {
			for k := range b.nodes {
				b.askOne(f, k)
			}
			continue
		}
		b.rejected = f.Batch.FilterNodes(b.pod, b.nodes, b.rejected[:0])
		for _, k := range b.rejected {
			b.askOne(f, k)
		}
	}
}

// askOne asks a filter about one listed node, unless another rejection comes
// first.
func (b *base) askOne(f *Filter, k int) {
	if said := b.said[k]; said != feasible && b.reasons.list[said].at < f.At {
		return
	}
	if status := f.Filter.Filter(b.pod, b.nodes[k]); !status.IsSuccess() {
		b.said[k], b.refused = b.reject(f.At, status), true
	}
}

const maxPlace = int(^uint(0) >> 1)

// ask returns the first rejection among filters before the given place of the
// profile.
func (b *base) ask(filters []Filter, n *framework.NodeInfo, before int) int32 {
	for i := range filters {
		if filters[i].At > before {
			break
		}
		if status := filters[i].Filter.Filter(b.pod, n); !status.IsSuccess() {
			return b.reject(filters[i].At, status)
		}
	}
	return feasible
}

// reject returns the number of a rejection.
func (b *base) reject(at int, status framework.Status) int32 {
	if !status.IsRejected() {
		b.broken = true
	}
	return b.reasons.number(reason{at: at, status: status})
}

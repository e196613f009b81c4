package engine

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
)

// bindScores binds the scorers of the base and scores every feasible row, one
// scorer after the other.
//
// Invariant (afterwards, as long as scored): every feasible row has its scores,
// and kept those that are normalized later.
func (b *base) bindScores(src Source, shown Feasible) bool {
	b.cycle.Reset(b.pod, b.snapshot, 0, 0)
	scorers, ok := src.BindScorers(&b.cycle, false, shown)
	if !ok {
		return false
	}
	b.fixedScorers, b.movingScorers, b.kept = b.fixedScorers[:0], b.movingScorers[:0], b.kept[:0]
	for _, s := range scorers {
		switch {
		case s.ByRange != nil || s.ByNodes != nil:
			b.keep(s)
		case ofNode(s.Reads):
			b.fixedScorers = append(b.fixedScorers, s)
		default:
			b.movingScorers = append(b.movingScorers, s)
		}
	}
	b.timed = b.timed || slices.ContainsFunc(scorers, func(s Scorer) bool { return s.Reads&framework.ReadsTime != 0 })
	b.listNone()
	for _, slot := range b.order.slots {
		passed, f := b.row(slot) >= 0, &b.fixedly[slot]
		f.set(f.reason(), passed)
		if passed {
			b.list(b.snapshot.AtSlot(int(slot)), slot, feasible)
		}
	}
	fixed, moving := b.sums(b.fixedScorers, 0), b.sums(b.movingScorers, 1)
	b.even = len(b.nodes) == len(b.order.slots) &&
		!slices.ContainsFunc(b.kept, func(k kept) bool { return !k.fixed })
	for k, slot := range b.at {
		b.fixedly[slot].score = int32(fixed[k])
		b.put(slot, row(fixed[k]+moving[k]))
		b.even = b.even && fixed[k] == fixed[0]
	}
	if b.even && len(fixed) > 0 {
		b.evenly = int32(fixed[0])
	}
	for i := range b.kept {
		k := &b.kept[i]
		for at, x := range b.rawOf(&k.scorer) {
			k.raw[b.at[at]] = x
		}
	}
	if b.timed {
		for _, n := range b.nodes {
			b.schedule(n)
		}
	}
	b.scored = true
	return !b.broken
}

// rawOf asks a scorer about the listed nodes.
func (b *base) rawOf(s *Scorer) []int64 {
	b.raw = resize(b.raw, len(b.nodes))
	raw := b.raw[:len(b.nodes)]
	b.askScorer(s, raw)
	return raw
}

// askScorer writes the scores of the listed nodes.
func (b *base) askScorer(s *Scorer, scores []int64) {
	if s.Batch != nil {
		s.Batch.ScoreNodes(b.pod, b.nodes, scores)
		return
	}
	for k, n := range b.nodes {
		scores[k] = s.Scorer.Score(b.pod, n)
	}
}

// scoreMany renews the scores of the rows of the listed nodes.
func (b *base) scoreMany() {
	moving := b.sums(b.movingScorers, 1)
	if b.even {
		b.putMany(b.at, moving, b.evenly)
		return
	}
	for k, n := range b.nodes {
		b.scoreOne(n, b.at[k], moving[k])
	}
}

// keep gives the scorer a list of raw scores, with the memory of an earlier one
// if there is any.
func (b *base) keep(s Scorer) {
	i := len(b.kept)
	if i < cap(b.kept) {
		b.kept = b.kept[:i+1]
	} else {
		b.kept = append(b.kept, kept{})
	}
	k := &b.kept[i]
	k.scorer, k.fixed, k.raw = s, ofNode(s.Reads), resize(k.raw, len(b.fixedly))
}

// sums adds up the weighted scores of the listed nodes, one scorer after the
// other, in one of two buffers.
func (b *base) sums(scorers []Scorer, buffer int) []int64 {
	sum := resize(b.buffers[buffer], len(b.nodes))[:len(b.nodes)]
	b.buffers[buffer] = sum
	if len(scorers) == 0 {
		clear(sum)
		return sum
	}
	most := uint64(0)
	b.askScorer(&scorers[0], sum)
	weight := scorers[0].Weight
	for k, x := range sum {
		most = max(most, uint64(x))
		sum[k] = x * weight
	}
	for i := range scorers[1:] {
		raw, weight := b.rawOf(&scorers[1+i])[:len(sum)], scorers[1+i].Weight
		for k, x := range raw {
			most = max(most, uint64(x))
			sum[k] += x * weight
		}
	}
	if most > uint64(framework.MaxNodeScore) {
		b.broken = true
	}
	return sum
}

// scoreOne renews the scores of one row, of which the moving ones are given.
func (b *base) scoreOne(n *framework.NodeInfo, slot int32, moving int64) {
	if b.even {
		b.put(slot, row(b.evenly+int32(moving)))
		return
	}
	f := &b.fixedly[slot]
	known := f.known()
	if !known {
		f.score = int32(b.askScores(b.fixedScorers, n))
		f.set(f.reason(), true)
	}
	b.put(slot, row(f.score+int32(moving)))
	for i := range b.kept {
		if k := &b.kept[i]; !k.fixed || !known {
			k.raw[slot] = k.scorer.Scorer.Score(b.pod, n)
		}
	}
}

// askScores adds up the weighted scores of a node.
func (b *base) askScores(scorers []Scorer, n *framework.NodeInfo) (sum int64) {
	for i := range scorers {
		x := scorers[i].Scorer.Score(b.pod, n)
		if uint64(x) > uint64(framework.MaxNodeScore) {
			b.broken = true
		}
		sum += x * scorers[i].Weight
	}
	return sum
}

// schedule notes until when the row's answers hold.
func (b *base) schedule(n *framework.NodeInfo) {
	var until time.Time
	note := func(v any, reads framework.Reads) {
		if reads&framework.ReadsTime == 0 {
			return
		}
		e, ok := v.(framework.Expirer)
		if !ok {
			b.broken = true
			return
		}
		t := e.ValidUntil(b.pod, n)
		if t.IsZero() {
			return
		}
		if until.IsZero() || t.Before(until) {
			until = t
		}
		if !t.After(b.now) {
			b.broken = true // it says that its answer does not hold even now
		}
	}
	for i := range b.filters {
		note(b.filters[i].Filter, b.filters[i].Reads)
	}
	for _, list := range [...][]Scorer{b.fixedScorers, b.movingScorers} {
		for i := range list {
			note(list[i].Scorer, list[i].Reads)
		}
	}
	for i := range b.kept {
		note(b.kept[i].scorer.Scorer, b.kept[i].scorer.Reads)
	}
	b.due.set(int32(n.Slot()), until)
}

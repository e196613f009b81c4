package engine

import "github.com/berth-sched/berth/framework"

// visits are the bases that were bound to the snapshots used last. What is bound keeps its snapshot alive, and with it
// everything in that: a base that is not asked again lets go of it when others have been used since.
type visits struct {
	list  [visitsMost]visit // the last one first
	count uint64
}

// A visit is a snapshot, and the bases that were bound to it, each once.
type visit struct {
	number   uint64
	snapshot *framework.Snapshot
	bases    []*base
}

// visitsMost is how many snapshots are kept alive: a fork, and that which it is of, are often asked in turn.
const visitsMost = 2

// begin turns to a snapshot. If another one is given up for it, the bases that are bound to that let go of it.
func (v *visits) begin(s *framework.Snapshot) {
	at := 0
	for at < visitsMost-1 && v.list[at].snapshot != s {
		at++
	}
	x := v.list[at]
	if x.snapshot != s {
		for _, b := range x.bases {
			if b.at.snapshot == x.snapshot {
				b.letGo()
			}
		}
		clear(x.bases)
		v.count++
		x = visit{v.count, s, x.bases[:0]}
	}
	copy(v.list[1:], v.list[:at])
	v.list[0] = x
}

// bound notes a base that was bound to the snapshot at hand.
func (v *visits) bound(b *base) {
	x := &v.list[0]
	if b.visits[0] == x.number || b.visits[1] == x.number {
		return
	}
	at := 0
	if b.visits[0] == v.list[1].number {
		at = 1
	}
	b.visits[at] = x.number
	x.bases = append(x.bases, b)
}

// letGo makes a base that of no snapshot. Rows stand, and what it has bound is bound again before anything is asked.
func (b *base) letGo() {
	b.at.snapshot, b.cycle = nil, framework.Cycle{}
	p := &b.plugins
	for _, list := range [...][]Filter{p.filters, p.nodeFilters, p.podFilters} {
		for i := range list {
			list[i].letGo()
		}
	}
	for _, list := range [...][]Scorer{p.nodeScorers, p.podScorers} {
		for i := range list {
			list[i].letGo()
		}
	}
	for i := range p.normalized {
		p.normalized[i].scorer.letGo()
	}
}

func (f *Filter) letGo() { f.Filter, f.Batch = nil, nil }

// letGo forgets what is bound, but not what that can do; see replaceable.
func (s *Scorer) letGo() {
	s.Scorer, s.Batch, s.Keys = nil, nil, nil
	if s.ByRange != nil {
		s.ByRange = letGone{}
	}
	if s.ByNodes != nil {
		s.ByNodes = letGone{}
	}
	if s.Except != nil {
		s.Except = letGone{}
	}
}

// letGone stands for what was bound. Nobody asks it.
type letGone struct{}

func (letGone) NormalizeScore(raw, _, _ int64) int64           { return raw }
func (letGone) NormalizeScores([]*framework.NodeInfo, []int64) {}
func (letGone) Excludes(*framework.NodeInfo) bool              { return false }

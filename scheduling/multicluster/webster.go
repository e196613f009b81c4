package multicluster

import (
	"container/heap"
	"math/bits"

	"github.com/berth-sched/berth/resource"
)

// webster gives out n replicas. The result is as if it gave them out one by one,
// each to the party with the greatest w / (2s + 1), where s is the party's seats.
//
// The replicas that a party gets in this way are its claims w/(2s+1), w/(2s+3), ...,
// and a claim is met before all smaller ones. Let W be the sum of the weights and T
// any number. All claims of at least W/2T are met once every party has round(w*T/W),
// halves rounded up. So webster searches for the largest T at which these are no
// more than n replicas. It gives out the few that are left, fewer than two for each
// party, one by one.
func webster(n int64, sum uint64, parties []party, ties NameOrder) {
	var held int64
	for i := range parties {
		held += parties[i].seats
	}
	low, high := uint64(0), uint64(n+held)+uint64(len(parties))+1 // enough at low, too many at high
	for low+1 < high {
		mid := low + (high-low)/2
		if claims(mid, sum, parties) <= n {
			low = mid
		} else {
			high = mid
		}
	}
	left := n
	for i := range parties {
		p := &parties[i]
		if more := rounded(p, low, sum) - p.seats; more > 0 {
			p.seats += more
			left -= more
		}
	}
	q := &queue{parties: parties, ties: ties, order: make([]int, len(parties))}
	for i := range q.order {
		q.order[i] = i
	}
	heap.Init(q)
	for ; left > 0; left-- {
		parties[q.order[0]].seats++
		heap.Fix(q, 0)
	}
}

// rounded returns round(w*t/sum), halves rounded up.
func rounded(p *party, t, sum uint64) int64 {
	return int64(resource.MulDiv(uint64(p.Weight.Weight), 2*t, sum, 2*sum))
}

// claims returns how many replicas it takes to give every party round(w*t/sum).
func claims(t, sum uint64, parties []party) int64 {
	var n int64
	for i := range parties {
		n += max(0, rounded(&parties[i], t, sum)-parties[i].seats)
	}
	return n
}

// A queue holds the parties with the greatest claim first.
type queue struct {
	parties []party
	ties    NameOrder
	order   []int
}

func (q *queue) Len() int      { return len(q.order) }
func (q *queue) Swap(i, j int) { q.order[i], q.order[j] = q.order[j], q.order[i] }
func (q *queue) Push(any)      {}
func (q *queue) Pop() any      { return nil }

func (q *queue) Less(i, j int) bool {
	a, b := &q.parties[q.order[i]], &q.parties[q.order[j]]
	// a.w/(2a.s+1) > b.w/(2b.s+1), multiplied out to 128 bits.
	aHi, aLo := bits.Mul64(uint64(a.Weight.Weight), uint64(2*b.seats+1))
	bHi, bLo := bits.Mul64(uint64(b.Weight.Weight), uint64(2*a.seats+1))
	switch {
	case aHi != bHi:
		return aHi > bHi
	case aLo != bLo:
		return aLo > bLo
	case a.seats != b.seats:
		return a.seats < b.seats
	}
	return q.ties.compare(a.Name, b.Name) < 0
}

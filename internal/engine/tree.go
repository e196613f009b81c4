package engine

import (
	"math/bits"
	"slices"
)

// none is the total of a place whose node is not feasible. Totals are never
// negative, because scores and weights are not.
const none int64 = -1

// fan is how many places share a block: one cache line of totals.
const (
	fan     = 8
	fanBits = 3
)

// tree is a tournament over the totals of all places of the snapshot's order.
// It knows the best total, how many places have it, and how many are feasible,
// for the whole and for every part that is needed on the way.
//
//	nodes[1]            best, how often, feasible: all places
//	nodes[2] nodes[3]   ... of each half
//	...
//	nodes[half+b]       ... of block b: leaves[8b] to leaves[8b+7]
//
// Invariant (after set or build): nodes[i] is the sum of nodes[2i] and
// nodes[2i+1], and nodes[half+b] that of block b. Leaves beyond the last place
// are none.
type tree struct {
	leaves []int64
	nodes  []summary
	half   int // number of blocks, rounded up to a power of two
}

// summary describes the places below a node of the tree.
type summary struct {
	best     int64 // none when no place is feasible
	count    int32 // places whose total is best
	feasible int32
}

func join(a, b summary) summary {
	s := summary{a.best, a.count, a.feasible + b.feasible}
	switch {
	case b.best > a.best:
		s.best, s.count = b.best, b.count
	case b.best == a.best:
		s.count += b.count
	}
	return s
}

// reset makes a tree of n places, none of them feasible. Leaves may then be
// written directly, followed by build.
func (t *tree) reset(n int) {
	blocks := max(1, (n+fan-1)/fan)
	t.half = 1 << bits.Len(uint(blocks-1))
	t.leaves = slices.Grow(t.leaves[:0], blocks*fan)[:blocks*fan]
	for i := range t.leaves {
		t.leaves[i] = none
	}
	t.nodes = slices.Grow(t.nodes[:0], 2*t.half)[:2*t.half]
	for i := range t.nodes {
		t.nodes[i] = summary{best: none}
	}
}

func (t *tree) build() {
	for b := range len(t.leaves) / fan {
		t.nodes[t.half+b] = t.block(b)
	}
	for i := t.half - 1; i >= 1; i-- {
		t.nodes[i] = join(t.nodes[2*i], t.nodes[2*i+1])
	}
}

// block summarizes the eight leaves of block b.
func (t *tree) block(b int) summary {
	s := summary{best: none}
	for _, x := range t.leaves[b*fan : b*fan+fan] {
		if x < 0 {
			continue
		}
		s.feasible++
		switch {
		case x > s.best:
			s.best, s.count = x, 1
		case x == s.best:
			s.count++
		}
	}
	return s
}

// set changes one total and everything above it that changes with it.
func (t *tree) set(place int, total int64) {
	if t.leaves[place] == total {
		return
	}
	t.leaves[place] = total
	b := place >> fanBits
	s := t.block(b)
	for i := t.half + b; i >= 1; i >>= 1 {
		if t.nodes[i] == s {
			return
		}
		t.nodes[i] = s
		s = join(t.nodes[i&^1], t.nodes[i|1])
	}
}

func (t *tree) root() summary { return t.nodes[1] }

// kthBest returns the place of the k-th best total, 0 <= k < root().count, in
// order.
func (t *tree) kthBest(k int) int {
	return t.descend(0, t.half*fan, t.nodes[1].best, k)
}

// kthFeasible returns the place of the k-th feasible node, 0 <= k <
// root().feasible, in order.
func (t *tree) kthFeasible(k int) int {
	i := 1
	for i < t.half {
		i *= 2
		if f := int(t.nodes[i].feasible); k >= f {
			k -= f
			i++
		}
	}
	place := (i - t.half) * fan
	for {
		if t.leaves[place] >= 0 {
			if k == 0 {
				return place
			}
			k--
		}
		place++
	}
}

// rank returns how many places before the given one are feasible.
func (t *tree) rank(place int) int {
	if place >= len(t.leaves) {
		return int(t.nodes[1].feasible)
	}
	n := 0
	b := place >> fanBits
	for _, x := range t.leaves[b*fan : place] {
		if x >= 0 {
			n++
		}
	}
	for i := t.half + b; i > 1; i >>= 1 {
		if i&1 == 1 {
			n += int(t.nodes[i-1].feasible)
		}
	}
	return n
}

// between summarizes the places lo <= place < hi.
func (t *tree) between(lo, hi int) summary {
	s := summary{best: none}
	t.walk(lo, hi, func(part summary, _, _ int) bool {
		s = join(s, part)
		return true
	})
	return s
}

// kthBetween returns the place of the k-th total equal to best, which is the
// highest among lo <= place < hi; and, if there are fewer, how many remain.
func (t *tree) kthBetween(lo, hi int, best int64, k int) (place, rest int) {
	place, rest = -1, k
	t.walk(lo, hi, func(part summary, from, to int) bool {
		if part.best != best {
			return true
		}
		if rest >= int(part.count) {
			rest -= int(part.count)
			return true
		}
		place = t.descend(from, to, best, rest)
		return false
	})
	return place, rest
}

// walk visits, in order, summaries of consecutive parts [from, to) that make
// up [lo, hi), until f returns false.
func (t *tree) walk(lo, hi int, f func(part summary, from, to int) bool) {
	for lo < hi {
		if lo%fan != 0 || hi-lo < fan {
			part := summary{best: none}
			if x := t.leaves[lo]; x >= 0 {
				part = summary{x, 1, 1}
			}
			if !f(part, lo, lo+1) {
				return
			}
			lo++
			continue
		}
		// The largest aligned subtree that starts here and ends before hi.
		b, size := lo/fan, 1
		for b%(2*size) == 0 && (b+2*size)*fan <= hi {
			size *= 2
		}
		i := (t.half + b) / size
		if !f(t.nodes[i], lo, lo+size*fan) {
			return
		}
		lo += size * fan
	}
}

// descend returns the place of the k-th total equal to best, which is the
// highest of the aligned part [from, to).
func (t *tree) descend(from, to int, best int64, k int) int {
	if to-from < fan {
		return from
	}
	size := (to - from) / fan
	i := (t.half + from/fan) / size
	for i < t.half {
		i *= 2
		if left := &t.nodes[i]; left.best == best {
			if k < int(left.count) {
				continue
			}
			k -= int(left.count)
		}
		i++
	}
	place := (i - t.half) * fan
	for {
		if t.leaves[place] == best {
			if k == 0 {
				return place
			}
			k--
		}
		place++
	}
}

// bytes is the memory the tree holds.
func (t *tree) bytes() int { return 8*cap(t.leaves) + 16*cap(t.nodes) }

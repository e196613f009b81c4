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
// Places may be in groups. Every node of the tree then has a summary for each
// group, so that a group can get another offset, which is added to all its
// totals, or be shut, which takes all its places away, in one step. A question
// about a part of the places asks the summaries of all groups.
//
// Invariant (after set or build): the summary of a group in node i is the sum
// of those in 2i and 2i+1, and in half+b that of its places in block b. Leaves
// beyond the last place are none.
type tree struct {
	leaves []int64
	nodes  []summary // of group g in node i: nodes[i*groups+g]
	half   int       // number of blocks, rounded up to a power of two
	groups int
	of     []uint8 // group by place; nil where there is one group only
	offset []int64 // by group
	shut   []bool  // by group
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

// reset makes a tree of n places, none of them feasible, in groups without
// offsets. Leaves may then be written directly, followed by build.
func (t *tree) reset(n, groups int, of []uint8) {
	blocks := max(1, (n+fan-1)/fan)
	t.half = 1 << bits.Len(uint(blocks-1))
	t.leaves = slices.Grow(t.leaves[:0], blocks*fan)[:blocks*fan]
	for i := range t.leaves {
		t.leaves[i] = none
	}
	t.groups, t.of = groups, of
	t.nodes = slices.Grow(t.nodes[:0], 2*t.half*groups)[:2*t.half*groups]
	for i := range t.nodes {
		t.nodes[i] = summary{best: none}
	}
	t.offset = append(t.offset[:0], make([]int64, groups)...)
	t.shut = append(t.shut[:0], make([]bool, groups)...)
}

// row returns the summaries of all groups in a node.
func (t *tree) row(node int) []summary { return t.nodes[node*t.groups:][:t.groups] }

func (t *tree) build() {
	for b := range len(t.leaves) / fan {
		if t.groups == 1 {
			t.nodes[t.half+b] = t.block(b, 0)
			continue
		}
		row := t.row(t.half + b)
		for g := range row {
			row[g] = summary{best: none}
		}
		for k, x := range t.leaves[b*fan : b*fan+fan] {
			if x >= 0 {
				s := &row[t.of[b*fan+k]]
				*s = join(*s, summary{x, 1, 1})
			}
		}
	}
	for i := t.half - 1; i >= 1; i-- {
		row, left, right := t.row(i), t.row(2*i), t.row(2*i+1)
		for g := range row {
			row[g] = join(left[g], right[g])
		}
	}
}

// block summarizes the leaves of block b that are in the group.
func (t *tree) block(b, group int) summary {
	s := summary{best: none}
	for k, x := range t.leaves[b*fan : b*fan+fan] {
		if x < 0 || t.groups > 1 && int(t.of[b*fan+k]) != group {
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

// group returns the group of a place.
func (t *tree) group(place int) int {
	if t.groups == 1 {
		return 0
	}
	return int(t.of[place])
}

// set changes one total, without its group's offset, and everything above it
// that changes with it.
func (t *tree) set(place int, total int64) {
	if t.leaves[place] == total {
		return
	}
	t.leaves[place] = total
	b, g := place>>fanBits, t.group(place)
	s := t.block(b, g)
	for i := t.half + b; i >= 1; i >>= 1 {
		at := &t.nodes[i*t.groups+g]
		if *at == s {
			return
		}
		*at = s
		s = join(t.nodes[(i&^1)*t.groups+g], t.nodes[(i|1)*t.groups+g])
	}
}

// total is the total of a place, none if it is not feasible.
func (t *tree) total(place int) int64 {
	x := t.leaves[place]
	if x < 0 {
		return none
	}
	g := t.group(place)
	if t.shut[g] {
		return none
	}
	return x + t.offset[g]
}

// sum is the summary of all groups in a node.
func (t *tree) sum(node int) summary {
	all := summary{best: none}
	for g, s := range t.row(node) {
		if s.feasible > 0 && !t.shut[g] {
			s.best += t.offset[g]
			all = join(all, s)
		}
	}
	return all
}

// feasible is how many places of a node are feasible.
func (t *tree) feasible(node int) int {
	n := 0
	row := t.row(node)
	for g := range row {
		if !t.shut[g] {
			n += int(row[g].feasible)
		}
	}
	return n
}

// feasibleIn is how many places of a group are feasible.
func (t *tree) feasibleIn(group int) int {
	if t.shut[group] {
		return 0
	}
	return int(t.nodes[t.groups+group].feasible)
}

func (t *tree) root() summary { return t.sum(1) }

// kthBest returns the place of the k-th best total, 0 <= k < root().count, in
// order.
func (t *tree) kthBest(k int) int {
	return t.descend(0, t.half*fan, t.root().best, k)
}

// kthFeasible returns the place of the k-th feasible node, 0 <= k <
// root().feasible, in order.
func (t *tree) kthFeasible(k int) int {
	i := 1
	for i < t.half {
		i *= 2
		if f := t.feasible(i); k >= f {
			k -= f
			i++
		}
	}
	place := (i - t.half) * fan
	for {
		if t.total(place) >= 0 {
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
		return t.feasible(1)
	}
	n := 0
	b := place >> fanBits
	for p := b * fan; p < place; p++ {
		if t.total(p) >= 0 {
			n++
		}
	}
	for i := t.half + b; i > 1; i >>= 1 {
		if i&1 == 1 {
			n += t.feasible(i - 1)
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
			if x := t.total(lo); x >= 0 {
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
		if !f(t.sum((t.half+b)/size), lo, lo+size*fan) {
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
		if left := t.sum(i); left.best == best {
			if k < int(left.count) {
				continue
			}
			k -= int(left.count)
		}
		i++
	}
	place := (i - t.half) * fan
	for {
		if t.total(place) == best {
			if k == 0 {
				return place
			}
			k--
		}
		place++
	}
}

// bytes is the memory the tree holds.
func (t *tree) bytes() int { return 8*cap(t.leaves) + 16*cap(t.nodes) + 9*cap(t.offset) }

// Package tree is a tournament over the totals of all places of a node order. It
// finds the best total, the k-th of the tied places and the k-th feasible place in
// O(log N), for all places or for a run of them.
//
//	levels[last][0]      best, how often, feasible: all places
//	...
//	levels[1][i]         ... of the blocks 8i to 8i+7
//	levels[0][b]         ... of block b: Leaves[16b] to Leaves[16b+15]
//
// Places may be in groups. Each node of the tree then has one summary per group, so
// one step changes all totals of a group: Offset is added to them, and Shut makes
// all its places infeasible. A question about some places joins the summaries of all
// groups.
//
// A Tree must be used by one goroutine at a time.
package tree

import (
	"fmt"
	"math"
	"slices"
)

// MaxTotal is the largest total that a tree can hold.
const MaxTotal = math.MaxInt32

// None is the total of a place that is not feasible. Totals are never negative,
// because scores and weights are not.
const None int32 = -1

// Fan is how many places share a block: one cache line of totals. arity is how many
// nodes of one level a node of the next level joins.
const (
	Fan       = 16
	FanBits   = 4
	arity     = 8
	arityBits = 3
)

// A Tree is the tournament. Its zero value must be Reset before use.
//
// Invariant (after Set or Build): the summary of a group in a node joins those of the
// nodes below it, and in a block those of its places. Leaves beyond the last place
// are negative, and summaries beyond the last block have no feasible place.
type Tree struct {
	// Leaves holds the total of each place without the offset of its group. A
	// negative leaf is not feasible; its value is the caller's. After a leaf is
	// written directly, Build must be called before the next question.
	Leaves []int32
	// Offset, by group, is added to all totals of the group.
	Offset []int64
	// Shut, by group, makes all places of the group infeasible.
	Shut []bool

	levels [][]Summary // of group g in node i: levels[level][i*groups+g]
	nodes  []Summary   // the memory of levels
	groups int
	of     []uint8 // group by place; nil if there is one group
	lender *Tree   // whose leaves and levels these are; nil if they are its own
	heap   *heap   // nil until a question pays for it
	heaps  levels  // of heaps that were asked for
}

// A Summary describes the places below a node of the tree.
type Summary struct {
	Best     int32 // None when no place is feasible
	Count    int32 // places whose total is best
	Feasible int32
}

// join summarizes the places of both.
func join(a, b Summary) Summary {
	s := Summary{a.Best, a.Count, a.Feasible + b.Feasible}
	switch {
	case b.Best > a.Best:
		s.Best, s.Count = b.Best, b.Count
	case b.Best == a.Best:
		s.Count += b.Count
	}
	return s
}

// Reset makes a tree of n places in groups that are open and have no offset. of is the
// group by place. Leaves of an earlier tree of as many places stay, unless Empty was
// called; otherwise they are None. Build must follow.
func (t *Tree) Reset(n, groups int, of []uint8) {
	blocks := max(1, (n+Fan-1)/Fan)
	if len(t.Leaves) != blocks*Fan {
		t.Leaves = slices.Grow(t.Leaves[:0], blocks*Fan)[:blocks*Fan]
		for i := range t.Leaves {
			t.Leaves[i] = None
		}
	}
	t.groups, t.of = groups, of
	t.toppleHeap()
	all := 0
	for count := blocks; ; count = (count + arity - 1) / arity {
		all += padded(count) * groups
		if count == 1 {
			break
		}
	}
	t.nodes = slices.Grow(t.nodes[:0], all)[:all]
	for i := range t.nodes {
		t.nodes[i] = Summary{Best: None}
	}
	t.levels = t.levels[:0]
	rest := t.nodes
	for count := blocks; ; count = (count + arity - 1) / arity {
		k := padded(count) * groups
		t.levels, rest = append(t.levels, rest[:k:k]), rest[k:]
		if count == 1 {
			break
		}
	}
	t.Offset = append(t.Offset[:0], make([]int64, groups)...)
	t.Shut = append(t.Shut[:0], make([]bool, groups)...)
}

// padded is the number of nodes that a level has room for: the next level joins full
// arities.
func padded(count int) int {
	if count == 1 {
		return 1
	}
	return (count + arity - 1) &^ (arity - 1)
}

// Empty forgets all leaves.
func (t *Tree) Empty() { t.Leaves = t.Leaves[:0] }

// top is the number of the level that has one node.
func (t *Tree) top() int { return len(t.levels) - 1 }

// summaries returns the summaries of all groups in a node.
func (t *Tree) summaries(level, node int) []Summary {
	return t.levels[level][node*t.groups:][:t.groups]
}

// Build finds all summaries from the leaves.
func (t *Tree) Build() {
	t.toppleHeap()
	for b := range len(t.Leaves) / Fan {
		row := t.summaries(0, b)
		for g := range row {
			row[g] = Summary{Best: None}
		}
		for k, x := range t.Leaves[b*Fan : b*Fan+Fan] {
			if x >= 0 {
				s := &row[t.group(b*Fan+k)]
				*s = join(*s, Summary{x, 1, 1})
			}
		}
	}
	for level := 1; level < len(t.levels); level++ {
		for i := range len(t.levels[level]) / t.groups {
			row := t.summaries(level, i)
			for g := range row {
				row[g] = t.joined(level, i, g)
			}
		}
	}
}

// joined is the summary of a group in a node above the blocks.
func (t *Tree) joined(level, node, group int) Summary {
	s := Summary{Best: None}
	below := t.levels[level-1]
	for i := node * arity; i < (node+1)*arity && i*t.groups < len(below); i++ {
		s = join(s, below[i*t.groups+group])
	}
	return s
}

// best is the best total of a group in a node, and how many places have it, found from
// what lies right below the node.
func (t *Tree) best(level, node, group int) (best, count int32) {
	if level == 0 {
		return t.bestOfBlock(node, group)
	}
	best = None
	width := arity * t.groups
	below := t.levels[level-1][node*width:][:width]
	for i := group; i < len(below); i += t.groups {
		s := &below[i]
		if s.Best > best {
			best, count = s.Best, s.Count
		} else if s.Best == best {
			count += s.Count
		}
	}
	return best, count
}

// bestOfBlock is best for block b.
func (t *Tree) bestOfBlock(b, group int) (best, count int32) {
	leaves := (*[Fan]int32)(t.Leaves[b*Fan:])
	if t.groups == 1 {
		for _, x := range leaves {
			if x < best {
				continue
			}
			if x > best {
				best, count = x, 0
			}
			count++
		}
	} else {
		of := (*[Fan]uint8)(t.of[b*Fan:])
		for k, x := range leaves {
			if x < best || int(of[k]) != group {
				continue
			}
			if x > best {
				best, count = x, 0
			}
			count++
		}
	}
	if count == 0 {
		best = None
	}
	return best, count
}

// group is the group of a place.
func (t *Tree) group(place int) int {
	if t.groups == 1 {
		return 0
	}
	return int(t.of[place])
}

// Set changes the leaf of a place and the summaries above it. It looks through a
// node only if the last place with the best total has lost it.
func (t *Tree) Set(place int, total int32) {
	old := t.Leaves[place]
	if old == total {
		return
	}
	t.Leaves[place] = total
	if old < 0 && total < 0 {
		return
	}
	if old < 0 || total < 0 {
		t.heaps.flips++
	}
	if t.heap != nil {
		t.heap.set(t, place, old, total)
	}
	g := t.group(place)
	// What was and is now the best below a node, and how many places had and have it.
	was, lost, now, won, feasible := old, int32(1), total, int32(1), int32(0)
	switch {
	case old < 0:
		was, lost, feasible = None, 0, 1
	case total < 0:
		now, won, feasible = None, 0, -1
	}
	i, groups := place>>(FanBits-arityBits), t.groups
	for level := 0; level < len(t.levels); level++ {
		i >>= arityBits
		at := &t.levels[level][i*groups+g]
		at.Feasible += feasible
		best, count := at.Best, at.Count
		switch {
		case now > best:
			at.Best, at.Count = now, won
		case now == best:
			at.Count += won
		case was == best:
			if at.Count -= lost; at.Count == 0 {
				at.Best, at.Count = t.best(level, i, g)
			}
		}
		if at.Best == best {
			t.addCounts(level+1, i, g, Summary{best, at.Count - count, feasible})
			return
		}
		was, lost, now, won = best, count, at.Best, at.Count
	}
}

// addCounts brings the summaries of a group from a level on up to date, above a node of the
// level below. There, so many more places are feasible, and so many more have the total
// Best, which is the best as it was before.
func (t *Tree) addCounts(level, node, group int, more Summary) {
	for ; level < len(t.levels) && (more.Count != 0 || more.Feasible != 0); level++ {
		node >>= arityBits
		at := &t.levels[level][node*t.groups+group]
		at.Feasible += more.Feasible
		if at.Best == more.Best {
			at.Count += more.Count
		} else {
			more.Count = 0 // a higher total hides them from here on
		}
	}
}

// Total is the total of a place, None if it is not feasible.
func (t *Tree) Total(place int) int32 {
	x := t.Leaves[place]
	if x < 0 {
		return None
	}
	g := t.group(place)
	if t.Shut[g] {
		return None
	}
	return x + int32(t.Offset[g])
}

// sum joins the summaries of all groups in a node.
func (t *Tree) sum(level, node int) Summary {
	all := Summary{Best: None}
	if t.groups == 1 {
		if s := t.levels[level][node]; s.Feasible > 0 && !t.Shut[0] {
			s.Best += int32(t.Offset[0])
			return s
		}
		return all
	}
	row := t.summaries(level, node)
	offset, shut := t.Offset[:len(row)], t.Shut[:len(row)]
	for g := range row {
		s := &row[g]
		if s.Feasible == 0 || shut[g] {
			continue
		}
		all.Feasible += s.Feasible
		switch x := s.Best + int32(offset[g]); {
		case x > all.Best:
			all.Best, all.Count = x, s.Count
		case x == all.Best:
			all.Count += s.Count
		}
	}
	return all
}

// equal is how many places below a node have a total that none of them exceeds.
func (t *Tree) equal(level, node int, best int32) (count int) {
	row := t.summaries(level, node)
	offset, shut := t.Offset[:len(row)], t.Shut[:len(row)]
	for g := range row {
		if row[g].Best == best-int32(offset[g]) && row[g].Best >= 0 && !shut[g] {
			count += int(row[g].Count)
		}
	}
	return count
}

// feasibleBelow is how many places below a node are feasible.
func (t *Tree) feasibleBelow(level, node int) int {
	n := 0
	row := t.summaries(level, node)
	for g := range row {
		if !t.Shut[g] {
			n += int(row[g].Feasible)
		}
	}
	return n
}

// Feasible is how many places are feasible.
func (t *Tree) Feasible() int { return t.feasibleBelow(t.top(), 0) }

// FeasibleIn is how many places of a group are feasible.
func (t *Tree) FeasibleIn(group int) int {
	if t.Shut[group] {
		return 0
	}
	return int(t.levels[t.top()][group].Feasible)
}

// FeasibleGroups appends the groups that have feasible places.
func (t *Tree) FeasibleGroups(list []uint8) []uint8 {
	row := t.levels[t.top()]
	shut := t.Shut[:len(row)]
	for g := range row {
		if row[g].Feasible > 0 && !shut[g] {
			list = append(list, uint8(g))
		}
	}
	return list
}

// Root is the summary of all places.
func (t *Tree) Root() Summary { return t.sum(t.top(), 0) }

// Bytes is the memory that the tree holds.
func (t *Tree) Bytes() int {
	return 4*cap(t.Leaves) + 12*cap(t.nodes) + 9*cap(t.Offset) + t.heap.bytes() + t.heaps.bytes()
}

// Groups is the number of groups.
func (t *Tree) Groups() int { return t.groups }

// Blocks returns the summaries of all blocks of a tree with one group: a leaf that
// stays below the best total of its block may be written directly, unless HasHeap.
func (t *Tree) Blocks() []Summary { return t.levels[0] }

// HasHeap reports whether every leaf that changes must be Set.
func (t *Tree) HasHeap() bool { return t.heap != nil && t.heap.stands }

// toppleHeap notes that leaves were written directly.
func (t *Tree) toppleHeap() {
	t.heaps.flips++
	if t.heap != nil {
		t.heap.fall()
	}
}

// Share makes t a view of another tree: the leaves and summaries are the other's, while
// the offsets and which groups are shut are its own, and stay unless there are more or
// fewer groups than before. It must not be changed until Own is called. After the other
// tree was Reset, it must be shared again.
func (t *Tree) Share(other *Tree) {
	if t.lender == other && t.sharesMemory(other) {
		return
	}
	t.Leaves, t.levels, t.nodes = other.Leaves, other.levels, nil
	t.groups, t.of, t.lender, t.heap, t.heaps = other.groups, other.of, other, nil, levels{}
	if len(t.Offset) != t.groups {
		t.Offset = append(t.Offset[:0], make([]int64, t.groups)...)
	}
	if len(t.Shut) != t.groups {
		t.Shut = append(t.Shut[:0], make([]bool, t.groups)...)
	}
}

// sharesMemory reports whether leaves, summaries and groups are the other tree's, as they are
// now. The other has levels.
func (t *Tree) sharesMemory(other *Tree) bool {
	return len(t.Leaves) > 0 && len(t.Leaves) == len(other.Leaves) && &t.Leaves[0] == &other.Leaves[0] &&
		len(t.levels) == len(other.levels) && &t.levels[0] == &other.levels[0] && t.groups == other.groups &&
		len(t.of) == len(other.of) && (len(t.of) == 0 || &t.of[0] == &other.of[0])
}

// Shared reports whether the leaves are another tree's.
func (t *Tree) Shared() bool { return t.lender != nil }

// owner is the tree whose leaves these are.
func (t *Tree) owner() *Tree {
	if t.lender != nil {
		return t.lender
	}
	return t
}

// Own gives t, which shares, a copy of the leaves of a tree with n places, and keeps its
// groups. Build must follow.
func (t *Tree) Own(n int, from *Tree) {
	offset, shut, groups, of := t.Offset, t.Shut, t.groups, t.of
	*t = Tree{Leaves: append([]int32(nil), from.Leaves...)}
	t.Reset(n, groups, of)
	t.Offset, t.Shut = offset, shut
}

// Release forgets the leaves and summaries, which may be another tree's.
func (t *Tree) Release() { *t = Tree{} }

// Check returns which summary does not follow from the leaves, nil if all do.
func (t *Tree) Check() error {
	for level := range t.levels {
		for i := range len(t.levels[level]) / t.groups {
			for g, got := range t.summaries(level, i) {
				want := t.counted(level, i, g)
				if got != want {
					return fmt.Errorf("tree: the summary of group %d in node %d of level %d is %+v, want %+v", g, i, level, got, want)
				}
			}
		}
	}
	if err := t.heaps.check(t); err != nil {
		return err
	}
	return t.heap.check(t)
}

// counted is a summary found from what lies right below it.
func (t *Tree) counted(level, node, group int) Summary {
	if level > 0 {
		return t.joined(level, node, group)
	}
	s := Summary{Best: None}
	for place := node * Fan; place < min((node+1)*Fan, len(t.Leaves)); place++ {
		if x := t.Leaves[place]; x >= 0 && t.group(place) == group {
			s = join(s, Summary{x, 1, 1})
		}
	}
	return s
}

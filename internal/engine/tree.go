package engine

import (
	"math"
	"slices"
)

// MaxTotal is the largest total that a node can have on the fast road. A profile
// whose weights allow more has to take the plain road.
const MaxTotal = math.MaxInt32

// none is the total of a place whose node is not feasible. Totals are never
// negative, because scores and weights are not. A leaf that is negative has the
// reason besides, see class.
const none int32 = -1

// fan is how many places share a block: one cache line of totals. arity is how
// many nodes of one level the next level joins.
const (
	fan       = 16
	fanBits   = 4
	arity     = 8
	arityBits = 3
)

// tree is a tournament over the totals of all places of the snapshot's order.
// It knows the best total, how many places have it, and how many are feasible,
// for the whole and for every part that is needed on the way.
//
//	levels[last][0]      best, how often, feasible: all places
//	...
//	levels[1][i]         ... of the blocks 8i to 8i+7
//	levels[0][b]         ... of block b: leaves[16b] to leaves[16b+15]
//
// Places may be in groups. Every node of the tree then has a summary for each
// group, so that a group can get another offset, which is added to all its
// totals, or be shut, which takes all its places away, in one step. A question
// about a part of the places asks the summaries of all groups.
//
// Invariant (after set or build): the summary of a group in a node is the sum of
// those in the nodes that it joins, and in a block that of its places. Leaves
// beyond the last place are negative, and so are nodes beyond the last block.
type tree struct {
	leaves []int32
	levels [][]summary // of group g in node i: levels[level][i*groups+g]
	nodes  []summary   // what levels are made of
	groups int
	of     []uint8 // group by place; nil where there is one group only
	offset []int64 // by group
	shut   []bool  // by group
}

// summary describes the places below a node of the tree.
type summary struct {
	best     int32 // none when no place is feasible
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

// reset makes a tree of n places in groups without offsets. Leaves may then be
// written directly, followed by build. Those of an earlier tree of as many places
// stay as they are, unless it was emptied; others are none.
func (t *tree) reset(n, groups int, of []uint8) {
	blocks := max(1, (n+fan-1)/fan)
	if len(t.leaves) != blocks*fan {
		t.leaves = slices.Grow(t.leaves[:0], blocks*fan)[:blocks*fan]
		for i := range t.leaves {
			t.leaves[i] = none
		}
	}
	t.groups, t.of = groups, of
	all := 0
	for count := blocks; ; count = (count + arity - 1) / arity {
		all += padded(count) * groups
		if count == 1 {
			break
		}
	}
	t.nodes = slices.Grow(t.nodes[:0], all)[:all]
	for i := range t.nodes {
		t.nodes[i] = summary{best: none}
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
	t.offset = append(t.offset[:0], make([]int64, groups)...)
	t.shut = append(t.shut[:0], make([]bool, groups)...)
}

// padded is the room for nodes of a level: the next one joins full arities.
func padded(count int) int {
	if count == 1 {
		return 1
	}
	return (count + arity - 1) &^ (arity - 1)
}

// empty forgets all leaves.
func (t *tree) empty() { t.leaves = t.leaves[:0] }

// top is the number of the level that has one node.
func (t *tree) top() int { return len(t.levels) - 1 }

// row returns the summaries of all groups in a node.
func (t *tree) row(level, node int) []summary { return t.levels[level][node*t.groups:][:t.groups] }

func (t *tree) build() {
	for b := range len(t.leaves) / fan {
		row := t.row(0, b)
		for g := range row {
			row[g] = summary{best: none}
		}
		for k, x := range t.leaves[b*fan : b*fan+fan] {
			if x >= 0 {
				s := &row[t.group(b*fan+k)]
				*s = join(*s, summary{x, 1, 1})
			}
		}
	}
	for level := 1; level < len(t.levels); level++ {
		for i := range len(t.levels[level]) / t.groups {
			row := t.row(level, i)
			for g := range row {
				row[g] = t.joined(level, i, g)
			}
		}
	}
}

// joined joins what a node of a level above the blocks joins.
func (t *tree) joined(level, node, group int) summary {
	s := summary{best: none}
	below := t.levels[level-1]
	for i := node * arity; i < (node+1)*arity && i*t.groups < len(below); i++ {
		s = join(s, below[i*t.groups+group])
	}
	return s
}

// block finds the best total in block b among those of the group, and how many
// have it.
func (t *tree) block(b, group int) (best, count int32) {
	best = none
	for k, x := range t.leaves[b*fan : b*fan+fan] {
		if x < best || x < 0 || t.groups > 1 && int(t.of[b*fan+k]) != group {
			continue
		}
		if x > best {
			best, count = x, 0
		}
		count++
	}
	return best, count
}

// group returns the group of a place.
func (t *tree) group(place int) int {
	if t.groups == 1 {
		return 0
	}
	return int(t.of[place])
}

// set changes one total, without its group's offset, and everything above it
// that changes with it. What is above is looked through only where the last
// place that had the best total has lost it.
func (t *tree) set(place int, total int32) {
	old := t.leaves[place]
	if old == total {
		return
	}
	t.leaves[place] = total
	if old < 0 && total < 0 {
		return
	}
	i, g := place>>fanBits, t.group(place)
	at := &t.levels[0][i*t.groups+g]
	was := *at
	if old < 0 {
		at.feasible++
	} else if total < 0 {
		at.feasible--
	}
	switch {
	case total > at.best:
		at.best, at.count = total, 1
	case total == at.best:
		at.count++
	case old == at.best:
		if at.count--; at.count == 0 {
			at.best, at.count = t.block(i, g)
		}
	}
	now := *at
	for level := 1; now != was && level < len(t.levels); level++ {
		i >>= arityBits
		at := &t.levels[level][i*t.groups+g]
		before := *at
		at.feasible += now.feasible - was.feasible
		switch {
		case now.best > at.best:
			at.best, at.count = now.best, now.count
		case now.best == at.best:
			at.count += now.count
			if was.best == at.best {
				at.count -= was.count
			}
		case was.best == at.best:
			if at.count -= was.count; at.count == 0 {
				s := t.joined(level, i, g)
				at.best, at.count = s.best, s.count
			}
		}
		was, now = before, *at
	}
}

// total is the total of a place, none if it is not feasible.
func (t *tree) total(place int) int32 {
	x := t.leaves[place]
	if x < 0 {
		return none
	}
	g := t.group(place)
	if t.shut[g] {
		return none
	}
	return x + int32(t.offset[g])
}

// sum is the summary of all groups in a node.
func (t *tree) sum(level, node int) summary {
	all := summary{best: none}
	if t.groups == 1 {
		if s := t.levels[level][node]; s.feasible > 0 && !t.shut[0] {
			s.best += int32(t.offset[0])
			return s
		}
		return all
	}
	for g, s := range t.row(level, node) {
		if s.feasible > 0 && !t.shut[g] {
			s.best += int32(t.offset[g])
			all = join(all, s)
		}
	}
	return all
}

// feasibleBelow is how many places of a node are feasible.
func (t *tree) feasibleBelow(level, node int) int {
	n := 0
	row := t.row(level, node)
	for g := range row {
		if !t.shut[g] {
			n += int(row[g].feasible)
		}
	}
	return n
}

// feasible is how many places are feasible.
func (t *tree) feasible() int { return t.feasibleBelow(t.top(), 0) }

// feasibleIn is how many places of a group are feasible.
func (t *tree) feasibleIn(group int) int {
	if t.shut[group] {
		return 0
	}
	return int(t.levels[t.top()][group].feasible)
}

func (t *tree) root() summary { return t.sum(t.top(), 0) }

// bytes is the memory the tree holds.
func (t *tree) bytes() int { return 4*cap(t.leaves) + 12*cap(t.nodes) + 9*cap(t.offset) }

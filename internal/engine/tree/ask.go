package tree

// Questions that go down from the root of the tree, or up from a place.

// KthBest returns the place of the k-th best total, 0 <= k < Root().Count, in
// order. best must be Root().Best.
func (t *Tree) KthBest(best int32, k int) int {
	return t.descend(t.top(), 0, best, k)
}

// KthFeasible returns the place of the k-th feasible node, 0 <= k < Feasible(),
// in order.
func (t *Tree) KthFeasible(k int) int {
	i := 0
	for level := t.top() - 1; level >= 0; level-- {
		i *= arity
		for f := t.feasibleBelow(level, i); k >= f; f = t.feasibleBelow(level, i) {
			k -= f
			i++
		}
	}
	place := i * Fan
	for {
		if t.Total(place) >= 0 {
			if k == 0 {
				return place
			}
			k--
		}
		place++
	}
}

// Rank is how many places before the given one are feasible.
func (t *Tree) Rank(place int) int {
	if place >= len(t.Leaves) {
		return t.Feasible()
	}
	n := 0
	i := place >> FanBits
	for p := i * Fan; p < place; p++ {
		if t.Total(p) >= 0 {
			n++
		}
	}
	for level := range t.top() {
		for sibling := i &^ (arity - 1); sibling < i; sibling++ {
			n += t.feasibleBelow(level, sibling)
		}
		i >>= arityBits
	}
	return n
}

// Between summarizes the places lo <= place < hi.
func (t *Tree) Between(lo, hi int) Summary {
	s := Summary{Best: None}
	t.walk(lo, hi, func(part Summary, _, _ int) bool {
		s = join(s, part)
		return true
	})
	return s
}

// KthBetween returns the place of the k-th total equal to best, which is the
// highest among lo <= place < hi; and, if there are fewer, how many remain.
func (t *Tree) KthBetween(lo, hi int, best int32, k int) (place, rest int) {
	place, rest = -1, k
	t.walk(lo, hi, func(part Summary, level, node int) bool {
		if part.Best != best {
			return true
		}
		if rest >= int(part.Count) {
			rest -= int(part.Count)
			return true
		}
		if place = node; level >= 0 {
			place = t.descend(level, node, best, rest)
		}
		return false
	})
	return place, rest
}

// NextBest returns the first place with the total best among lo <= place < hi, -1 if there
// is none, and how many feasible places come before it. It may stop once these are more
// than most. No total among the places may be higher.
func (t *Tree) NextBest(lo, hi int, best int32, most int) (place, passed int) {
	for lo < hi && passed <= most {
		if lo%Fan != 0 || hi-lo < Fan {
			x := t.Total(lo)
			if x == best {
				return lo, passed
			}
			if x >= 0 {
				passed++
			}
			lo++
			continue
		}
		level, node, size := t.largest(lo, hi)
		if !t.has(level, node, best) {
			passed += t.feasibleBelow(level, node)
			lo += size
			continue
		}
		for level--; level >= 0; level-- {
			for node *= arity; !t.has(level, node, best); node++ {
				passed += t.feasibleBelow(level, node)
			}
		}
		return t.nextInBlock(node, best, passed)
	}
	return -1, passed
}

// nextInBlock is NextBest for a block that has such a place, when so many were passed.
func (t *Tree) nextInBlock(block int, best int32, passed int) (int, int) {
	for place := block * Fan; ; place++ {
		x := t.Total(place)
		if x == best {
			return place, passed
		}
		if x >= 0 {
			passed++
		}
	}
}

// has reports whether a place below a node has a total that none of them exceeds.
func (t *Tree) has(level, node int, best int32) bool {
	row := t.summaries(level, node)
	offset, shut := t.Offset[:len(row)], t.Shut[:len(row)]
	for g := range row {
		if row[g].Best == best-int32(offset[g]) && row[g].Best >= 0 && !shut[g] {
			return true
		}
	}
	return false
}

// largest returns the largest node whose first place is lo and that ends before hi, and how
// many places it has. lo is the first place of a block, which ends before hi.
func (t *Tree) largest(lo, hi int) (level, node, size int) {
	level, node, size = 0, lo/Fan, Fan
	for level < t.top() && node%arity == 0 && lo+size*arity <= hi {
		level, node, size = level+1, node/arity, size*arity
	}
	return level, node, size
}

// walk visits, in order, the nodes that make up the places [lo, hi), until f
// returns false. A single place is a node of level -1.
func (t *Tree) walk(lo, hi int, f func(part Summary, level, node int) bool) {
	for lo < hi {
		if lo%Fan != 0 || hi-lo < Fan {
			part := Summary{Best: None}
			if x := t.Total(lo); x >= 0 {
				part = Summary{x, 1, 1}
			}
			if !f(part, -1, lo) {
				return
			}
			lo++
			continue
		}
		level, node, size := t.largest(lo, hi)
		if !f(t.sum(level, node), level, node) {
			return
		}
		lo += size
	}
}

// descend returns the place of the k-th total equal to best, which is the
// highest below the node.
func (t *Tree) descend(level, node int, best int32, k int) int {
	if t.groups == 1 {
		return t.descendSingle(level, node, best-int32(t.Offset[0]), int32(k))
	}
	for level--; level >= 0; level-- {
		for node *= arity; ; node++ {
			count := t.equal(level, node, best)
			if k < count {
				break
			}
			k -= count
		}
	}
	place := node * Fan
	for {
		if t.Total(place) == best {
			if k == 0 {
				return place
			}
			k--
		}
		place++
	}
}

// descendSingle is descend where there is one group, without its offset.
func (t *Tree) descendSingle(level, node int, best, k int32) int {
	return t.inBlock(t.blockSingle(level, node, best, k))
}

// blockSingle is descendSingle down to the block, with the number of the place among
// the best of the block.
func (t *Tree) blockSingle(level, node int, best, k int32) (block int, rest int32) {
	for level--; level >= 0; level-- {
		summaries := t.levels[level]
		for node *= arity; ; node++ {
			if s := &summaries[node]; s.Best == best {
				if k < s.Count {
					break
				}
				k -= s.Count
			}
		}
	}
	return node, k
}

// inBlock returns the place of the k-th best total of a block, for one group.
func (t *Tree) inBlock(block int, k int32) int {
	best := t.levels[0][block].Best
	for place := block * Fan; ; place++ {
		if t.Leaves[place] == best {
			if k == 0 {
				return place
			}
			k--
		}
	}
}

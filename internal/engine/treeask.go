package engine

// Questions to the tree that go down from its root, or up from a place.

// kthBest returns the place of the k-th best total, 0 <= k < root().count, in
// order.
func (t *tree) kthBest(k int) int {
	return t.descend(t.top(), 0, t.root().best, k)
}

// kthFeasible returns the place of the k-th feasible node, 0 <= k < feasible(),
// in order.
func (t *tree) kthFeasible(k int) int {
	i := 0
	for level := t.top() - 1; level >= 0; level-- {
		i *= arity
		for f := t.feasibleBelow(level, i); k >= f; f = t.feasibleBelow(level, i) {
			k -= f
			i++
		}
	}
	place := i * fan
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
		return t.feasible()
	}
	n := 0
	i := place >> fanBits
	for p := i * fan; p < place; p++ {
		if t.total(p) >= 0 {
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
func (t *tree) kthBetween(lo, hi int, best int32, k int) (place, rest int) {
	place, rest = -1, k
	t.walk(lo, hi, func(part summary, level, node int) bool {
		if part.best != best {
			return true
		}
		if rest >= int(part.count) {
			rest -= int(part.count)
			return true
		}
		if place = node; level >= 0 {
			place = t.descend(level, node, best, rest)
		}
		return false
	})
	return place, rest
}

// walk visits, in order, the nodes that make up the places [lo, hi), until f
// returns false. A single place is a node of level -1.
func (t *tree) walk(lo, hi int, f func(part summary, level, node int) bool) {
	for lo < hi {
		if lo%fan != 0 || hi-lo < fan {
			part := summary{best: none}
			if x := t.total(lo); x >= 0 {
				part = summary{x, 1, 1}
			}
			if !f(part, -1, lo) {
				return
			}
			lo++
			continue
		}
		// The largest node that starts here and ends before hi.
		level, node, size := 0, lo/fan, fan
		for level < t.top() && node%arity == 0 && lo+size*arity <= hi {
			level, node, size = level+1, node/arity, size*arity
		}
		if !f(t.sum(level, node), level, node) {
			return
		}
		lo += size
	}
}

// descend returns the place of the k-th total equal to best, which is the
// highest below the node.
func (t *tree) descend(level, node int, best int32, k int) int {
	if t.groups == 1 {
		return t.descendAlone(level, node, best-int32(t.offset[0]), int32(k))
	}
	for level--; level >= 0; level-- {
		for node *= arity; ; node++ {
			if s := t.sum(level, node); s.best == best {
				if k < int(s.count) {
					break
				}
				k -= int(s.count)
			}
		}
	}
	place := node * fan
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

// descendAlone is descend where there is one group, without its offset.
func (t *tree) descendAlone(level, node int, best, k int32) int {
	return t.inBlock(t.blockAlone(level, node, best, k))
}

// blockAlone is how far descendAlone gets without a look at leaves: the block,
// and the number of the place among the best of the block.
func (t *tree) blockAlone(level, node int, best, k int32) (block int, rest int32) {
	for level--; level >= 0; level-- {
		summaries := t.levels[level]
		for node *= arity; ; node++ {
			if s := &summaries[node]; s.best == best {
				if k < s.count {
					break
				}
				k -= s.count
			}
		}
	}
	return node, k
}

// blockOfBest is kthBest for one group, without a look at leaves.
func (t *tree) blockOfBest(k int) (block int, rest int32) {
	return t.blockAlone(t.top(), 0, t.levels[t.top()][0].best, int32(k))
}

// inBlock returns the place of the k-th best total of a block, for one group.
func (t *tree) inBlock(block int, k int32) int {
	best := t.levels[0][block].best
	for place := block * fan; ; place++ {
		if t.leaves[place] == best {
			if k == 0 {
				return place
			}
			k--
		}
	}
}

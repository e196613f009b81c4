package engine

// Where nothing but the answers of its base decides about the nodes, and what
// columns add is the same for all, a class has no tree of its own: it asks that
// of its base.
//
// Invariant: while class.shared, leaves and levels of class.tree are those of
// base.tree, which is then indexed; offset and shut are the class's own.

// put changes the row of a node. The rows of a broken base are not asked for any
// more, and scores out of bounds could make a row that looks like a rejection.
func (b *base) put(slot int32, r row) {
	if b.broken {
		return
	}
	place := b.order.place[slot]
	leaf := &b.tree.leaves[place]
	was := row(*leaf)
	if !b.indexed || was == r {
		*leaf = int32(r)
		return
	}
	if was < 0 || r < 0 {
		b.count(was, -1)
		b.count(r, 1)
		b.turned++
		if was >= 0 || r >= 0 {
			b.turns.add(slot)
		}
	}
	b.tree.set(int(place), int32(r))
}

// putMany changes the rows of feasible nodes to the given scores, and more.
func (b *base) putMany(slots []int32, scores []int64, more int32) {
	if b.broken {
		return
	}
	places, leaves, blocks := b.order.place, b.tree.leaves, b.tree.levels[0]
	for k, slot := range slots {
		place := places[slot]
		switch r, was := int32(scores[k])+more, leaves[place]; {
		case was == r:
		case !b.indexed, was >= 0 && max(r, was) < blocks[place>>fanBits].best:
			leaves[place] = r // nothing above it changes
		case was < 0:
			b.put(slot, row(r))
		default:
			b.tree.set(int(place), r)
		}
	}
}

// count counts a row among those with its reason.
func (b *base) count(r row, by int32) {
	if r < 0 {
		b.counts = resize(b.counts, int(r.reason())+1)
		b.counts[r.reason()] += by
	}
}

// index makes the tree ready for questions.
func (b *base) index() {
	if b.indexed {
		return
	}
	clear(b.counts)
	for _, slot := range b.order.slots {
		b.count(b.row(slot), 1)
	}
	b.tree.build()
	b.indexed = true
}

// carry takes rows over to another order. Those of other nodes are none.
func (b *base) carry(o *order) {
	b.indexed = false
	before := append(b.carried[:0], b.tree.leaves...)
	b.carried = before
	b.tree.empty()
	b.tree.reset(len(o.slots), 1, nil)
	for place, slot := range o.slots {
		if b.order.has(slot) {
			b.tree.leaves[place] = before[b.order.place[slot]]
		}
	}
	b.order = o
}

// sharing reports whether the class can share the tree of its base.
func (c *class) sharing() bool {
	if !c.scored || !c.base.scored || c.division == nil || c.division.count != 1 || c.follows() {
		return false
	}
	for i := range c.gates {
		if g := &c.gates[i]; g.active && !g.grouped {
			return false
		}
	}
	return true
}

// shareAfter is in how many decisions in a row a class must have been able to
// share a tree before it does, because to cease costs a look at every node.
const shareAfter = 8

// settle gives the class the tree that fits, after the columns are normalized.
func (c *class) settle() {
	share := len(c.varying) == 0 && c.sharing()
	switch {
	case !share && c.shared:
		c.unshare()
		c.recount()
		c.retotal = true
	case share && !c.shared:
		if c.alike++; c.alike > shareAfter {
			c.share()
		}
	}
	if !share {
		c.alike = 0
	}
}

// share turns to the tree of the base.
func (c *class) share() {
	c.base.index()
	t := &c.base.tree
	c.tree = tree{leaves: t.leaves, levels: t.levels, groups: 1, offset: c.tree.offset, shut: c.tree.shut}
	c.shared, c.turned, c.turnsSeen = true, c.base.turned, c.base.turns.end()
}

// unshare makes the class a tree of its own with the base's leaves, of which
// nothing else is right yet, and neither is counts.
func (c *class) unshare() {
	t := tree{leaves: append([]int32(nil), c.tree.leaves...)}
	t.reset(len(c.base.order.slots), 1, nil)
	t.offset, t.shut = c.tree.offset, c.tree.shut
	c.tree, c.shared, c.alike = t, false, 0
	c.seen, c.pending = c.base.log.end(), c.pending[:0]
}

// recount counts the own reasons.
func (c *class) recount() {
	for i := range c.counts {
		clear(c.counts[i])
	}
	for _, slot := range c.base.order.slots {
		c.count(slot, c.own(slot), 1)
	}
}

// followTurns brings a class that shares up to date with nodes that became
// feasible or ceased to be; false when the base no longer knows which.
func (c *class) followTurns() bool {
	b := c.base
	if c.turned == b.turned {
		return true
	}
	slots, ok := b.turns.since(c.turnsSeen)
	c.turned, c.turnsSeen = b.turned, b.turns.end()
	c.reasonsVersion++
	if len(slots) > 0 || !ok {
		c.feasibleVersion++
	}
	for _, slot := range slots {
		if b.row(slot) >= 0 {
			c.enter(slot, false)
		} else {
			c.leave(slot)
		}
	}
	return ok
}

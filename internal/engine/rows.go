package engine

import (
	"slices"
	"unsafe"

	"github.com/berth-sched/berth/internal/changelog"
	"github.com/berth-sched/berth/internal/engine/nodelog"
	"github.com/berth-sched/berth/internal/engine/slotlist"
	"github.com/berth-sched/berth/internal/engine/tree"
)

// feasible is the reason of nodes that no filter rejects.
const feasible int32 = 0

// A row is what a base keeps of one node, in four bytes:
//
//	>= 0   the sum of the weighted scores that need no normalization; it means
//	       nothing until the base is scored
//	<  0   the complement of the number of the first rejection
//
// With many bases in turn, rows have to come from memory, and a cache line holds
// those of 16 nodes.
//
// Invariant: unless the tracker of the base has entries about the node that the base
// has not read, a row is what the filters and, if the base is scored, the scorers
// answer for the snapshot that the base followed last.
type row int32

// rejected is the row of a node with a rejection.
func rejected(reason int32) row { return row(^reason) }

// reason is the first rejection by any filter of the base.
func (r row) reason() int32 {
	if r < 0 {
		return int32(^r)
	}
	return feasible
}

// A nodeRow is what stands while only the pods of a node change. It is not read if it
// is the same for all nodes, see rows.uniform.
//
// Invariant: as long as the base has not moved, reason and, if known, score stand even
// if the node has changed.
type nodeRow struct {
	score int32 // weighted scores that do not depend on the node's pods
	bits  int32 // see reason and known
}

// reason is the first rejection by a filter that reads no pods.
func (r *nodeRow) reason() int32 { return r.bits >> 1 }

// known reports whether score, and the raw scores of scorers that read no pods, are
// those of the node.
func (r *nodeRow) known() bool { return r.bits&1 != 0 }

// setReason keeps a reason. The score is unknown from now on.
func (r *nodeRow) setReason(reason int32) { r.bits = reason << 1 }

// setScore keeps a score, which is known from now on.
func (r *nodeRow) setScore(score int32) { r.score, r.bits = score, r.bits|1 }

// rows are the rows of all nodes. They are the leaves of a tree, which the classes of
// the base share as long as nothing else distinguishes nodes (class_totals.go).
//
// Invariant: a leaf is the row of the node at its place. While indexed, the rest of
// the tree follows from the leaves. While counted, counts[i] is how many rows have the
// reason i, and flipLog has every node that became feasible or ceased to be.
type rows struct {
	tree    tree.Tree
	order   *nodelog.Order
	indexed bool
	counted bool
	counts  []int32              // by reason
	flips   uint64               // counts changes of reasons while counted
	flipLog changelog.Log[int32] // nodes that became feasible or ceased to be while counted

	nodes        []nodeRow // by slot
	uniform      bool      // no filter that reads no pods rejects a node, and all have one score as far as no pods are read
	uniformScore int32
}

// reset makes rows of none of the order's nodes.
func (r *rows) reset(o *nodelog.Order) {
	r.order, r.indexed, r.counted = o, false, false
	r.tree.Empty()
	r.tree.Reset(len(o.Slots), 1, nil)
}

// of returns the row of a node.
func (r *rows) of(slot int32) row { return row(r.tree.Leaves[r.order.Place[slot]]) }

// put changes the row of a node.
func (r *rows) put(slot int32, now row) {
	place := r.order.Place[slot]
	leaf := &r.tree.Leaves[place]
	was := row(*leaf)
	if was == now {
		return
	}
	if r.counted && (was < 0 || now < 0) {
		r.count(was, -1)
		r.count(now, 1)
		r.flips++
		if was >= 0 || now >= 0 {
			r.flipLog.Add(slot)
		}
	}
	if !r.indexed {
		*leaf = int32(now)
		return
	}
	r.tree.Set(int(place), int32(now))
}

// putMany changes the rows of feasible nodes to the given scores, and more.
func (r *rows) putMany(slots []int32, scores []int64, more int32) {
	places, leaves, blocks := r.order.Place, r.tree.Leaves, r.tree.Blocks()
	direct := !r.tree.HasHeap()
	scores = scores[:len(slots)]
	for k, slot := range slots {
		place := places[slot]
		switch now, was := int32(scores[k])+more, leaves[place]; {
		case was == now:
		case was < 0:
			r.put(slot, row(now))
		case !r.indexed, direct && max(now, was) < blocks[place>>tree.FanBits].Best:
			leaves[place] = now // nothing above it changes
		default:
			r.tree.Set(int(place), now)
		}
	}
}

// count counts a row among those with its reason.
func (r *rows) count(x row, by int32) {
	if x >= 0 {
		return
	}
	i := int(^x)
	if i >= len(r.counts) {
		r.counts = slotlist.AtLeast(r.counts, i+1)
	}
	r.counts[i] += by
}

// follow begins to count reasons and flips.
func (r *rows) follow() {
	if r.counted {
		return
	}
	clear(r.counts)
	for _, slot := range r.order.Slots {
		r.count(r.of(slot), 1)
	}
	r.counted = true
}

// index makes the tree ready for questions.
func (r *rows) index() {
	if !r.indexed {
		r.tree.Build()
		r.indexed = true
	}
}

// carry takes rows over to another order. Nodes that the old order lacks get none.
func (r *rows) carry(o *nodelog.Order, memory []int32) []int32 {
	before, old := append(memory[:0], r.tree.Leaves...), r.order
	r.reset(o)
	for place, slot := range o.Slots {
		if old.Has(slot) {
			r.tree.Leaves[place] = before[old.Place[slot]]
		}
	}
	return before
}

// size is the memory that the rows hold.
func (r *rows) size() int {
	return r.tree.Bytes() + r.flipLog.Bytes() + 4*cap(r.counts) + cap(r.nodes)*int(unsafe.Sizeof(nodeRow{}))
}

// copy makes r the same rows as others.
func (r *rows) copy(others *rows) {
	r.reset(others.order)
	copy(r.tree.Leaves, others.tree.Leaves)
	r.nodes = slices.Clone(others.nodes)
	r.uniform, r.uniformScore = others.uniform, others.uniformScore
}

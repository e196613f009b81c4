package engine

// A row, which is a leaf of base.tree, holds what a base keeps of one node: not
// negative, the sum of the weighted scores of the bound scorers that need no
// normalization, which means nothing while the base is not scored; or else the
// complement of the number of the first rejection by any filter of the base. With
// many bases in turn, rows are what has to come from memory, and a cache line has
// those of 16 nodes.
//
// Invariant: unless the timeline of the base has entries about the node that the
// base has not seen, the row is what the filters and, while it is scored, the
// scorers of the base would answer for the snapshot that it last followed.
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

// A fixedRow holds what stands while only the pods of a node change. It is not
// looked at where it is the same for all nodes, see base.even.
//
// Invariant: as long as the base has not moved, reason and, if known, score stand
// even where the node has changed.
type fixedRow struct {
	score int32 // weighted scores that do not depend on the node's pods
	bits  int32 // see reason and known
}

// reason is the first rejection by a filter that reads no pods.
func (r *fixedRow) reason() int32 { return r.bits >> 1 }

// known tells that score, and the raw scores of fixed scorers, are those of the
// node.
func (r *fixedRow) known() bool { return r.bits&1 != 0 }

func (r *fixedRow) set(reason int32, known bool) {
	r.bits = reason << 1
	if known {
		r.bits |= 1
	}
}

package engine

// A row holds what a base keeps of one node, a quarter of a cache line: with many
// bases in turn, rows are what has to come from memory.
//
// Invariant: where generation equals the node's, reason is what the bound
// filters would answer now, and score, if the base is scored and the node
// feasible, the sum of the weighted scores of the bound scorers that need no
// normalization.
type row struct {
	generation uint64
	score      int32
	reason     int32 // the first rejection by any filter of the base
}

// A fixedRow holds what stands while only the pods of a node change. It is not
// looked at where it is the same for all nodes, see base.even.
//
// Invariant: as long as the base has not moved, reason and, if known, score stand
// even where the row's generation differs from the node's.
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

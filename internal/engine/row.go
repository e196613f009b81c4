package engine

// A row holds what a base keeps of one node. It is half a cache line: with many
// bases in turn, rows are what has to come from memory.
//
// Invariant: where generation equals the node's, reason is what the bound
// filters would answer now, and the scores, if known, what the bound scorers
// would. As long as the base has not moved, fixedReason and, if fixedKnown,
// fixedScore stand even where it differs.
type row struct {
	generation  uint64
	fixedScore  int64 // weighted scores that do not depend on the node's pods
	movingScore int64 // those that do
	reason      int32 // the first rejection by any filter of the base
	fixed       int32 // see fixedReason and fixedKnown
}

// score is the sum of the weighted scores that need no normalization.
func (r *row) score() int64 { return r.fixedScore + r.movingScore }

// fixedReason is the first rejection by a filter that reads no pods.
func (r *row) fixedReason() int32 { return r.fixed >> 1 }

// fixedKnown tells that fixedScore, and the raw scores of fixed scorers, are
// those of the node.
func (r *row) fixedKnown() bool { return r.fixed&1 != 0 }

func (r *row) setFixed(reason int32, known bool) {
	r.fixed = reason << 1
	if known {
		r.fixed |= 1
	}
}

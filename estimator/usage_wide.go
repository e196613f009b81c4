package estimator

import (
	"math"
	"math/bits"
)

// wide is a 128-bit integer: an exact sum of int64s. Additions can be undone
// exactly, and it is cut to int64 only when read.
type wide struct {
	hi int64
	lo uint64
}

func (w *wide) add(x int64) {
	lo, carry := bits.Add64(w.lo, uint64(x), 0)
	w.lo, w.hi = lo, w.hi+x>>63+int64(carry)
}

func (w *wide) sub(x int64) {
	lo, borrow := bits.Sub64(w.lo, uint64(x), 0)
	w.lo, w.hi = lo, w.hi-x>>63-int64(borrow)
}

// plusTimes returns w + x*n for n >= 0.
func (w wide) plusTimes(x, n int64) wide {
	hi, lo := bits.Mul64(uint64(x), uint64(n))
	if x < 0 {
		hi -= uint64(n) // x is 2^64 more as an unsigned number
	}
	sum, carry := bits.Add64(w.lo, lo, 0)
	return wide{w.hi + int64(hi) + int64(carry), sum}
}

// plus returns w + v, cut to int64.
func (w wide) plus(v wide) int64 {
	lo, carry := bits.Add64(w.lo, v.lo, 0)
	switch hi := w.hi + v.hi + int64(carry); {
	case hi == int64(lo)>>63:
		return int64(lo)
	case hi < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func widen(x int64) wide { return wide{x >> 63, uint64(x)} }

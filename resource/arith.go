package resource

import (
	"cmp"
	"math"
	"math/big"
)

// Add returns q + o, exactly. The result has the notation of q, or the notation of
// o if q is 0.
//
// Differs: the smallest int64 in subtraction and negation.
// Original: Kubernetes loses its sign.
// Here: the result is exact.
// Why: a wrong sign helps nobody.
func (q Quantity) Add(o Quantity) Quantity {
	f := q.f
	if q.IsZero() {
		f = o.f
	}
	if q.b == nil && o.b == nil {
		p := max(q.p, o.p)
		a, fits := times(q.n, thousand[p-q.p])
		b, fitsToo := times(o.n, thousand[p-o.p])
		if sum := a + b; fits && fitsToo && (a^sum)&(b^sum) >= 0 {
			return reduced(sum, p, f)
		}
	}
	return fromNano(new(big.Int).Add(q.nano(), o.nano()), f)
}

// Sub returns q - o, exactly, in the notation that [Quantity.Add] would give.
func (q Quantity) Sub(o Quantity) Quantity {
	return q.Add(o.Neg())
}

// Neg returns -q in the notation of q.
func (q Quantity) Neg() Quantity {
	if q.b == nil && q.n != math.MinInt64 {
		q.n = -q.n
		return q
	}
	return fromNano(new(big.Int).Neg(q.nano()), q.f)
}

// Cmp returns -1 if q is less than o, 0 if they are the same number, and 1 if q is
// greater. It ignores the notation.
func (q Quantity) Cmp(o Quantity) int {
	switch {
	case q.b != nil || o.b != nil:
		return q.nano().Cmp(o.nano())
	case q.p < o.p:
		return -o.Cmp(q)
	}
	// q has the finer unit. First compare the part of q.n in o's units, then the
	// rest.
	m := thousand[q.p-o.p]
	if c := cmp.Compare(q.n/m, o.n); c != 0 {
		return c
	}
	return cmp.Compare(q.n%m, 0)
}

// Equal reports whether q and o are the same number, in whatever notation.
func (q Quantity) Equal(o Quantity) bool {
	return q.Cmp(o) == 0
}

// times returns a * b and whether it fits; b must be positive.
func times(a, b int64) (int64, bool) {
	c := a * b
	return c, c/b == a
}

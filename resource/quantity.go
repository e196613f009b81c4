package resource

import (
	"math"
	"math/big"
)

// Quantity is an exact number together with its notation for printing, as
// Kubernetes writes amounts of resources: "100m", "500Mi", "1e3", "0.5". Its value
// is a whole number of nano-units, of any size.
//
// The zero value is 0 in [DecimalSI] and ready to use. A Quantity is immutable and
// may be copied and shared between goroutines. Compare quantities with
// [Quantity.Equal] or [Quantity.Cmp]; == compares representations, including the
// notation.
//
// Source: Kubernetes 1.37, resource.Quantity.
type Quantity struct {
	// The value is n / 1000^p with the smallest p from 0 to 3 that keeps n whole.
	// So every value has one representation, and ordinary values need no memory
	// beyond the struct.
	n int64
	// If n would not fit an int64, b is the value in nano-units, and n and p are 0.
	// *b is never written to once a Quantity holds it.
	b *big.Int
	p uint8
	f Format
}

// thousand holds the powers of 1000 that may divide n of a Quantity.
var thousand = [...]int64{1, 1e3, 1e6, 1e9}

// nanoPower is the p of nano-units: one is 1/1000^nanoPower.
const nanoPower = 3

// New returns the whole number v in notation f.
func New(v int64, f Format) Quantity {
	return Quantity{n: v, f: f}
}

// Milli returns v thousandths in DecimalSI: Milli(1500) is "1500m".
func Milli(v int64) Quantity {
	return reduced(v, 1, DecimalSI)
}

// reduced returns n / 1000^p with the smallest p that keeps n whole.
func reduced(n int64, p uint8, f Format) Quantity {
	for p > 0 && n%1000 == 0 {
		n /= 1000
		p--
	}
	return Quantity{n: n, p: p, f: f}
}

// Format returns the notation of q, as written or inherited. String uses another
// one if this notation cannot show the value.
func (q Quantity) Format() Format {
	return q.f
}

// IsZero reports whether q is 0.
func (q Quantity) IsZero() bool {
	return q.n == 0 && q.b == nil
}

// Sign returns -1 if q is negative, 0 if it is 0, and 1 if it is positive.
func (q Quantity) Sign() int {
	switch {
	case q.b != nil:
		return q.b.Sign()
	case q.n < 0:
		return -1
	case q.n > 0:
		return 1
	}
	return 0
}

// Value returns q in whole units, rounded away from zero: 1 for "1n", 2 for
// "1500m", -2 for "-1500m". A value beyond int64 becomes the nearest int64.
//
// Differs: values beyond int64.
// Original: Kubernetes wraps around or returns 0.
// Here: they become the nearest int64.
// Why: a wrapped number helps nobody.
//
// Differs: a negative value with a fraction that results from a rounded text, or from
// a sum with one.
// Original: Kubernetes returns a number that is two too great (0 for -1500m).
// Here: all values round the same way.
// Why: equal values must give equal numbers.
func (q Quantity) Value() int64 {
	return q.in(0)
}

// MilliValue returns q in thousandths, rounded away from zero: 100 for "100m", 1
// for "1n". It saturates, and differs from Kubernetes, like [Quantity.Value].
func (q Quantity) MilliValue() int64 {
	return q.in(1)
}

// in returns q in units of 1/1000^p, rounded away from zero and saturated.
func (q Quantity) in(p uint8) int64 {
	switch {
	case q.b != nil:
		v, rest := new(big.Int).QuoRem(q.b, big.NewInt(thousand[nanoPower-p]), new(big.Int))
		v.Add(v, big.NewInt(int64(rest.Sign())))
		switch {
		case v.IsInt64():
			return v.Int64()
		case v.Sign() < 0:
			return math.MinInt64
		}
		return math.MaxInt64
	case q.p <= p:
		return SatMul(q.n, thousand[p-q.p])
	}
	v, rest := q.n/thousand[q.p-p], q.n%thousand[q.p-p]
	switch {
	case rest > 0:
		v++
	case rest < 0:
		v--
	}
	return v
}

package resource

import (
	"math"
	"math/bits"
)

// SatAdd returns a + b, or the nearest end of int64 if the sum overflows.
func SatAdd(a, b int64) int64 {
	c := a + b
	if (a^c)&(b^c) < 0 { // both have one sign and the sum has the other
		return end(a < 0)
	}
	return c
}

// SatSub returns a - b, or the nearest end of int64 if the difference overflows.
func SatSub(a, b int64) int64 {
	c := a - b
	if (a^b)&(a^c) < 0 { // the signs differ, and the difference has not the sign of a
		return end(a < 0)
	}
	return c
}

// SatMul returns a * b, or the nearest end of int64 if the product overflows.
func SatMul(a, b int64) int64 {
	negative := a < 0 != (b < 0)
	high, low := bits.Mul64(Magnitude(a), Magnitude(b))
	switch {
	case high != 0 || low > math.MaxInt64:
		return end(negative) // the product may be the smallest int64 itself
	case negative:
		return -int64(low)
	}
	return int64(low)
}

// MulDiv returns (a*b + plus) / by, truncated, or the greatest uint64 if that does not fit.
// The product may have 128 bits. If by is 0, it returns the greatest uint64, too.
func MulDiv(a, b, plus, by uint64) uint64 {
	high, low := bits.Mul64(a, b)
	low, carry := bits.Add64(low, plus, 0)
	if high += carry; high >= by {
		return math.MaxUint64
	}
	quotient, _ := bits.Div64(high, low, by)
	return quotient
}

// Magnitude returns the absolute value of a, exact also for the smallest int64.
func Magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// end returns the smallest int64 if negative is set, else the greatest.
func end(negative bool) int64 {
	if negative {
		return math.MinInt64
	}
	return math.MaxInt64
}

// SatFloat returns f, truncated, or the nearest end of int64 if f is beyond it. NaN
// gives 0.
func SatFloat(f float64) int64 {
	switch {
	case f >= math.MinInt64 && f < math.MaxInt64:
		return int64(f)
	case f != f:
		return 0
	}
	return end(f < 0)
}

package scheduling

import (
	"math"
	"math/bits"
)

// satAdd returns a+b, or the int64 bound that it would pass.
func satAdd(a, b int64) int64 {
	switch sum := a + b; {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	default:
		return sum
	}
}

// satMul returns a*b, or the int64 bound that it would pass.
func satMul(a, b int64) int64 {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	switch negative := (a < 0) != (b < 0); {
	case negative && (hi != 0 || lo > 1<<63):
		return math.MinInt64
	case negative:
		return -int64(lo)
	case hi != 0 || lo > math.MaxInt64:
		return math.MaxInt64
	default:
		return int64(lo)
	}
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

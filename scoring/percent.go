package scoring

import (
	"math"
	"math/bits"

	"github.com/berth-sched/berth/framework"
)

// percent returns 100*part/whole, truncated, for 0 <= part <= whole and
// 0 < whole.
//
// The quotient of the rounded numbers is at most 100, so it is wrong by far
// less than 1; truncated it is the wanted one or a neighbour, and the remainder
// tells which. That takes a third of the time of an integer division.
func percent(part, whole int64) int64 {
	const limit = math.MaxInt64 / (framework.MaxNodeScore + 1)
	if whole > limit {
		return mulDiv(part, framework.MaxNodeScore, whole)
	}
	scaled := part * framework.MaxNodeScore
	q := int64(float64(scaled) / float64(whole))
	switch rest := scaled - q*whole; {
	case rest < 0:
		return q - 1
	case rest >= whole:
		return q + 1
	}
	return q
}

// mulDiv returns a*b/c, truncated, where none is negative, c is not 0 and the
// result fits an int64. The product may be up to 128 bits long.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}

// satAdd returns a + b, at most the largest int64, for a and b not negative.
func satAdd(a, b int64) int64 {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return math.MaxInt64
}

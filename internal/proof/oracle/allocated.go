package oracle

import "math/big"

// LeastAllocated is (allocatable-requested)*100/allocatable.
func LeastAllocated(requested, allocatable int64) int64 {
	if allocatable <= 0 || requested > allocatable {
		return 0
	}
	free := minus(number(allocatable), number(notNegative(requested)))
	return over(times(free, number(100)), number(allocatable)).Int64()
}

// MostAllocated is requested*100/allocatable, with requested no more than
// allocatable.
func MostAllocated(requested, allocatable int64) int64 {
	if allocatable <= 0 {
		return 0
	}
	taken := min(notNegative(requested), allocatable)
	return over(times(number(taken), number(100)), number(allocatable)).Int64()
}

// A Point is a vertex of a piecewise linear function.
type Point struct{ X, Y int64 }

// Line returns the value at x of the piecewise linear function through the points.
func Line(points []Point, x int64) int64 {
	if len(points) == 0 {
		return 0
	}
	if x <= points[0].X {
		return points[0].Y
	}
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if x <= b.X {
			rise := minus(number(b.Y), number(a.Y))
			step := over(times(rise, minus(number(x), number(a.X))), minus(number(b.X), number(a.X)))
			return plus(number(a.Y), step).Int64()
		}
	}
	return points[len(points)-1].Y
}

// CapacityRatio is the function's value at the utilization in percent.
func CapacityRatio(points []Point, requested, allocatable int64) int64 {
	if allocatable <= 0 || requested > allocatable {
		return Line(points, 100)
	}
	return Line(points, MostAllocated(requested, allocatable))
}

// Weighted is a score with its weight.
type Weighted struct{ Score, Weight int64 }

// Mean is the weighted mean, truncated, or 0 without scores.
func Mean(scores []Weighted) int64 {
	sum, weights := sums(scores)
	if weights.Sign() == 0 {
		return 0
	}
	return over(sum, weights).Int64()
}

// RoundedMean is the weighted mean of the scores above 0, rounded half up, or 0
// without such scores.
func RoundedMean(scores []Weighted) int64 {
	var positive []Weighted
	for _, s := range scores {
		if s.Score > 0 {
			positive = append(positive, s)
		}
	}
	sum, weights := sums(positive)
	if weights.Sign() == 0 {
		return 0
	}
	mean := new(big.Rat).SetFrac(sum, weights)
	mean.Add(mean, big.NewRat(1, 2))
	return over(mean.Num(), mean.Denom()).Int64()
}

func sums(scores []Weighted) (sum, weights *big.Int) {
	sum, weights = number(0), number(0)
	for _, s := range scores {
		sum = plus(sum, times(number(s.Score), number(s.Weight)))
		weights = plus(weights, number(s.Weight))
	}
	return sum, weights
}

package scoring

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// percent returns 100*part/whole, truncated, for 0 <= part <= whole and
// 0 < whole.
//
// Up to the limit it divides floating-point numbers, which processors do faster than
// integers, and is still exact. 100*part and whole are below 2^53, so their
// representation is exact. A quotient that is not an integer is at least 1/whole >=
// 2^-46.4 away from the next one, too far to be rounded to it at a spacing of 2^-46.
func percent(part, whole int64) int64 {
	const limit = 1 << 53 / framework.MaxNodeScore
	if whole > limit {
		return int64(resource.MulDiv(uint64(part), uint64(framework.MaxNodeScore), 0, uint64(whole)))
	}
	return int64(float64(part*framework.MaxNodeScore) / float64(whole))
}

package scoring

import "github.com/berth-sched/berth/framework"

// DefaultNormalizeScore maps a raw score to [0,100] in proportion to the largest raw
// score among the feasible nodes: 100*raw/largest, truncated. With reverse it is 100
// minus that, so the largest raw score becomes 0.
//
// If no raw score is above 0, all become 0, or 100 with reverse. A raw score below 0
// becomes 0, too, or 100 with reverse.
//
// Source: kube-scheduler 1.37, DefaultNormalizeScore with a maximum of 100.
//
// Differs: a raw score below 0 or above the largest.
// Original: it leaves [0,100]. If no raw score is above 0, negative ones stay
// unchanged.
// Here: it counts as the nearer end, also if no raw score is above 0.
// Why: the score must be from 0 to 100.
//
// Differs: raw scores beyond 92 quadrillion.
// Original: the product wraps around.
// Here: the result is exact.
// Why: a wrapped number helps nobody.
func DefaultNormalizeScore(raw, largest int64, reverse bool) int64 {
	var score int64
	if largest > 0 {
		score = percent(min(max(raw, 0), largest), largest)
	}
	if reverse {
		return framework.MaxNodeScore - score
	}
	return score
}

package scoring

import "github.com/berth-sched/berth/framework"

// LeastAllocatedScore returns the percentage of a resource that stays free:
// (allocatable-requested)*100/allocatable, truncated. It is 0 if allocatable is 0 or
// requested exceeds it. Both amounts are in the same unit, whatever it is; requested
// includes the pod to place.
//
// Source: kube-scheduler 1.37, leastRequestedScore.
//
// Differs: amounts that are negative, or so large that 100 times them is beyond
// int64.
// Original: negative amounts enter the formula, and products wrap around.
// Here: the result is exact for all int64; a negative amount counts as 0.
// Why: the score must be from 0 to 100.
func LeastAllocatedScore(requested, allocatable int64) int64 {
	if allocatable <= 0 || requested > allocatable {
		return 0
	}
	return percent(allocatable-max(requested, 0), allocatable)
}

// MostAllocatedScore returns the percentage of a resource that is taken:
// requested*100/allocatable, truncated. It is 0 if allocatable is 0, and 100 if
// requested exceeds it.
//
// Source: kube-scheduler 1.37, mostRequestedScore. Before 1.22 it was 0 if requested
// exceeded allocatable.
//
// Differs: amounts that are negative, or so large that 100 times them is beyond
// int64.
// Original: negative amounts enter the formula, and products wrap around.
// Here: the result is exact for all int64; a negative amount counts as 0.
// Why: the score must be from 0 to 100.
func MostAllocatedScore(requested, allocatable int64) int64 {
	if allocatable <= 0 {
		return 0
	}
	return percent(min(max(requested, 0), allocatable), allocatable)
}

// RequestedToCapacityRatioScore returns the shape's value at the utilization
// requested*100/allocatable, truncated. The utilization is 100 if allocatable is 0
// or requested exceeds it. The result is in the shape's own scale: 0 to 10 in
// configurations, which the plugin stretches to 100 beforehand.
//
// Source: kube-scheduler 1.37, buildRequestedToCapacityRatioScorerFunction.
//
// Differs: amounts that are negative, or so large that 100 times them is beyond
// int64.
// Original: negative amounts enter the formula, and products wrap around.
// Here: the result is exact for all int64; a negative amount counts as 0.
// Why: the score must be a value of the shape.
func RequestedToCapacityRatioScore(shape Shape, requested, allocatable int64) int64 {
	if allocatable <= 0 || requested >= allocatable {
		return shape.At(framework.MaxNodeScore)
	}
	return shape.At(percent(max(requested, 0), allocatable))
}

package scoring

import (
	"math"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// BalanceScore returns how evenly the resources of a node are used. It is 100 if the
// same fraction of each is used, and at least 50:
//
//	f[i]  = min(1, requested[i]/allocatable[i])   where allocatable[i] is not 0
//	std   = |f[0]-f[1]|/2                         of two fractions
//	      = sqrt(mean((f[i]-mean(f))^2))          of more
//	      = 0                                     of less
//	score = (1-std)*100, truncated
//
// It is the whole score of NodeResourcesBalancedAllocation from kube-scheduler 1.22
// to 1.35. Elements missing from one of the slices are 0.
//
// Source: kube-scheduler 1.37, balancedResourceScore.
//
// Differs: negative amounts.
// Original: they enter the formula.
// Here: a negative amount counts as 0.
// Why: the score must be from 0 to 100.
func BalanceScore(requested, allocatable []int64) int64 {
	var buffer [maxOnStack]float64
	return evenness(appendFractions(buffer[:0], requested, nil, allocatable))
}

// BalancedAllocationScore returns how much a pod evens out the use of a node's
// resources. It is 75 if the pod changes nothing, more if the use becomes more even,
// less if it becomes less even, and always from 50 to 100:
//
//	50 + (50 + BalanceScore(requested+pod) - BalanceScore(requested))/2
//
// with truncation. requested excludes the pod. Elements missing from one of the
// slices are 0.
//
// Source: kube-scheduler 1.36 and 1.37, balancedResourceScorer.
//
// Differs: negative amounts.
// Original: they enter the formula.
// Here: a negative amount counts as 0.
// Why: the score must be from 0 to 100.
//
// Differs: sums beyond int64.
// Original: they wrap around.
// Here: they saturate.
// Why: a wrapped number helps nobody.
func BalancedAllocationScore(requested, pod, allocatable []int64) int64 {
	var buffer [maxOnStack]float64
	with := evenness(appendFractions(buffer[:0], requested, pod, allocatable))
	without := evenness(appendFractions(buffer[:0], requested, nil, allocatable))
	return improvement(with, without)
}

// BalancedAllocationScoreKubernetes118 returns the score of
// NodeResourcesBalancedAllocation in kube-scheduler 1.18: 100 minus the difference
// of the used fractions of cpu and memory, truncated; 0 if one of them is used up.
// The amounts include the pod, and the non-zero defaults for containers that request
// nothing. A resource that the node does not have counts as used up.
//
// Source: kube-scheduler 1.18, balancedResourceScorer.
//
// The alpha feature BalanceAttachedNodeVolumes, off by default, adds a third
// fraction: [BalancedVolumesScoreKubernetes118].
//
// Differs: negative amounts.
// Original: they enter the formula.
// Here: a negative amount counts as 0.
// Why: the score must be from 0 to 100.
func BalancedAllocationScoreKubernetes118(cpuRequested, cpuAllocatable, memoryRequested, memoryAllocatable int64) int64 {
	if cpuAllocatable <= 0 || memoryAllocatable <= 0 {
		return 0
	}
	cpu, memory := fraction(cpuRequested, cpuAllocatable), fraction(memoryRequested, memoryAllocatable)
	if cpu >= 1 || memory >= 1 {
		return 0
	}
	return int64((1 - math.Abs(cpu-memory)) * float64(framework.MaxNodeScore))
}

// maxOnStack is the largest number of resources that a score handles without
// allocating.
const maxOnStack = 8

// fraction returns part/whole, from 0 to 1; whole must be above 0.
func fraction(part, whole int64) float64 {
	if part >= whole {
		return 1
	}
	return float64(max(part, 0)) / float64(whole)
}

// appendFractions appends (requested+pod)/allocatable for each resource.
func appendFractions(to []float64, requested, pod, allocatable []int64) []float64 {
	for i, whole := range allocatable {
		if whole <= 0 {
			continue
		}
		part := max(at(requested, i), 0)
		to = append(to, fraction(resource.SatAdd(part, max(at(pod, i), 0)), whole))
	}
	return to
}

func at(amounts []int64, i int) int64 {
	if i < len(amounts) {
		return amounts[i]
	}
	return 0
}

// evenness returns 100 times (1 minus the standard deviation), truncated.
func evenness(fractions []float64) int64 {
	switch len(fractions) {
	case 0, 1:
		return framework.MaxNodeScore
	case 2:
		return evennessOfTwo(fractions[0], fractions[1])
	}
	n := float64(len(fractions))
	total := 0.0
	for _, f := range fractions {
		total += f
	}
	mean := total / n
	squares := 0.0
	for _, f := range fractions {
		squares += float64((f - mean) * (f - mean)) // the conversion forbids fused multiply-add
	}
	return lessStd(math.Sqrt(squares / n))
}

// evennessOfTwo is evenness of two fractions.
func evennessOfTwo(f, g float64) int64 { return lessStd(math.Abs((f - g) / 2)) }

func lessStd(std float64) int64 { return int64((1 - std) * float64(framework.MaxNodeScore)) }

// improvement returns the score of a node whose evenness a pod changes. Both
// arguments are from 50 to 100, so the result is too.
func improvement(with, without int64) int64 {
	const half = framework.MaxNodeScore / 2
	return half + (half+with-without)/2
}

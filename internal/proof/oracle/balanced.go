package oracle

import "math"

// Balance is (1-std)*100 of the allocatable fractions. Upstream uses floating-point
// operations for its steps too, so they are the definition.
func Balance(requested, allocatable []int64) int64 {
	var fractions []float64
	total := 0.0
	for i := range allocatable {
		if allocatable[i] <= 0 {
			continue
		}
		f := float64(notNegative(requested[i])) / float64(allocatable[i])
		if f > 1 {
			f = 1
		}
		total += f
		fractions = append(fractions, f)
	}
	std := 0.0
	if len(fractions) == 2 {
		std = math.Abs((fractions[0] - fractions[1]) / 2)
	}
	if len(fractions) > 2 {
		mean := total / float64(len(fractions))
		sum := 0.0
		for _, f := range fractions {
			square := (f - mean) * (f - mean)
			sum += float64(square)
		}
		std = math.Sqrt(sum / float64(len(fractions)))
	}
	return int64((1 - std) * 100)
}

// BalancedAllocation is the pod's effect on the balance, around 75.
func BalancedAllocation(requested, pod, allocatable []int64) int64 {
	with, before := make([]int64, len(requested)), make([]int64, len(requested))
	for i := range requested {
		before[i] = notNegative(requested[i])
		with[i] = saturated(plus(number(before[i]), number(notNegative(pod[i]))))
	}
	return 50 + (50+Balance(with, allocatable)-Balance(before, allocatable))/2
}

// BalancedAllocationV118 is the score of kube-scheduler 1.18.
func BalancedAllocationV118(cpuRequested, cpuAllocatable, memoryRequested, memoryAllocatable int64) int64 {
	fraction := func(requested, allocatable int64) float64 {
		if allocatable <= 0 {
			return 1
		}
		return float64(notNegative(requested)) / float64(allocatable)
	}
	cpu, memory := fraction(cpuRequested, cpuAllocatable), fraction(memoryRequested, memoryAllocatable)
	if cpu >= 1 || memory >= 1 {
		return 0
	}
	return int64((1 - math.Abs(cpu-memory)) * 100)
}

// BalancedVolumesV118 is the score of kube-scheduler 1.18 with disks, for a pod that
// attaches more disks to a node with room for them. The variance is the textbook
// formula: the mean of the squares less the square of the mean.
func BalancedVolumesV118(cpu, memory, disks float64) float64 {
	if cpu >= 1 || memory >= 1 || disks >= 1 {
		return 0
	}
	mean := (cpu + memory + disks) / 3
	return 100 * (1 - ((cpu*cpu+memory*memory+disks*disks)/3 - mean*mean))
}

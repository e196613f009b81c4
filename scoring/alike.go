package scoring

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// In a large cluster most nodes have as much CPU and memory as their neighbours. So
// a batch scorer divides once for a stretch of alike nodes, and multiplies for each
// of them. Products are fixed-point numbers with fixedBits binary places.
//
// The product of a number from 0 to 100 and an inverse is less than 2 units away
// from the exact value: rounding the inverse and the product costs less than
// 100*2^45*2^-52, which is 0.8, and the conversion to an integer less than 1.
const (
	fixedBits = 45
	fixedUnit = 1 << fixedBits
	fixedMask = fixedUnit - 1
)

// alikeMost is the largest amount of CPU and memory of alike nodes. Up to there, a
// percentage that is not whole is at least 8 units away from a whole one.
const alikeMost = fixedUnit / 8

// alike holds the amounts that let a scorer process nodes in one loop, and the pod's
// addition to their CPU and memory.
//
// alikeTo makes only such values, and nothing changes them: cpu and memory are from 1 to
// alikeMost; perCPU and perByte are fixedUnit divided by them, rounded; podCPU and
// podMemory are not negative.
type alike struct {
	cpu, memory       int64 // allocatable
	perCPU, perByte   float64
	podCPU, podMemory int64
}

// ofUsual reports whether the terms are CPU and memory of weight 1.
func ofUsual(terms []term) bool {
	return len(terms) == 2 && terms[0].index == resource.IndexCPU && terms[1].index == resource.IndexMemory &&
		terms[0].weight == 1 && terms[1].weight == 1
}

// alikeTo returns the amounts shared by nodes alike to the given one; false if it
// has too little or too much, or if a request is negative.
func alikeTo(n *framework.NodeInfo, terms []term) (alike, bool) {
	cpu, memory := n.Allocatable.At(resource.IndexCPU), n.Allocatable.At(resource.IndexMemory)
	if cpu <= 0 || cpu > alikeMost || memory <= 0 || memory > alikeMost || terms[0].pod|terms[1].pod < 0 {
		return alike{}, false
	}
	return alike{cpu, memory, fixedUnit / float64(cpu), fixedUnit / float64(memory), terms[0].pod, terms[1].pod}, true
}

// A stretch is a method of alike that scores nodes up to the first that it cannot
// score, and returns how many it scored.
type stretch func(s alike, nodes []*framework.NodeInfo, scores []int64) int

const (
	shortStretch = 8  // if fewer nodes in a row are alike, the nodes are mixed
	mixedNodes   = 64 // number of mixed nodes that are then scored singly before the next stretch
)

// An eachScorer scores many nodes as Score does, whatever their resources.
type eachScorer interface {
	scoreEach(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64)
}

// scoreStretches sets the scores of many nodes: by scores alike nodes, rest scores
// the others.
func scoreStretches(by stretch, rest eachScorer, terms []term, pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	if !ofUsual(terms) {
		rest.scoreEach(pod, nodes, scores)
		return
	}
	for i := 0; i < len(nodes); {
		scored := 0
		if s, ok := alikeTo(nodes[i], terms); ok {
			scored = by(s, nodes[i:], scores[i:])
		}
		if i += scored; i == len(nodes) {
			return
		}
		others := 1
		if scored < shortStretch {
			others = mixedNodes
		}
		end := min(i+others, len(nodes))
		rest.scoreEach(pod, nodes[i:end], scores[i:end])
		i = end
	}
}

// leastAllocated scores nodes by the mean of [LeastAllocatedScore] until one is not
// alike or has fewer resources than requested. It returns how many it scored.
func (s alike) leastAllocated(nodes []*framework.NodeInfo, scores []int64) int {
	scores = scores[:len(nodes)]
	for i, n := range nodes {
		a := n.Allocatable
		if len(a) < 2 || a[0] != s.cpu || a[1] != s.memory {
			return i
		}
		cpu, memory := s.cpu-s.podCPU-n.NonZeroRequested[0], s.memory-s.podMemory-n.NonZeroRequested[1]
		if uint64(cpu) > uint64(s.cpu) || uint64(memory) > uint64(s.memory) {
			return i
		}
		scores[i] = int64(uint64(percentBy(cpu, s.perCPU)+percentBy(memory, s.perByte)) / 2)
	}
	return len(nodes)
}

// percentBy is percent(part, whole), given the inverse of whole. Adding 4 units
// makes up for the error of an integer quotient, and cannot carry any other quotient
// to the next integer.
func percentBy(part int64, inverse float64) int64 {
	return (int64(float64(part*framework.MaxNodeScore)*inverse) + 4) >> fixedBits
}

// balancedDelta scores nodes by [BalancedAllocationScore] until one is not alike or
// has no more resources than requested. It returns how many it scored.
func (s alike) balancedDelta(nodes []*framework.NodeInfo, scores []int64) int {
	scores = scores[:len(nodes)]
	const half = float64(framework.MaxNodeScore / 2)
	perCPU, perByte := s.perCPU*half, s.perByte*half
	// shift is how much the pod changes the loss from the difference of the
	// fractions.
	shift := float64(float64(s.podCPU)*perCPU) - float64(float64(s.podMemory)*perByte)
	for i, n := range nodes {
		a, r := n.Allocatable, n.Requested
		if len(a) < 2 || len(r) < 2 || a[0] != s.cpu || a[1] != s.memory {
			return i
		}
		cpu, memory := r[0], r[1]
		if cpu|memory < 0 || uint64(cpu+s.podCPU) >= uint64(s.cpu) || uint64(memory+s.podMemory) >= uint64(s.memory) {
			return i
		}
		loss := float64(float64(cpu)*perCPU) - float64(float64(memory)*perByte)
		with, sure := wholeLoss(loss + shift)
		if !sure {
			with = mostlyEven - evennessOfTwo(float64(cpu+s.podCPU)/float64(s.cpu), float64(memory+s.podMemory)/float64(s.memory))
		}
		without, sure := wholeLoss(loss)
		if !sure {
			without = mostlyEven - evennessOfTwo(float64(cpu)/float64(s.cpu), float64(memory)/float64(s.memory))
		}
		scores[i] = framework.MaxNodeScore/2 + int64(uint64(framework.MaxNodeScore/2+without-with)/2)
	}
	return len(nodes)
}

// mostlyEven is the evenness of fractions with a loss above 0 and below 1.
const mostlyEven = framework.MaxNodeScore - 1

// wholeLoss is mostlyEven minus evennessOfTwo. loss is half the difference of the
// two fractions, as a percentage and fixed-point number of either sign. It returns
// false if loss is so close to an integer that only the exact fractions decide the
// score: evennessOfTwo rounds, and so does the computation of the difference, but
// neither is 32 units off.
func wholeLoss(loss float64) (int64, bool) {
	const near = 64
	amount := int64(loss)
	whole := amount >> fixedBits
	return whole ^ whole>>63, uint64(amount+near)&fixedMask >= 2*near // the absolute value, without a branch
}

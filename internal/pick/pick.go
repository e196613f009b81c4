// Package pick has the arithmetic of a decision: how many feasible nodes end the
// search, the random word of a decision, and which of equal totals wins.
package pick

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Percentages with a meaning of their own: all nodes, and as many as their number
// suggests.
const (
	AllNodes = 0
	Adaptive = -1
)

// Sample is how many feasible nodes of n end a search that scores them.
//
// Source: kube-scheduler 1.37, schedule_one.go, numFeasibleNodesToFind.
func Sample(n, percentage int) int {
	const atLeast = 100
	switch {
	case percentage == AllNodes || n < atLeast:
		return n
	case percentage == Adaptive:
		percentage = max(5, 50-n/125)
	}
	return min(n, max(atLeast, n/100*percentage+n%100*percentage/100))
}

// Any is how many feasible nodes of n end a search if none can be better than another.
func Any(n int) int { return min(1, n) }

// mix64 scrambles a word: the finalizer of splitmix64. Different inputs give
// different outputs.
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Seed is the random word of decision n under a seed.
func Seed(seed, n uint64) uint64 { return mix64(mix64(seed) + n) }

// Draw maps a random word to [0,n), each value with a probability within n/2^64
// of 1/n.
func Draw(word uint64, n int) int {
	hi, _ := bits.Mul64(word, uint64(n))
	return int(hi)
}

// Reservoir is the classic selectHost over totals in feasible order.
func Reservoir(totals []int64, seed uint64) int {
	rng := rand.New(rand.NewPCG(seed, 0))
	best, count := 0, 1
	for i := 1; i < len(totals); i++ {
		switch {
		case totals[i] > totals[best]:
			best, count = i, 1
		case totals[i] == totals[best]:
			count++
			if rng.IntN(count) == 0 {
				best = i
			}
		}
	}
	return best
}

// Heap returns the place of the element at the root of the implicit binary heap that
// container/heap builds. tied are the places of the largest total, ascending. Sifting down
// swaps only for a strictly better child, and takes the right child only if it is strictly
// better than the left. So the winner of a subtree is the first of its maxima in pre-order.
// On one level that is the order of the places, so the first tied one of each level is
// looked at: O((log N)^2).
func Heap(tied []int) (place int) {
	for least := uint64(math.MaxUint64); len(tied) > 0; {
		i := uint64(tied[0] + 1) // numbered from 1, its digits are the way from the root
		depth := bits.Len64(i)
		if order := i<<(64-depth) | uint64(depth); order < least {
			least, place = order, tied[0]
		}
		next, _ := slices.BinarySearch(tied, 1<<depth-1) // the first place of the level below
		tied = tied[next:]
	}
	return place
}

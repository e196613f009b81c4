package scheduling

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/berth-sched/berth/framework"
)

// A TieRule names how one of several nodes with the highest total is chosen. Every
// [Decision] holds the rule that was used.
type TieRule uint8

const (
	// Random chooses uniformly among the tied nodes, with one draw per decision that
	// depends only on the seed and the decision's number.
	Random TieRule = iota
	// Reservoir walks over the feasible nodes and draws at every tie, like
	// kube-scheduler's selectHost up to 1.34. It is also uniform, but with one draw
	// per tie. Draws come from a PCG seeded with the decision's seed.
	Reservoir
	// Heap does what kube-scheduler 1.35 to 1.37 does, bit for bit: it takes the
	// root of a binary max-heap built over the feasible nodes in order, where equal
	// totals never swap.
	Heap
	// First takes the tied node that the search met first: the first in the
	// snapshot's order, counted from where the search began.
	First
	// ByName takes the tied node with the smallest name.
	ByName
	// Custom asks the profile's TieBreak.
	Custom
)

var tieNames = [...]string{"Random", "Reservoir", "Heap", "First", "ByName", "Custom"}

// String returns the rule's name.
func (r TieRule) String() string {
	if int(r) < len(tieNames) {
		return tieNames[r]
	}
	return fmt.Sprintf("TieRule(%d)", uint8(r))
}

// errNoCase is the error of a tie rule that a path does not implement.
func errNoCase(r TieRule) error { return fmt.Errorf("tie rule %v has no case in choose", r) }

// A TieBreak chooses among the tied nodes and returns an index. The nodes are in the
// order of the search: the snapshot's, counted from where the search began. The cycle
// has the pod, the snapshot and the random word of the decision; TieBreak must not
// change or keep any of them. TieBreak is also called if only one node is best; an index
// out of range fails the decision.
type TieBreak func(c *framework.Cycle, tied []*framework.NodeInfo) int

// mix64 scrambles a word: the finalizer of splitmix64. Different inputs give
// different outputs.
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// decisionSeed is the random word of decision n under a seed.
func decisionSeed(seed, n uint64) uint64 { return mix64(mix64(seed) + n) }

// draw maps a random word to [0,n), each value with a probability within n/2^64
// of 1/n.
func draw(word uint64, n int) int {
	hi, _ := bits.Mul64(word, uint64(n))
	return int(hi)
}

// reservoirPick is the classic selectHost over totals in feasible order.
func reservoirPick(totals []int64, seed uint64) int {
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

// heapPick returns the place of the element at the root of the implicit binary heap
// that container/heap builds from totals. Sifting down swaps only for a strictly
// better child, and takes the right child only if it is strictly better than the
// left. So the winner of a subtree is the first of its maxima in pre-order.
func heapPick(totals []int64, largest int64) int { return firstInPreOrder(totals, largest, 0) }

func firstInPreOrder(totals []int64, largest int64, i int) int {
	if i >= len(totals) {
		return -1
	}
	if totals[i] == largest {
		return i
	}
	if k := firstInPreOrder(totals, largest, 2*i+1); k >= 0 {
		return k
	}
	return firstInPreOrder(totals, largest, 2*i+2)
}

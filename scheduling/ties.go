package scheduling

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// A TieRule names how one of several nodes with the highest total is chosen. Every
// [Decision] holds the rule that was used. For your own rule use [Custom]. The page of
// internal/engine says how to add one to the library.
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

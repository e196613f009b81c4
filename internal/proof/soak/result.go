package soak

import "github.com/berth-sched/berth/scheduling"

// Result counts what a run did.
type Result struct {
	Steps, Decisions, Placed, Unschedulable int
	// Preemption counts what happened after a pod found no node.
	Preemption Preemption
	// Differences holds what the two roads disagreed about, the first ten.
	Differences []*scheduling.DifferenceError
	// Count is how many differences there were.
	Count int
}

// Preemption counts what a run did to make room.
type Preemption struct {
	// Attempts is how often the PostFilter plugins were asked, and Preemptions
	// how often they found victims.
	Attempts, Preemptions int
	// Nominations is how often a node was kept for a pod, and Renounced how
	// often one was taken back because a pod of higher priority got it.
	Nominations, Renounced int
	// Evictions counts the victims, of which Lingering took a while to go, and
	// Violations were protected by a budget.
	Evictions, Lingering, Violations int
	// Waits counts the attempts that ended because victims were still going, and
	// Never those of pods that may not preempt.
	Waits, Never int
	// Beside counts the decisions made while pods were nominated, and Claimed
	// the nominated pods that were placed.
	Beside, Claimed int
}

// note keeps a difference.
func (r *Result) note(d *scheduling.DifferenceError) {
	if r.Count++; len(r.Differences) < 10 {
		r.Differences = append(r.Differences, d)
	}
}

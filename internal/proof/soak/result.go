package soak

import (
	"fmt"

	"github.com/berth-sched/berth/scheduling"
)

// Result counts what a run did.
type Result struct {
	Steps, Decisions, Placed, Unschedulable int
	// Preemption counts what happened after a pod found no node.
	Preemption Preemption
	// Mixes counts what the incremental path did with the default budget and with a
	// tight one, which holds few classes.
	Mixes [mixes]Mix
	// Reached counts what kept classes decided about.
	Reached Reached
	// Given counts the devices that pods got.
	Given Given
	// Differences holds what the two paths disagreed about, the first ten.
	Differences []*scheduling.DifferenceError
	// Count is how many differences there were.
	Count int
	// FaultErrors holds faults of the incremental path, the first ten.
	FaultErrors []*scheduling.FaultError
	// Faults is how many faults there were.
	Faults int
}

// Preemption counts what a run did to make room.
type Preemption struct {
	// Attempts is how often the PostFilter plugins were asked, and Preemptions
	// how often they found victims.
	Attempts, Preemptions int
	// Nominations is how often a node was kept for a pod, and ClearedNominations how
	// often one was taken back because a pod of higher priority got it.
	Nominations, ClearedNominations int
	// Evictions counts the victims. Lingering ones took a while to go, and a budget
	// protected those in Violations.
	Evictions, Lingering, Violations int
	// Waits counts the attempts that ended because victims were still going, and
	// Never those of pods that may not preempt.
	Waits, Never int
	// Beside counts the decisions made while pods were nominated, and Claimed
	// the nominated pods that were placed.
	Beside, Claimed int
}

// Reached counts the decisions by a kept class that reached some part of the engine.
type Reached struct {
	// Ties is by tie rule: more than one node had the highest total.
	Ties [scheduling.Custom + 1]int
	// Samples did not search all nodes.
	Samples int
	// SamplesElsewhere did not search all nodes either, for pods that were nominated to a node
	// that they did not get.
	SamplesElsewhere int
	// Volumes and Neighbours were for pods with volumes, and with spread constraints or
	// affinity terms.
	Volumes, Neighbours int
	// Beside were made while pods were nominated, and Extended if there were extenders.
	Beside, Extended int
	// OwnClaims were for pods whose claims were made from templates.
	OwnClaims int
	// Shares were for pods that ask for GPUs, SharesBeside while pods were nominated.
	Shares, SharesBeside int
	// Within were made among the nodes of a set. NamedWithin counts all such decisions for pods
	// whose nodes are named by a PreFilter whose answers are kept.
	Within, NamedWithin int
	// Daemons counts all decisions for pods whose nodes are named, also if nothing was kept.
	Daemons int
	// Found counts lost nodes that have come back.
	Found int
	// Forks are the first after a fork was turned to, and Timed after time had passed.
	Forks, Timed int
	// Copies counts forks of schedulers that copy answers, since their cluster is large.
	Copies int
}

// Given counts devices by what makes them special. A device may count more than once.
type Given struct {
	// All is every device, and Admin those given with admin access.
	All, Admin int
	// Partitions consume counters, Shares are parts of a device, and Network devices belong
	// to no single node.
	Partitions, Shares, Network int
	// Whole were given by requests for all devices.
	Whole int
	// Checked were looked for among all that others have.
	Checked int
}

// The indexes of Mixes.
const (
	roomy = iota
	tight
	mixes
)

// A Mix counts what the incremental path did with one budget.
type Mix struct {
	Hits, Misses, Bypassed uint64
}

func (m *Mix) add(s scheduling.Stats) {
	m.Hits, m.Misses, m.Bypassed = m.Hits+s.Hits, m.Misses+s.Misses, m.Bypassed+s.Bypassed
}

// Decisions is how many questions the incremental path was asked.
func (m Mix) Decisions() uint64 { return m.Hits + m.Misses + m.Bypassed }

// HitRate is the part of the questions, in percent, that a kept class answered.
func (m Mix) HitRate() float64 {
	if m.Decisions() == 0 {
		return 0
	}
	return 100 * float64(m.Hits) / float64(m.Decisions())
}

// leastHits is the least hit rate of each mix, in percent. A lower one means that the
// incremental path steps aside where it used to answer.
var leastHits = [mixes]float64{roomy: 60, tight: 30}

// enough is how many questions make the hit rate of a mix meaningful.
const enough = 3000

// Incremental sums up the mixes.
func (r *Result) Incremental() (sum Mix) {
	for _, m := range r.Mixes {
		sum.Hits, sum.Misses, sum.Bypassed = sum.Hits+m.Hits, sum.Misses+m.Misses, sum.Bypassed+m.Bypassed
	}
	return sum
}

// Err says why the run failed, nil if it did not.
func (r *Result) Err() error {
	if err := r.Wrong(); err != nil {
		return err
	}
	for i, m := range r.Mixes {
		if m.Decisions() >= enough && m.HitRate() < leastHits[i] {
			return fmt.Errorf("%.1f %% hits with budget %d, want %.0f or more: the incremental path steps aside too often", m.HitRate(), i, leastHits[i])
		}
	}
	return nil
}

// Wrong says what was wrong in the run, nil if nothing was. Unlike Err it does not look at how often answers
// were kept: that means something only if the steps are drawn with their shares.
func (r *Result) Wrong() error {
	switch {
	case r.Count > 0:
		return fmt.Errorf("%d differences, the first: %w", r.Count, r.Differences[0])
	case r.Faults > 0:
		return fmt.Errorf("%d faults, the first: %w", r.Faults, r.FaultErrors[0])
	}
	return nil
}

// String is the last line of a run.
func (r *Result) String() string {
	m := r.Incremental()
	return fmt.Sprintf("%d steps, %d differences, %.1f %% hits, %d bypassed, %d faults", r.Steps, r.Count, m.HitRate(), m.Bypassed, r.Faults)
}

// note keeps a difference.
func (r *Result) note(d *scheduling.DifferenceError) {
	if r.Count++; len(r.Differences) < 10 {
		r.Differences = append(r.Differences, d)
	}
}

// noteFault keeps a fault.
func (r *Result) noteFault(f *scheduling.FaultError) {
	if r.Faults++; len(r.FaultErrors) < 10 {
		r.FaultErrors = append(r.FaultErrors, f)
	}
}

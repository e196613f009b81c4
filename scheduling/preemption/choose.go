package preemption

import (
	"math"
	"slices"
)

// A Criterion ranks candidates: larger is better.
type Criterion func(c *Candidate) int64

// Criteria returns kube-scheduler's criteria in order: the fewest violated
// budgets, the lowest priority of the most important victim, the least sum of
// priorities, the fewest victims, the latest start. See the functions.
//
// Source: kube-scheduler 1.37, framework/preemption, pickOneNodeForPreemption.
func Criteria() []Criterion {
	return []Criterion{FewestViolations, LowestPriority, LeastPriorities, FewestVictims, LatestStart}
}

// FewestViolations prefers candidates that violate few budgets.
func FewestViolations(c *Candidate) int64 { return -int64(c.Violations) }

// LowestPriority prefers candidates whose most important victim, the first one,
// has a low priority.
func LowestPriority(c *Candidate) int64 {
	if len(c.Victims) == 0 {
		return math.MaxInt64
	}
	return -int64(c.Victims[0].Pod.Priority)
}

// LeastPriorities prefers candidates whose victims have a small sum of priorities.
// It raises each priority by 2^31, so many pods of negative priority are not better
// than few.
func LeastPriorities(c *Candidate) int64 {
	var sum int64
	for _, v := range c.Victims {
		sum += int64(v.Pod.Priority) + 1<<31
	}
	return -sum
}

// FewestVictims prefers candidates with few victims.
func FewestVictims(c *Candidate) int64 { return -int64(len(c.Victims)) }

// LatestStart prefers candidates whose victims started late: of the victims with the
// highest priority, the earliest start counts. The value is in nanoseconds since
// 1970; pods that have not started are later than all others.
func LatestStart(c *Candidate) int64 {
	first, priority := int64(math.MaxInt64), int32(math.MinInt32)
	for _, v := range c.Victims {
		at := int64(math.MaxInt64)
		if t := v.Pod.Pod.Status.StartTime; t != nil {
			at = t.UnixNano()
		}
		switch p := v.Pod.Priority; {
		case p > priority:
			first, priority = at, p
		case p == priority:
			first = min(first, at)
		}
	}
	return first
}

// Choose returns the best candidate. Each criterion decides among the candidates
// that the earlier ones leave tied; at the end the first one wins. It returns nil if
// there are no candidates.
func Choose(candidates []*Candidate, criteria []Criterion) *Candidate {
	if tied := Tied(candidates, criteria); len(tied) > 0 {
		return tied[0]
	}
	return nil
}

// Tied returns the candidates that equal the best one under every criterion, in
// order. Nil candidates are ignored.
func Tied(candidates []*Candidate, criteria []Criterion) []*Candidate {
	tied := slices.DeleteFunc(slices.Clone(candidates), func(c *Candidate) bool { return c == nil })
	for _, criterion := range criteria {
		tied = best(tied, criterion)
	}
	return tied
}

// best keeps, in place, the elements of the list with the largest value.
func best[T any](list []T, of func(T) int64) []T {
	kept, most := list[:0], int64(math.MinInt64)
	for _, c := range list {
		value := of(c)
		if value > most {
			kept, most = kept[:0], value
		}
		if value == most {
			kept = append(kept, c)
		}
	}
	return kept
}

package preemption

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// A Criterion ranks candidates: larger is better.
type Criterion func(c *Candidate) int64

// Criteria returns kube-scheduler's criteria but the last, in order: fewest
// violated budgets, the lowest priority of the most important victim, the
// least sum of priorities, the fewest victims.
//
// Source: kube-scheduler 1.37, framework/preemption, pickOneNodeForPreemption.
func Criteria() []Criterion {
	return []Criterion{
		func(c *Candidate) int64 { return -int64(c.Violations) },
		func(c *Candidate) int64 { return -int64(c.Victims[0].Pod.Priority) },
		func(c *Candidate) int64 {
			// Shifted so that many pods of negative priority are not better than few.
			var sum int64
			for _, v := range c.Victims {
				sum += int64(v.Pod.Priority) + 1<<31
			}
			return -sum
		},
		func(c *Candidate) int64 { return -int64(len(c.Victims)) },
	}
}

// Choose returns the best candidate: the criteria decide one after the other
// among those that the ones before leave tied; then the one whose most
// important victims started last; then the first. It returns nil for none.
func Choose(candidates []*Candidate, criteria []Criterion) *Candidate {
	tied := slices.Clone(candidates)
	for _, criterion := range criteria {
		tied = best(tied, criterion)
	}
	var chosen *Candidate
	for _, c := range tied {
		if chosen == nil || compareStart(earliest(c).Pod, earliest(chosen).Pod) > 0 {
			chosen = c
		}
	}
	return chosen
}

func best(candidates []*Candidate, criterion Criterion) []*Candidate {
	var kept []*Candidate
	var most int64
	for _, c := range candidates {
		switch value := criterion(c); {
		case len(kept) == 0 || value > most:
			kept, most = append(kept[:0:0], c), value
		case value == most:
			kept = append(kept, c)
		}
	}
	return kept
}

// earliest is, among the victims of the highest priority, the one that started
// first.
func earliest(c *Candidate) *framework.PodInfo {
	first := c.Victims[0].Pod
	for _, v := range c.Victims[1:] {
		switch p := v.Pod; {
		case p.Priority > first.Priority, p.Priority == first.Priority && compareStart(p.Pod, first.Pod) < 0:
			first = p
		}
	}
	return first
}

package preemption

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Budgets are the PodDisruptionBudgets of a cluster, in the order of their keys, with what
// each still allows. A program that removes several pods charges them one after the other.
type Budgets struct {
	list    budgets
	allowed []int64
}

// BudgetsOf returns the budgets of the snapshot, with nothing charged yet.
func BudgetsOf(s *framework.Snapshot) *Budgets {
	b := &Budgets{list: budgetsOf(s)}
	b.allowed = make([]int64, len(b.list))
	for i := range b.list {
		b.allowed[i] = int64(b.list[i].object.Status.DisruptionsAllowed)
	}
	return b
}

// Charge counts the removal of a pod, and reports whether it violates a budget. A pod
// stops at the first budget that it violates.
//
// Source: kube-scheduler 1.37, framework/preemption, FilterVictimsWithPDBViolation.
func (b *Budgets) Charge(p *api.Pod) (violates bool) {
	var asked guards
	return b.list.violates(p, b.allowed, &asked)
}

// Leaving reports whether a preemption is removing the pod.
func Leaving(p *api.Pod) bool { return leaving(p) }

// StartsBefore compares the start times of two pods: it is negative if a started earlier.
// A pod that has not started counts as started later than all others.
func StartsBefore(a, b *framework.PodInfo) int { return startOf(a).compare(startOf(b)) }

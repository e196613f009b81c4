package preemption

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/match"
)

// budgets are the PodDisruptionBudgets of the cluster, in the order of their
// keys.
type budgets []budget

type budget struct {
	object   *framework.PodDisruptionBudget
	selector match.LabelSelector
}

func budgetsOf(s *framework.Snapshot) budgets {
	var list budgets
	for _, b := range framework.List[framework.PodDisruptionBudget](s) {
		selector, err := match.NewLabelSelector(b.Spec.Selector)
		if err != nil || selector.SelectsEverything() || selector.SelectsNothing() {
			// A selector that is empty, missing or malformed protects nobody.
			continue
		}
		list = append(list, budget{b, selector})
	}
	return list
}

// split tells which of the pods, taken one after the other, would break a
// budget.
//
// Source: kube-scheduler 1.37, filterPodsWithPDBViolation. A pod without labels
// breaks none, and a pod stops at the first budget that it breaks.
func (b budgets) split(pods []placed) (violating, others []placed) {
	if len(b) == 0 {
		return nil, pods
	}
	allowed := make([]int64, len(b))
	for i := range b {
		allowed[i] = int64(b[i].object.Status.DisruptionsAllowed)
	}
	for _, p := range pods {
		if b.violates(p.Pod, allowed) {
			violating = append(violating, p)
		} else {
			others = append(others, p)
		}
	}
	return violating, others
}

func (b budgets) violates(p *framework.Pod, allowed []int64) bool {
	if len(p.Labels) == 0 {
		return false
	}
	for i := range b {
		object := b[i].object
		if object.Namespace != p.Namespace || !b[i].selector.Matches(p.Labels) {
			continue
		}
		if _, gone := object.Status.DisruptedPods[p.Name]; gone {
			continue // it counts as disrupted already
		}
		if allowed[i]--; allowed[i] < 0 {
			return true
		}
	}
	return false
}

package preemption

import (
	"reflect"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// budgets are the PodDisruptionBudgets of the cluster, in the order of their
// keys.
type budgets []budget

type budget struct {
	object   *api.PodDisruptionBudget
	selector match.LabelSelector
}

func budgetsOf(s *framework.Snapshot) budgets {
	var list budgets
	for _, b := range framework.List[api.PodDisruptionBudget](s) {
		selector, err := match.NewLabelSelector(b.Spec.Selector)
		if err != nil || selector.SelectsEverything() || selector.SelectsNothing() {
			// A selector that is empty, missing or malformed protects no pod.
			continue
		}
		list = append(list, budget{b, selector})
	}
	return list
}

// guards is a set of budgets, by their numbers: one bit for each, and the last bit
// for all the rest.
type guards uint64

func (g *guards) add(i int) { *g |= 1 << min(i, 63) }

// changed returns the budgets that differ from before; false if they do not even
// protect the same pods.
func (b budgets) changed(was budgets) (g guards, ok bool) {
	if len(b) != len(was) {
		return 0, false
	}
	for i := range b {
		x, y := b[i].object, was[i].object
		if x == y {
			continue
		}
		if x.Namespace != y.Namespace || !reflect.DeepEqual(x.Spec.Selector, y.Spec.Selector) {
			return 0, false
		}
		g.add(i)
	}
	return g, true
}

// split splits the pods, taken one after the other, into pods that would break a
// budget and others. It also returns the budgets that it had to read.
//
// Source: kube-scheduler 1.37, filterPodsWithPDBViolation. A pod without labels
// breaks none, and a pod stops at the first budget that it breaks.
func (b budgets) split(pods []placed) (violating, others []placed, asked guards) {
	if len(b) == 0 {
		return nil, pods, 0
	}
	allowed := make([]int64, len(b))
	for i := range b {
		allowed[i] = int64(b[i].object.Status.DisruptionsAllowed)
	}
	for _, p := range pods {
		if p.violations = b.violations(p, allowed, &asked); p.violations > 0 {
			violating = append(violating, p)
		} else {
			others = append(others, p)
		}
	}
	return violating, others, asked
}

// violations counts the pods whose removal violates a budget.
func (b budgets) violations(p placed, allowed []int64, asked *guards) (n int32) {
	if p.unit == nil {
		if b.violates(p.Pod, allowed, asked) {
			n++
		}
		return n
	}
	for _, x := range p.unit.Pods {
		if b.violates(x.Pod.Pod, allowed, asked) {
			n++
		}
	}
	return n
}

func (b budgets) violates(p *api.Pod, allowed []int64, asked *guards) bool {
	if len(p.Labels) == 0 {
		return false
	}
	for i := range b {
		object := b[i].object
		if object.Namespace != p.Namespace || !b[i].selector.Matches(p.Labels) {
			continue
		}
		asked.add(i)
		if _, gone := object.Status.DisruptedPods[p.Name]; gone {
			continue // it counts as disrupted already
		}
		if allowed[i]--; allowed[i] < 0 {
			return true
		}
	}
	return false
}

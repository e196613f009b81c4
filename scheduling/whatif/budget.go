package whatif

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// budgets are the PodDisruptionBudgets of the cluster, with what each still allows.
//
// Source: kube-apiserver 1.37, the eviction subresource. An empty selector covers every
// pod of the namespace, and a pod under several budgets cannot be evicted at all.
type budgets []*budget

type budget struct {
	name      string
	namespace string
	selector  match.LabelSelector
	everyone  bool // the selector is empty
	allowed   int32
}

func budgetsOf(s *framework.Snapshot) (list budgets) {
	for _, o := range framework.List[api.PodDisruptionBudget](s) {
		selector, err := match.NewLabelSelector(o.Spec.Selector)
		if err != nil || selector.SelectsNothing() {
			continue
		}
		list = append(list, &budget{o.Key(), o.Namespace, selector, selector.SelectsEverything(), o.Status.DisruptionsAllowed})
	}
	return list
}

// over returns the budgets that cover the pod.
func (l budgets) over(p *api.Pod) (list budgets) {
	for _, b := range l {
		if b.namespace == p.Namespace && (b.everyone || b.selector.Matches(p.Labels)) {
			list = append(list, b)
		}
	}
	return list
}

// take counts the eviction of a pod. If the budgets forbid it, why says so.
func (l budgets) take(p *api.Pod) (why string) {
	switch over := l.over(p); {
	case len(over) == 0:
		return ""
	case len(over) > 1:
		return "the pod has more than one PodDisruptionBudget, so it cannot be evicted"
	case over[0].allowed <= 0:
		return fmt.Sprintf("PodDisruptionBudget %s allows no disruption", over[0].name)
	default:
		over[0].allowed--
		return ""
	}
}

// restore counts an evicted pod as healthy again.
func (l budgets) restore(p *api.Pod) {
	for _, b := range l.over(p) {
		b.allowed++
	}
}

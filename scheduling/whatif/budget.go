package whatif

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// budgets are the PodDisruptionBudgets of the cluster, with what each still allows.
//
// Source: kube-apiserver 1.37, the eviction subresource. An empty selector covers every
// pod of the namespace, and a pod under several budgets cannot be evicted at all. A pod
// that does not run, or is terminating, needs no budget. A pod that is not ready needs
// none either if its budget has the healthy pods that it desires, or says AlwaysAllow.
type budgets []*budget

type budget struct {
	name      string
	namespace string
	selector  match.LabelSelector
	everyone  bool // the selector is empty
	unready   bool // pods that are not ready may go
	allowed   int32
}

func budgetsOf(s *framework.Snapshot) (list budgets) {
	for _, o := range framework.List[api.PodDisruptionBudget](s) {
		selector, err := match.NewLabelSelector(o.Spec.Selector)
		if err != nil || selector.SelectsNothing() {
			continue
		}
		list = append(list, &budget{o.Key(), o.Namespace, selector, selector.SelectsEverything(), unreadyMayGo(o), o.Status.DisruptionsAllowed})
	}
	return list
}

// unreadyMayGo reports whether the budget lets pods go that are not ready.
func unreadyMayGo(b *api.PodDisruptionBudget) bool {
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == api.AlwaysAllow {
		return true
	}
	return b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy
}

// over returns the budgets that cover the pod, at most two: none if it does not run.
func (l budgets) over(p *api.Pod) (list budgets) {
	switch p.Status.Phase {
	case api.PodPending, api.PodSucceeded, api.PodFailed:
		return nil
	}
	if p.DeletionTimestamp != nil {
		return nil
	}
	for _, b := range l {
		if b.namespace == p.Namespace && (b.everyone || b.selector.Matches(p.Labels)) {
			if list = append(list, b); len(list) == 2 {
				break
			}
		}
	}
	return list
}

// guard returns the budget that counts the eviction of the pod, nil if there is none. If
// several budgets cover the pod, it is not alone.
func (l budgets) guard(p *api.Pod) (b *budget, alone bool) {
	switch over := l.over(p); {
	case len(over) > 1:
		return over[0], false
	case len(over) == 0 || over[0].unready && !ready(p):
		return nil, true
	default:
		return over[0], true
	}
}

// ready reports whether no condition of the pod says that it is not ready.
func ready(p *api.Pod) bool {
	return !slices.ContainsFunc(p.Status.Conditions, func(c api.PodCondition) bool {
		return c.Type == api.PodReady && c.Status != api.ConditionTrue
	})
}

const severalBudgets = "the pod has more than one PodDisruptionBudget, so it cannot be evicted"

// refusal says that the budget allows no eviction.
func (b *budget) refusal() string {
	return fmt.Sprintf("PodDisruptionBudget %s allows no disruption", b.name)
}

// take counts the eviction of a pod. If the budgets forbid it, why says so.
func (l budgets) take(p *api.Pod) (why string) {
	switch b, alone := l.guard(p); {
	case !alone:
		return severalBudgets
	case b == nil:
		return ""
	case b.allowed <= 0:
		return b.refusal()
	default:
		b.allowed--
		return ""
	}
}

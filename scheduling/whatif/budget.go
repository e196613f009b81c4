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
type budgets struct {
	of    map[budgetKey][]*budget
	taken []*budget // those that counted an eviction, in order

	placed map[*api.Pod]bool // by the question: they run, though their form is that of a pod that waits
}

// A budgetKey is a label of pods that a selector demands, or none.
type budgetKey struct{ namespace, key, value string }

type budget struct {
	place    int // in the list of all
	name     string
	selector match.LabelSelector
	unready  bool // pods that are not ready may go
	allowed  int32
}

func budgetsOf(s *framework.Snapshot) *budgets {
	l := &budgets{of: map[budgetKey][]*budget{}, placed: map[*api.Pod]bool{}}
	for i, o := range framework.List[api.PodDisruptionBudget](s) {
		selector, err := match.NewLabelSelector(o.Spec.Selector)
		if err != nil || selector.SelectsNothing() {
			continue
		}
		at := budgetKey{namespace: o.Namespace}
		for key, value := range o.Spec.Selector.MatchLabels {
			if key != "" && (at.key == "" || key < at.key) {
				at.key, at.value = key, value
			}
		}
		l.of[at] = append(l.of[at], &budget{i, o.Key(), selector, unreadyMayGo(o), o.Status.DisruptionsAllowed})
	}
	return l
}

// undo takes back the evictions that were counted after the first n.
func (l *budgets) undo(n int) {
	for _, b := range l.taken[n:] {
		b.allowed++
	}
	l.taken = l.taken[:n]
}

// unreadyMayGo reports whether the budget lets pods go that are not ready.
func unreadyMayGo(b *api.PodDisruptionBudget) bool {
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == api.AlwaysAllow {
		return true
	}
	return b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy
}

// over returns the first budget that covers the pod, and reports whether it is the only one:
// none if the pod does not run.
func (l *budgets) over(p *api.Pod) (first *budget, alone bool) {
	if p.Status.Phase == api.PodPending && !l.placed[p] || p.Status.Phase.HasEnded() || p.DeletionTimestamp != nil {
		return nil, true
	}
	alone = true
	look := func(at budgetKey) {
		for _, b := range l.of[at] {
			if !b.selector.Matches(p.Labels) {
				continue
			}
			if first == nil {
				first = b
				continue
			}
			alone = false
			if b.place < first.place {
				first = b
			}
			return // those behind it have later places
		}
	}
	look(budgetKey{namespace: p.Namespace})
	for key, value := range p.Labels {
		if key != "" {
			look(budgetKey{p.Namespace, key, value})
		}
	}
	return first, alone
}

// guard returns the budget that counts the eviction of the pod, nil if there is none. If
// several budgets cover the pod, it is not alone.
func (l *budgets) guard(p *api.Pod) (b *budget, alone bool) {
	b, alone = l.over(p)
	if alone && b != nil && b.unready && !ready(p) {
		return nil, true
	}
	return b, alone
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
func (l *budgets) take(p *api.Pod) (why string) {
	switch b, alone := l.guard(p); {
	case !alone:
		return severalBudgets
	case b == nil:
		return ""
	case b.allowed <= 0:
		return b.refusal()
	default:
		b.allowed--
		l.taken = append(l.taken, b)
		return ""
	}
}

package preemption

import (
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// budgets are the PodDisruptionBudgets of the cluster, by namespace and then in the order
// of their keys.
type budgets []budget

type budget struct {
	object   *api.PodDisruptionBudget
	selector match.LabelSelector
}

// A snapshot has one list at a time, and all that keep it share it. If budgets change, which
// they do whenever a pod that they protect leaves, only those are compiled anew.
func budgetsOf(s *framework.Snapshot) budgets {
	x := budgetsKey.Of(s)
	if v := framework.ObjectsVersion[api.PodDisruptionBudget](s); v != x.version {
		x.renew(framework.List[api.PodDisruptionBudget](s))
		x.version = v
	}
	return x.list
}

// A budgetIndex holds the budgets of a snapshot at a version. Its lists never change.
type budgetIndex struct {
	version uint64
	byKey   budgets // all of them, also those that protect no pod
	list    budgets
}

var budgetsKey = framework.NewExtensionKey(func(*framework.Snapshot) *budgetIndex { return new(budgetIndex) })

// Fork implements [framework.Extension].
func (x *budgetIndex) Fork(*framework.Snapshot) framework.Extension {
	f := *x
	return &f
}

// renew compiles the budgets that are new in a list that is sorted by key.
func (x *budgetIndex) renew(objects []*api.PodDisruptionBudget) {
	known, byKey, list := x.byKey, make(budgets, 0, len(objects)), make(budgets, 0, len(objects))
	for _, o := range objects {
		for len(known) > 0 && known[0].object != o && api.KeyOf(known[0].object) <= api.KeyOf(o) {
			known = known[1:]
		}
		b := budget{object: o}
		if len(known) > 0 && known[0].object == o {
			b, known = known[0], known[1:]
		} else {
			b.selector, _ = match.NewLabelSelector(o.Spec.Selector) // selects nothing if there is an error
		}
		byKey = append(byKey, b)
		if !b.selector.SelectsEverything() && !b.selector.SelectsNothing() { // an empty one protects no pod
			list = append(list, b)
		}
	}
	byNamespace := func(a, b budget) int { return strings.Compare(a.object.Namespace, b.object.Namespace) }
	if !slices.IsSortedFunc(list, byNamespace) { // keys sort almost like that
		slices.SortStableFunc(list, byNamespace)
	}
	x.byKey, x.list = byKey, slices.Clip(list)
}

// in returns where the budgets of a namespace begin.
func (b budgets) in(namespace string) int {
	i, _ := slices.BinarySearchFunc(b, namespace, func(x budget, of string) int { return strings.Compare(x.object.Namespace, of) })
	return i
}

// charges counts the pods that leave, by the number of a budget that protects them.
type charges map[int]int64

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
	gone := charges{}
	for _, p := range pods {
		if p.violations = b.violations(p, gone, &asked); p.violations > 0 {
			violating = append(violating, p)
		} else {
			others = append(others, p)
		}
	}
	return violating, others, asked
}

// violations counts the pods whose removal violates a budget.
func (b budgets) violations(p placed, gone charges, asked *guards) (n int32) {
	if p.unit == nil {
		if b.violates(p.Pod, gone, asked) {
			n++
		}
		return n
	}
	for _, x := range p.unit.Pods {
		if b.violates(x.Pod.Pod, gone, asked) {
			n++
		}
	}
	return n
}

func (b budgets) violates(p *api.Pod, gone charges, asked *guards) bool {
	if len(p.Labels) == 0 {
		return false
	}
	for i := b.in(p.Namespace); i < len(b) && b[i].object.Namespace == p.Namespace; i++ {
		if !b[i].selector.Matches(p.Labels) {
			continue
		}
		asked.add(i)
		status := &b[i].object.Status
		if _, disrupted := status.DisruptedPods[p.Name]; disrupted {
			continue // it counts already
		}
		if gone[i]++; gone[i] > int64(status.DisruptionsAllowed) {
			return true
		}
	}
	return false
}

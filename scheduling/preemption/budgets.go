package preemption

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// budgets are the PodDisruptionBudgets of the cluster that protect pods, by namespace and
// name. Such a list never changes.
type budgets []*budget

type budget struct {
	object   *api.PodDisruptionBudget
	selector match.LabelSelector
}

func compare(a *budget, b *api.PodDisruptionBudget) int {
	return cmp.Or(strings.Compare(a.object.Namespace, b.Namespace), strings.Compare(a.object.Name, b.Name))
}

// A budgetIndex holds the budgets of a snapshot. All that keep its list share it. It follows
// changes, which come whenever a pod that a budget protects leaves: what a change costs does
// not grow with the budgets, but for one copy of the list for all changes between questions.
//
// Invariant: unless stale is set, list is right but for the keys in changed. They are few
// beside the budgets.
type budgetIndex struct {
	list    budgets
	changed map[string]struct{}
	stale   bool
	odd     bool // a key does not tell the namespace, so no change is followed
}

var budgetsKey = framework.NewExtensionKey(func(*framework.Snapshot) *budgetIndex { return &budgetIndex{stale: true} })

func budgetsOf(s *framework.Snapshot) budgets {
	x := budgetsKey.Of(s)
	switch {
	case x.stale:
		x.build(framework.List[api.PodDisruptionBudget](s))
		if s.Recording() && !s.RollingBack() {
			s.Record(undoBudget{x, ""}) // earlier changes of the transaction were not followed
		}
	case len(x.changed) > 0:
		x.renew(s)
	}
	return x.list
}

// Fork implements [framework.Extension].
func (x *budgetIndex) Fork(*framework.Snapshot) framework.Extension {
	f := *x
	f.changed = maps.Clone(x.changed)
	return &f
}

// ObjectChanged implements [framework.ObjectWatcher].
func (x *budgetIndex) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	if _, ok := obj.(*api.PodDisruptionBudget); !ok {
		return
	}
	x.note(key)
	if s.Recording() && !s.RollingBack() {
		s.Record(undoBudget{x, key})
	}
}

// undoBudget notes that a rollback changes the budget of a key, or any budget.
type undoBudget struct {
	index *budgetIndex
	key   string
}

// Undo implements [framework.Undoer].
func (u undoBudget) Undo(*framework.Snapshot) {
	if u.key == "" {
		u.index.stale = true
	}
	u.index.note(u.key)
}

// fewChanges is up to how many changes are followed, whatever the number of budgets.
const fewChanges = 64

func (x *budgetIndex) note(key string) {
	if x.stale || x.odd || len(x.changed) >= fewChanges+len(x.list)/4 {
		x.stale, x.changed = true, nil
		return
	}
	if x.changed == nil {
		x.changed = map[string]struct{}{}
	}
	x.changed[key] = struct{}{}
}

// compile returns nil for a budget that protects no pod: its selector is empty or malformed.
func compile(o *api.PodDisruptionBudget) *budget {
	selector, err := match.NewLabelSelector(o.Spec.Selector)
	if err != nil || selector.SelectsEverything() || selector.SelectsNothing() {
		return nil
	}
	return &budget{o, selector}
}

// build compiles the budgets that are new in a list of all.
func (x *budgetIndex) build(objects []*api.PodDisruptionBudget) {
	*x = budgetIndex{list: x.list}
	known := make(map[*api.PodDisruptionBudget]*budget, len(x.list))
	for _, b := range x.list {
		known[b.object] = b
	}
	list := make(budgets, 0, len(objects))
	for _, o := range objects {
		x.odd = x.odd || o.Namespace == "" || strings.Contains(o.Name, "/")
		b := known[o]
		if b == nil {
			b = compile(o)
		}
		if b != nil {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b *budget) int { return compare(a, b.object) })
	x.list = slices.Clip(list)
}

// renew follows the changes in a copy of the list.
func (x *budgetIndex) renew(s *framework.Snapshot) {
	x.list = slices.Clone(x.list)
	for key := range x.changed {
		o := framework.Lookup[api.PodDisruptionBudget](s, key)
		var at api.PodDisruptionBudget
		at.Namespace, at.Name, _ = strings.Cut(key, "/")
		if o != nil && (o.Namespace == "" || o.Namespace != at.Namespace || o.Name != at.Name) {
			x.build(framework.List[api.PodDisruptionBudget](s))
			return
		}
		i, known := slices.BinarySearchFunc(x.list, &at, compare)
		var b *budget
		switch {
		case known && x.list[i].object == o:
			continue
		case o != nil:
			b = compile(o)
		}
		switch {
		case known && b != nil:
			x.list[i] = b
		case known:
			x.list = slices.Delete(x.list, i, i+1)
		case b != nil:
			x.list = slices.Insert(x.list, i, b)
		}
	}
	clear(x.changed)
}

// in returns where the budgets of a namespace begin.
func (b budgets) in(namespace string) int {
	i, _ := slices.BinarySearchFunc(b, namespace, func(x *budget, of string) int { return strings.Compare(x.object.Namespace, of) })
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
		if b[i] == was[i] {
			continue
		}
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

package preemption

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Unit is pods that are removed together: one pod, or all pods below a group whose
// disruption mode is all.
type Unit struct {
	// Group is "namespace/name" of the group whose pods leave together, "" for one pod.
	// Composite is set if it is a CompositePodGroup.
	Group     string
	Composite bool
	// Pods are its pods with their nodes, in the order of the snapshot.
	Pods []UnitPod

	importance
}

// A UnitPod is a pod of a [Unit] and its node.
type UnitPod struct {
	Pod  *framework.PodInfo
	Node *framework.NodeInfo
}

// Priority is that of the root of the pods' groups, or of the pod if it has no group.
func (u *Unit) Priority() int32 { return u.priority }

// Compare compares the importance of units as kube-scheduler does: higher priority first,
// then composite groups, groups and pods in this order, then more pods, then the earliest
// start. A pod that belongs to some group counts as a group. The result is negative if u
// is more important than other.
//
// Source: kube-scheduler 1.37, framework/preemption, MoreImportantVictim.
func (u *Unit) Compare(other *Unit) int { return u.compare(other.importance) }

// importance is what orders units, and what the values of candidates are made of. The
// start is that of the pod that started first.
type importance struct {
	start
	priority   int32
	kind, pods int32
}

// The kinds of units, the more important ones larger.
const (
	onePod int32 = iota
	podGroup
	compositeGroup
)

func (a importance) compare(b importance) int {
	switch {
	case a.priority != b.priority:
		return cmp.Compare(b.priority, a.priority)
	case a.kind != b.kind:
		return cmp.Compare(b.kind, a.kind)
	case a.pods != b.pods:
		return cmp.Compare(b.pods, a.pods)
	}
	return a.start.compare(b.start)
}

// UnitsOf lists the units of all pods on nodes, in the order of the snapshot: PodGroups and
// CompositePodGroups of the snapshot say which pods leave together.
//
// Cost: O(pods).
//
// Source: kube-scheduler 1.37, framework/preemption, getCrossNodesVictims.
func UnitsOf(s *framework.Snapshot) (list []*Unit) {
	whole := map[lineage]*Unit{}
	for _, n := range s.All() {
		for _, p := range n.Pods {
			l, key := lineageOf(s, p), lineage{}
			if l.whole != "" {
				key = lineage{namespace: p.Pod.Namespace, whole: l.whole, composite: l.composite}
				if u := whole[key]; u != nil {
					u.Pods = append(u.Pods, UnitPod{p, n})
					u.pods++
					if begin := startOf(p); begin.compare(u.start) < 0 {
						u.start = begin
					}
					continue
				}
			}
			u := &Unit{Pods: []UnitPod{{p, n}}, importance: importanceOf(p, l)}
			if l.whole != "" {
				u.Group, u.Composite = (&api.ObjectMeta{Namespace: p.Pod.Namespace, Name: l.whole}).Key(), l.composite
				whole[key] = u
			}
			list = append(list, u)
		}
	}
	return list
}

// importanceOf is the importance of the pod alone.
func importanceOf(p *framework.PodInfo, l lineage) importance {
	x := importance{start: startOf(p), priority: l.priority, pods: 1}
	switch {
	case l.composite:
		x.kind = compositeGroup
	case p.Pod.Spec.SchedulingGroup != nil:
		x.kind = podGroup
	}
	return x
}

// lineage is what the groups above a pod make of it.
type lineage struct {
	priority  int32  // of the root; the pod's own if no group exists
	namespace string // only in keys
	whole     string // the name of the highest group whose pods leave together, "" if none
	composite bool   // whole is a composite
}

// lineageOf follows the parents of the pod's group as far as they exist.
//
// Source: kube-scheduler 1.37, framework/preemption, GetPodPriority.
func lineageOf(s *framework.Snapshot, p *framework.PodInfo) lineage {
	l := lineage{priority: p.Priority}
	name := p.Pod.SchedulingGroupName()
	if name == "" {
		return l
	}
	g := framework.Lookup[api.PodGroup](s, (&api.ObjectMeta{Namespace: p.Pod.Namespace, Name: name}).Key())
	if g == nil {
		return l
	}
	l.priority = g.Priority()
	if g.DisruptAll() {
		l.whole = g.Name
	}
	parent := g.Spec.ParentCompositePodGroupName
	for range api.CompositePodGroupDepth - 1 {
		if parent == nil {
			break
		}
		c := framework.Lookup[api.CompositePodGroup](s, (&api.ObjectMeta{Namespace: p.Pod.Namespace, Name: *parent}).Key())
		if c == nil {
			break
		}
		l.priority = c.Priority()
		if c.DisruptAll() {
			l.whole, l.composite = c.Name, true
		}
		parent = c.Spec.ParentCompositePodGroupName
	}
	return l
}

// groupsIn reports whether the snapshot has a PodGroup. Without, each pod is a unit.
func groupsIn(s *framework.Snapshot) bool { return framework.Any[api.PodGroup](s) }

// hasGroups reports whether a pod on the node is of a group.
func hasGroups(n *framework.NodeInfo) bool {
	return slices.ContainsFunc(n.Pods, func(p *framework.PodInfo) bool { return p.Pod.Spec.SchedulingGroup != nil })
}

// unitsByPod leads from each pod on a node to its unit.
func unitsByPod(s *framework.Snapshot) map[*framework.PodInfo]*Unit {
	units := map[*framework.PodInfo]*Unit{}
	for _, u := range UnitsOf(s) {
		for _, p := range u.Pods {
			units[p.Pod] = u
		}
	}
	return units
}

// PriorityOf is the priority that a pod has as a victim: that of the root of its groups,
// or its own if it has none that exists.
func PriorityOf(s *framework.Snapshot, p *framework.PodInfo) int32 { return lineageOf(s, p).priority }

// Budgets are the PodDisruptionBudgets of a cluster, in the order of their keys, with what
// each still allows. A program that removes several pods charges them one after the other.
type Budgets struct {
	list budgets
	gone charges
}

// BudgetsOf returns the budgets of the snapshot, with nothing charged yet.
func BudgetsOf(s *framework.Snapshot) *Budgets {
	return &Budgets{budgetsOf(s), charges{}}
}

// Charge counts the removal of a pod, and reports whether it violates a budget. A pod
// stops at the first budget that it violates.
//
// Source: kube-scheduler 1.37, framework/preemption, FilterVictimsWithPDBViolation.
func (b *Budgets) Charge(p *api.Pod) (violates bool) {
	var asked guards
	return b.list.violates(p, b.gone, &asked)
}

// Leaving reports whether a preemption is removing the pod.
func Leaving(p *api.Pod) bool { return leaving(p) }

// StartsBefore compares the start times of two pods: it is negative if a started earlier.
// A pod that has not started counts as started later than all others.
func StartsBefore(a, b *framework.PodInfo) int { return startOf(a).compare(startOf(b)) }

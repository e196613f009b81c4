package gang

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// An Eviction says which pods would have to leave so that a group stands.
type Eviction struct {
	// Status is Success if victims were found or are leaving already, Unschedulable if
	// none help for now, and UnschedulableAndUnresolvable if there are none.
	Status framework.Code `json:"-"`
	// Text is kube-scheduler's text.
	Text string `json:"text"`
	// Ongoing is set if pods are leaving for the group already: there are no new victims.
	Ongoing bool `json:"ongoing,omitempty"`
	// Units are what has to leave, most important first.
	Units []Unit `json:"units,omitempty"`
	// Nominated are the places of the group's pods once the victims have left.
	Nominated []Placement `json:"nominated,omitempty"`
	// Outcome is what came of placing the group without the victims; nil if it was not
	// tried. Set is the same for a set.
	Outcome *Outcome    `json:"outcome,omitempty"`
	Set     *SetOutcome `json:"set,omitempty"`
}

// Victims lists the pods of all units.
func (e *Eviction) Victims() (list []Member) {
	for _, u := range e.Units {
		list = append(list, u.Members...)
	}
	return list
}

// A Unit is pods that leave together: one pod, or all pods of a group that may only be
// disrupted as a whole.
type Unit struct {
	// Group is "namespace/name" of the group whose pods leave together, "" for one pod.
	// Composite is set if it is a CompositePodGroup.
	Group     string `json:"group,omitempty"`
	Composite bool   `json:"composite,omitempty"`
	// Priority is that of the root of the pods' groups, or of the pod if it has none.
	Priority int32 `json:"priority"`
	// ViolatesBudget is set if removing one of the pods violates a PodDisruptionBudget.
	ViolatesBudget bool     `json:"violatesBudget,omitempty"`
	Members        []Member `json:"-"`

	first *framework.PodInfo // to have started
	index int                // in the order of importance
}

const (
	prefixPreemption = "pod group preemption: "
	textNever        = "not eligible due to preemptionPolicy=Never."
	textOngoing      = "ongoing preemption on nominated nodes"
	textNoVictims    = "No preemption victims found for incoming preemptor"
)

// Preempt finds pods of lower priority whose leaving lets the group stand. The snapshot
// stays as it is. It counts the PodDisruptionBudgets and PodGroups of the snapshot.
//
// Under Kubernetes137 all pods that may leave are taken out of the whole cluster, and the
// group is placed. Then the units are put back one by one, the most important first, as
// long as every pod of the group still passes the filters on its node.
//
// Under other rules this is done for each domain that the group may be in. Only units with
// a pod there leave, and only the minimum is placed. Of all domains and nodes, those win
// whose victims do the least harm: the fewest units that violate a budget, then the lowest
// highest priority, the fewest groups, the lowest sum of priorities, each raised by 2^31 so
// that every pod counts, the fewest pods, and the latest start of the most important
// victim. Less harm comes before Preferred levels and before the rule for domains.
//
// Choosing victims is hard in general, so the choice is exact only if [Rules.Search] lets
// the search end: then no other nodes and victims do less harm, as far as the search for
// places is exact itself; [Outcome.Proved] names the pods for which it is not. Otherwise
// the highest priority is the lowest one if no budget is violated and the pods are of one
// class; the number of victims is that of a greedy choice, node by node, which a few more
// attempts improve.
//
// Source: kube-scheduler 1.37, framework/preemption, podgrouppreemption.go.
//
// Differs: a victim beside which anti-affinity or a spread constraint allows none of the group's pods.
// Original: kube-scheduler asks about victims that return with the PreFilter state of the cluster without
// any of them. So a plugin that had nothing to do then is not asked, and the victim stays.
// Here: PreFilter is asked anew.
// Why: the group could not be placed beside such a pod.
//
// Differs: victims of a group whose pods are nominated from before.
// Original: kube-scheduler's filters may count a pod on its node and, nominated, once more, so no victim may
// return.
// Here: it counts once.
// Why: the other pods would leave for nothing.
//
// Differs: units that are equally important.
// Original: kube-scheduler's sort is not stable.
// Here: they keep the order of the snapshot.
// Why: the answer must be the same on every run.
func (p *Placer) Preempt(snap *framework.Snapshot, g *Group) (*Eviction, error) {
	if err := p.check(snap, g); err != nil {
		return nil, err
	}
	return p.preempt(snap, g, g)
}

// PreemptSet is Preempt for a tree of groups, with the priority of its root. The numbers
// of the pods in Nominated count the pods of all groups in order.
//
// Differs: pods that fit of a group or inner set that does not stand, if the tree does.
// Original: kube-scheduler nominates them, and keeps room for them: often all pods that may
// leave do.
// Here: they fall with their group or set.
// Why: these pods will not be placed, so nothing should leave for them.
//
// Differs: the order in which the pods of several groups are checked again.
// Original: kube-scheduler follows map order of the groups.
// Here: the order of the tree.
// Why: the answer must be the same on every run.
func (p *Placer) PreemptSet(snap *framework.Snapshot, s *Set) (*Eviction, error) {
	if err := p.checkTree(snap, s); err != nil {
		return nil, err
	}
	return p.preempt(snap, s.merged(), s)
}

// preempt preempts for the pods of g. what is the group, or the set whose pods they are.
func (p *Placer) preempt(snap *framework.Snapshot, g *Group, what Child) (*Eviction, error) {
	refused := func(code framework.Code, text string) (*Eviction, error) {
		return &Eviction{Status: code, Text: prefixPreemption + text}, nil
	}
	for _, pod := range g.Pods {
		if policy := pod.Pod.Spec.PreemptionPolicy; policy != nil && *policy == api.PreemptNever {
			return refused(framework.Unschedulable, textNever)
		}
	}
	if len(g.Awaits) > 0 || ongoing(snap, g) {
		e := &Eviction{Status: framework.Success, Text: prefixPreemption + textOngoing, Ongoing: true}
		for i, pod := range g.Pods {
			if node := g.nominated(i); node != "" {
				e.Nominated = append(e.Nominated, Placement{Pod: pod.Pod.Key(), Node: node, index: i})
			}
		}
		return e, nil
	}
	units := unitsBelow(snap, g.Priority)
	if len(units) == 0 {
		return refused(framework.UnschedulableAndUnresolvable, textNoVictims)
	}
	if p.rules.kubernetes() {
		return p.evict(snap, g, what, units, nil)
	}
	return p.evictFromBest(snap, g, what, units)
}

// nominated is the node that a pod of the group is nominated to, "" for none.
func (g *Group) nominated(i int) string {
	if len(g.Awaits) > 0 {
		return g.Awaits[i]
	}
	return g.Pods[i].Pod.Status.NominatedNodeName
}

// ongoing reports whether a pod of lower priority is being removed from a node that a pod
// of the group is nominated to.
func ongoing(snap *framework.Snapshot, g *Group) bool {
	for _, pod := range g.Pods {
		n := snap.Node(pod.Pod.Status.NominatedNodeName)
		if n == nil {
			continue
		}
		for _, q := range n.Pods {
			if preemption.PriorityOf(snap, q) < g.Priority && preemption.Leaving(q.Pod) {
				return true
			}
		}
	}
	return false
}

// unitsBelow lists the units of lower priority, the most important first.
func unitsBelow(snap *framework.Snapshot, priority int32) (list []*Unit) {
	all := preemption.UnitsOf(snap)
	all = slices.DeleteFunc(all, func(u *preemption.Unit) bool { return u.Priority() >= priority })
	slices.SortStableFunc(all, (*preemption.Unit).Compare)
	budgets := preemption.BudgetsOf(snap)
	for _, from := range all {
		u := &Unit{Group: from.Group, Composite: from.Composite, Priority: from.Priority()}
		for _, p := range from.Pods {
			u.Members = append(u.Members, Member{p.Pod, p.Node.Name()})
			if u.first == nil || preemption.StartsBefore(p.Pod, u.first) < 0 {
				u.first = p.Pod
			}
			if budgets.Charge(p.Pod.Pod) {
				u.ViolatesBudget = true
			}
		}
		u.index = len(list)
		list = append(list, u)
	}
	return list
}

func (u *Unit) remove(snap *framework.Snapshot) error {
	for _, m := range u.Members {
		if err := snap.RemovePod(m.Pod, m.Node); err != nil {
			return err
		}
	}
	return nil
}

func (u *Unit) putBack(snap *framework.Snapshot) error {
	for _, m := range u.Members {
		if err := snap.AddPod(m.Pod, m.Node); err != nil {
			return err
		}
	}
	return nil
}

// evict takes out all units, places the group or set, among the nodes of a domain or
// anywhere, and puts back the units that may stay.
func (p *Placer) evict(snap *framework.Snapshot, g *Group, what Child, units []*Unit, within *domain) (*Eviction, error) {
	mark := snap.Begin()
	defer snap.Rollback(mark)
	for _, u := range units {
		if err := u.remove(snap); err != nil {
			return nil, err
		}
	}
	e, text, err := p.tryWithout(snap, what, within)
	if err != nil {
		return nil, err
	}
	if text != "" {
		e.Status, e.Text = framework.Unschedulable, prefixPreemption+text
		return e, nil
	}
	withdraw(snap, g)
	x := p.reprieval(snap, g, e.Nominated)
	gone, err := x.putBack(violatorsFirst(units))
	for again := !p.rules.kubernetes(); again && err == nil; { // what has returned may let another return
		was := len(gone)
		gone, err = x.putBack(gone)
		again = len(gone) < was
	}
	if err != nil {
		return nil, err
	}
	pods, out := 0, make(map[*Unit]bool, len(gone))
	for _, u := range gone {
		out[u] = true
	}
	for _, u := range units {
		if out[u] {
			e.Units = append(e.Units, *u)
			pods += len(u.Members)
		}
	}
	e.Text = fmt.Sprintf("%sfound a placement for podgroup, preempting %d victims", prefixPreemption, pods)
	return e, nil
}

// violatorsFirst orders units as they are put back: those that violate a budget first.
func violatorsFirst(units []*Unit) []*Unit {
	order := slices.Clone(units)
	slices.SortStableFunc(order, func(a, b *Unit) int { return cmp.Compare(b.violations(), a.violations()) })
	return order
}

func (u *Unit) violations() int {
	if u.ViolatesBudget {
		return 1
	}
	return 0
}

// tryWithout tries the group or set now that the units are out. text says why it does not
// stand, "" if it does.
func (p *Placer) tryWithout(snap *framework.Snapshot, what Child, within *domain) (e *Eviction, text string, err error) {
	mark := snap.Begin()
	defer snap.Rollback(mark)
	if s, ok := what.(*Set); ok {
		out, err := p.rootSet(snap, s, within)
		if err != nil {
			return nil, "", err
		}
		return &Eviction{Set: out, Nominated: out.placed(s)}, out.Text, nil
	}
	out, err := what.place(p, snap, within)
	if err != nil {
		return nil, "", err
	}
	return &Eviction{Outcome: out.Group, Nominated: out.Group.Placed}, out.Group.Text, nil
}

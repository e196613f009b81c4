package whatif

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/podsize"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// repaired finds remedies for a node that filters reject. It tries every mix of the
// ways to meet the demands on the node, the constraints, and the shortages; what is
// then still in the way, pods are removed for.
func (x *whyNot) repaired(rejections []scheduling.NodeRejection) ([]Remedy, error) {
	var found [][]Change
	for _, demands := range x.demandRepairs() {
		ways := x.constraintRepairs()
		// If other pods are not in the way of a small pod, no constraint is.
		small, err := x.feasible(slices.Concat(x.tolerations(), demands, x.emptied(rejections)))
		if err != nil {
			return nil, err
		}
		if small {
			ways = ways[:1]
		}
		for _, constraints := range ways {
			for _, lower := range []bool{true, false} {
				changes := slices.Concat(x.tolerations(), demands, constraints)
				if lower {
					changes = append(changes, x.emptied(rejections)...)
				}
				changes, ok, err := x.enough(changes)
				if err != nil {
					return nil, err
				}
				if ok {
					found = append(found, changes)
				}
			}
		}
	}
	var settled [][]Change
	for _, changes := range smallest(found) {
		ok, err := x.wins(changes)
		if err == nil && !ok {
			if changes, err = x.pinned(changes); err == nil {
				ok, err = x.wins(changes)
			}
		}
		if err == nil && ok {
			if changes, err = x.settle(changes); err == nil {
				changes, err = x.proven(changes)
			}
			settled = append(settled, changes)
		}
		if err != nil {
			return nil, err
		}
	}
	list := []Remedy{}
	for _, changes := range smallest(settled) {
		list = append(list, x.remedy(changes))
	}
	return list, nil
}

// proven searches once more for the fewest pods, if what settle left out was not what the search before assumed.
func (x *whyNot) proven(changes []Change) ([]Change, error) {
	if x.isProved(changes) {
		return changes, nil
	}
	others := withoutRemovals(changes)
	removed, err := x.removals(others)
	if err != nil || removed == nil || len(others)+len(removed) >= len(changes) {
		return changes, err
	}
	fewer := with(others, removed...)
	ok, err := x.wins(fewer)
	if !ok {
		return changes, err
	}
	return fewer, err
}

// pinned adds a pin to the changes, which narrows what spread constraints count: so fewer pods may have to go.
func (x *whyNot) pinned(changes []Change) ([]Change, error) {
	pin := Change{Kind: ChangePin, To: x.node.Name}
	others := withoutRemovals(changes)
	if len(others) == len(changes) {
		return with(changes, pin), nil
	}
	switch ok, err := x.feasible(with(others, pin)); {
	case err != nil:
		return nil, err
	case ok:
		return with(others, pin), nil
	}
	removed, err := x.removals(with(others, pin))
	if err != nil || removed == nil {
		return with(changes, pin), err
	}
	return with(with(others, removed...), pin), nil
}

// wins reports whether the pod goes to the node with the changes.
func (x *whyNot) wins(changes []Change) (bool, error) {
	if ok, err := x.feasible(changes); !ok || err != nil { // which costs a node, not a decision
		return false, err
	}
	name, err := x.decide(changes)
	return name == x.node.Name, err
}

// settle leaves out what a decision does not need, and raises requests as far as it
// can. A pin narrows what spread constraints count, and a label taken off may meet a
// term, so a change may be needless because of a later one.
func (x *whyNot) settle(changes []Change) ([]Change, error) {
	for i := 0; i < len(changes); {
		fewer := slices.Delete(slices.Clone(changes), i, i+1)
		ok, err := x.wins(fewer)
		if err != nil {
			return nil, err
		}
		if ok {
			changes, i = fewer, 0
		} else {
			i++
		}
	}
	for i := range changes {
		c := &changes[i]
		if c.Kind != ChangeRequest {
			continue
		}
		var failed error
		at := func(amount int64) bool {
			c.Amount = amount
			ok, err := x.wins(changes)
			if err != nil {
				failed = err
			}
			return ok
		}
		lowest := c.Amount
		if more := lowest + 1; at(more) {
			lowest = between(c.Was, more, at)
		}
		if c.Amount = lowest; failed != nil {
			return nil, failed
		}
	}
	return changes, nil
}

// enough completes the changes by the removal of pods if need be, and leaves out and
// cuts back what is not needed. It returns false if the node stays infeasible.
func (x *whyNot) enough(changes []Change) (_ []Change, ok bool, err error) {
	if ok, err = x.feasible(changes); err != nil {
		return nil, false, err
	}
	if !ok {
		removed, err := x.removals(changes)
		if err != nil || removed == nil {
			return nil, false, err
		}
		changes = with(changes, removed...)
	}
	for i := 0; i < len(changes); {
		fewer := slices.Delete(slices.Clone(changes), i, i+1)
		spare, err := x.feasible(fewer)
		if err != nil {
			return nil, false, err
		}
		if spare {
			changes = fewer
		} else {
			i++
		}
	}
	for i := range changes {
		if err := x.raise(changes, i); err != nil {
			return nil, false, err
		}
	}
	return changes, true, nil
}

// raise raises a lowered request as far as the node stays feasible.
func (x *whyNot) raise(changes []Change, i int) (err error) {
	c := &changes[i]
	if c.Kind != ChangeRequest {
		return nil
	}
	fits := func(amount int64) bool {
		c.Amount = amount
		ok, e := x.feasible(changes)
		if e != nil {
			err = e
		}
		return ok
	}
	// Mostly it is what the node has free.
	lowest, free := c.Amount, x.free(changes, resource.Name(c.Name))
	if free > lowest && free < c.Was && fits(free) && !fits(free+1) {
		c.Amount = free
		return err
	}
	c.Amount = between(c.Was, lowest, fits)
	return err
}

// free is what the node has free of a resource once the pods of the changes are removed.
func (x *whyNot) free(changes []Change, name resource.Name) int64 {
	s := x.planner.snapshot
	n := s.Node(x.node.Name)
	i, ok := s.Schema().Index(name)
	if !ok {
		return 0
	}
	free := n.Allocatable.At(i) - n.Requested.At(i)
	for _, c := range changes {
		if c.Kind == ChangeRemove && c.From == n.Name() {
			if p, _ := s.Pod(c.Name); p != nil {
				free = resource.SatAdd(free, p.Fresh().UsedRequests.At(i))
			}
		}
	}
	return free
}

// smallest sorts sets of changes by their number, and drops those that hold another.
func smallest(sets [][]Change) (kept [][]Change) {
	slices.SortStableFunc(sets, func(a, b []Change) int { return cmp.Compare(len(a), len(b)) })
	for _, set := range sets {
		within := func(other []Change) bool {
			return !slices.ContainsFunc(other, func(c Change) bool { return !slices.Contains(set, c) })
		}
		if !slices.ContainsFunc(kept, within) {
			kept = append(kept, set)
		}
	}
	return kept
}

// tolerations are those of every taint of the node, and of a cordon.
func (x *whyNot) tolerations() (list []Change) {
	add := func(key, value string, effect api.TaintEffect) {
		list = append(list, Change{Kind: ChangeToleration, Name: key, To: value, Effect: effect})
	}
	cordon := x.node.Spec.Unschedulable
	for _, t := range x.node.Spec.Taints {
		if t.Effect == api.TaintEffectNoSchedule || t.Effect == api.TaintEffectNoExecute {
			add(t.Key, t.Value, t.Effect)
			cordon = cordon && t.Key != api.TaintNodeUnschedulable
		}
	}
	if cordon {
		add(api.TaintNodeUnschedulable, "", api.TaintEffectNoSchedule)
	}
	return list
}

// emptied lowers to nothing what the pod requests of each resource that a filter finds
// too much, and drops its host ports. If one tells no numbers, every request
// counts.
func (x *whyNot) emptied(rejections []scheduling.NodeRejection) (list []Change) {
	short, all := map[string]bool{}, false
	for _, r := range rejections {
		all = all || len(r.Details) == 0
		for _, d := range r.Details {
			short[d.Subject] = true
		}
	}
	schema := x.planner.snapshot.Schema()
	requests := api.PodRequests(x.pod, api.RequestOptions{PodLevel: true})
	for i := range schema.Len() {
		name := schema.Name(i)
		if was := amountOf(name, requests[name]); was > 0 && (short[string(name)] || all) {
			if lowest, ok := x.lowest(name); ok && lowest < was {
				list = append(list, Change{Kind: ChangeRequest, Name: string(name), Was: was, Amount: lowest, Unit: framework.UnitOf(name)})
			}
		}
	}
	for _, port := range hostPorts(x.pod) {
		list = append(list, Change{Kind: ChangeHostPort, Amount: int64(port)})
	}
	return list
}

// lowest is the least that the pod can request: its overhead. ok is false if that is not found out.
func (x *whyNot) lowest(name resource.Name) (amount int64, ok bool) {
	least := int64(0)
	if q, ok := x.pod.Spec.Overhead[name]; ok {
		least = amountOf(name, q)
	}
	t, err := x.trial([]Change{{Kind: ChangeRequest, Name: string(name), Amount: least}})
	if err != nil || x.spend(sumSteps*podsize.Parts(t.pod)) != nil {
		return 0, false // if it took too many steps, the next trial says so
	}
	return requested(t.pod, name), true
}

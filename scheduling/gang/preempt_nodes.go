package gang

import (
	"slices"
)

// A proposal of victims, node by node.

// evaluationsMost bounds how often a pod is tried on a node without its units.
const evaluationsMost = 1 << 17

// cost is what it takes to put a pod on a node.
type cost struct {
	possible bool
	gone     []*Unit
	harm     harm
}

// nodeByNode gives each pod of a group, in order, the node where it does the least harm, until
// the minimum has one. Then it makes an attempt with only the victims of these nodes.
func (x *evictor) nodeByNode(a *attempt, s *site) error {
	if x.what != Child(x.g) {
		return nil // a set may do without some of its pods
	}
	proposed, err := x.propose(a, s)
	if err != nil || len(proposed) == 0 {
		return err
	}
	_, err = x.without(s, proposed)
	return err
}

// propose returns the victims, in the order of their importance; none if some pod of the
// minimum finds no node, or if it would take too long.
func (x *evictor) propose(a *attempt, s *site) ([]*Unit, error) {
	mark := x.snap.Begin()
	defer x.snap.Rollback(mark)
	on := make([][]*Unit, x.snap.SlotLimit())
	for i, u := range s.units {
		if s.frozen[i] {
			continue
		}
		for _, m := range u.Members {
			slot := x.snap.Node(m.Node).Slot()
			if n := len(on[slot]); n == 0 || on[slot][n-1] != u {
				on[slot] = append(on[slot], u)
			}
		}
	}
	gone := make([]bool, len(s.units))
	costs := make([]cost, len(s.d.slots))
	total, placed, last, left := noHarm(), 0, -1, evaluationsMost
	for i := range x.g.Pods {
		if placed == x.g.need() {
			break
		}
		for k := range costs {
			if last >= 0 && k != last && a.alike(i-1, i) {
				continue
			}
			if left--; left < 0 {
				return nil, nil
			}
			slot := s.d.slots[k]
			on[slot] = slices.DeleteFunc(on[slot], func(u *Unit) bool { return gone[u.index] })
			var err error
			if costs[k], err = x.costOf(i, slot, on[slot]); err != nil {
				return nil, err
			}
		}
		best, least := -1, harm{}
		for k, c := range costs {
			if !c.possible {
				continue
			}
			if h := total.plus(c.harm); best < 0 || h.compare(least) < 0 {
				best, least = k, h
			}
		}
		if last = best; best < 0 {
			continue
		}
		for _, u := range costs[best].gone {
			if gone[u.index] {
				continue // it left with another node's
			}
			gone[u.index] = true
			if err := u.remove(x.snap); err != nil {
				return nil, err
			}
		}
		if err := x.snap.AddPod(x.g.Pods[i], x.snap.AtSlot(s.d.slots[best]).Name()); err != nil {
			return nil, err
		}
		total, placed = least, placed+1
	}
	if placed < x.g.need() {
		return nil, nil
	}
	var list []*Unit
	for i, u := range s.units {
		if gone[i] {
			list = append(list, u)
		}
	}
	return list, nil
}

// costOf takes out units on a node, and puts back those that may stay beside pod i.
func (x *evictor) costOf(i, slot int, units []*Unit) (cost, error) {
	mark := x.snap.Begin()
	defer x.snap.Rollback(mark)
	for _, u := range units {
		if err := u.remove(x.snap); err != nil {
			return cost{}, err
		}
	}
	n := x.snap.AtSlot(slot)
	f, err := x.sched.Filtering(x.snap, x.g.Pods[i])
	if err != nil {
		return cost{}, err
	}
	v, err := f.Node(n)
	if err != nil || !v.Status.IsSuccess() {
		return cost{}, nil // as in a trial without the units
	}
	at := Placement{Pod: x.g.Pods[i].Pod.Key(), Node: n.Name(), index: i}
	gone, err := x.reprieval(x.snap, x.g, []Placement{at}).putBack(violatorsFirst(units))
	c := cost{possible: true, gone: gone, harm: noHarm()}
	for _, u := range gone {
		c.harm = c.harm.plus(alone(u))
	}
	return c, err
}

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

// proposal is what node by node has been decided so far.
type proposal struct {
	on    [][]*Unit // by slot: the units with pods there
	gone  []bool    // by unit
	costs []cost    // of the next pod, by node of the site
	total harm
	left  int // how often a pod may still be tried on a node
}

// propose returns the victims, in the order of their importance; none if some pod of the
// minimum finds no node, or if it would take too long.
func (x *evictor) propose(a *attempt, s *site) ([]*Unit, error) {
	mark := x.snap.Begin()
	defer x.snap.Rollback(mark)
	w := proposal{on: x.unitsBySlot(s), gone: make([]bool, len(s.units)), costs: make([]cost, len(s.d.slots)), total: noHarm(), left: evaluationsMost}
	placed, last := 0, -1
	for i := range x.g.Pods {
		if placed == x.g.need() {
			break
		}
		if last < 0 || !a.alike(i-1, i) {
			last = -1 // all nodes are tried
		}
		if ok, err := x.evaluate(&w, s, i, last); err != nil || !ok {
			return nil, err
		}
		best, least := w.best()
		if last = best; best < 0 {
			continue
		}
		if err := x.take(&w, i, s.d.slots[best], w.costs[best].gone); err != nil {
			return nil, err
		}
		w.total, placed = least, placed+1
	}
	if placed < x.g.need() {
		return nil, nil
	}
	var list []*Unit
	for i, u := range s.units {
		if w.gone[i] {
			list = append(list, u)
		}
	}
	return list, nil
}

// unitsBySlot lists the units of each node that may leave.
func (x *evictor) unitsBySlot(s *site) [][]*Unit {
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
	return on
}

// evaluate finds out what pod i costs on each node, or, if it is like the pod before it, on
// the node of that pod alone: what others cost has not changed. An only below 0 stands for
// all nodes. It returns false if that would take too long.
func (x *evictor) evaluate(w *proposal, s *site, i, only int) (bool, error) {
	for k := range w.costs {
		if only >= 0 && k != only {
			continue
		}
		if w.left--; w.left < 0 {
			return false, nil
		}
		slot := s.d.slots[k]
		w.on[slot] = slices.DeleteFunc(w.on[slot], func(u *Unit) bool { return w.gone[u.index] })
		var err error
		if w.costs[k], err = x.costOf(i, slot, w.on[slot]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// best returns the node where the next pod does the least harm, with all that are placed
// already, and that harm; -1 if there is none.
func (w *proposal) best() (best int, least harm) {
	best = -1
	for k, c := range w.costs {
		if !c.possible {
			continue
		}
		if h := w.total.plus(c.harm); best < 0 || h.compare(least) < 0 {
			best, least = k, h
		}
	}
	return best, least
}

// take puts pod i on the node, in place of the units.
func (x *evictor) take(w *proposal, i, slot int, units []*Unit) error {
	for _, u := range units {
		if w.gone[u.index] {
			continue // it left with another node's
		}
		w.gone[u.index] = true
		if err := u.remove(x.snap); err != nil {
			return err
		}
	}
	return x.snap.AddPod(x.g.Pods[i], x.snap.AtSlot(slot).Name())
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

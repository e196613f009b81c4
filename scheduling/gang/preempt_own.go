package gang

import (
	"cmp"
	"errors"
	"slices"
	"sort"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// How the victims with the least harm are found under the rules that are not
// kube-scheduler's. An attempt takes out some units, places the minimum of the group, and
// puts back what may stay. Attempts differ only in which units are frozen: those are not
// taken out, so they cannot be victims.
//
//  1. In each domain, the least harmful units are taken out up to the lowest priority with
//     which the group stands.
//  2. Node by node, each pod is given the node where it does the least harm, and the
//     victims there are a proposal.
//  3. Branch and bound: an attempt that does less harm has to freeze one of the victims. So
//     each of them is frozen in turn, and those before it have to leave.
//     Harm only grows with more victims, so victims that have to leave are a bound.

// An evictor looks for the victims with the least harm.
type evictor struct {
	*Placer
	snap    *framework.Snapshot
	g       *Group
	what    Child
	guarded bool // removing all units violates some budget
	tries   int  // how many more attempts branch and bound may make

	best, failed *Eviction
	least        harm // of best
}

// site is a domain that the group may be in, with the units that may leave there.
type site struct {
	d       *domain
	units   []*Unit   // the most important first
	frozen  []bool    // by place in units
	first   *Eviction // with the other units taken out
	harm    harm      // of first
	ordered []*Unit   // the least harmful first
}

// triesLeast is how many attempts branch and bound may make in any case.
const triesLeast = 32

// evictFromBest is the rule that is not kube-scheduler's.
func (p *Placer) evictFromBest(snap *framework.Snapshot, g *Group, what Child, units []*Unit) (*Eviction, error) {
	mark := snap.Begin()
	defer snap.Rollback(mark)
	withdraw(snap, g)
	own := *p
	own.rules.Exact = true
	a := attempt{Placer: &own, snap: snap, g: g, keys: g.labels()}
	a.root = p.forest.of(snap, a.keys)
	bases, err := a.bases()
	var stuck *stuckError
	if errors.As(err, &stuck) {
		return &Eviction{Status: framework.Unschedulable, Text: prefixPreemption + stuck.text}, nil
	}
	x := evictor{Placer: &own, snap: snap, g: g, what: what, tries: triesLeast + min(own.rules.Search, countMost<<8)}
	x.guarded = slices.ContainsFunc(units, func(u *Unit) bool { return u.ViolatesBudget })
	var sites []*site
	for _, d := range bases {
		s, err := x.begin(d, inside(snap, d, units))
		if err != nil {
			return nil, err
		}
		if s != nil {
			sites = append(sites, s)
		}
	}
	slices.SortStableFunc(sites, func(a, b *site) int { return a.harm.compare(b.harm) })
	for _, s := range sites {
		if !x.guarded && s.harm.numbers[1] > x.least.numbers[1] { // there, no victims have a lower highest priority
			continue
		}
		if err := x.nodeByNode(&a, s); err != nil {
			return nil, err
		}
		if err := x.branch(s, nil, s.first); err != nil {
			return nil, err
		}
	}
	switch {
	case x.best != nil:
		return x.best, nil
	case x.failed != nil:
		return x.failed, nil
	}
	return &Eviction{Status: framework.Unschedulable, Text: prefixPreemption + textNoPlacements}, nil
}

// begin makes the first attempts in a domain; nil if the group does not stand there even
// if all units have left.
func (x *evictor) begin(d *domain, units []*Unit) (*site, error) {
	s := &site{d: d, frozen: make([]bool, len(units))}
	for i, u := range units {
		own := *u
		own.index, own.ViolatesBudget = i, false
		s.units = append(s.units, &own)
	}
	if x.guarded { // from the least important one on: those leave first here
		budgets := preemption.BudgetsOf(x.snap)
		for _, u := range slices.Backward(s.units) {
			u.ViolatesBudget = charge(budgets, u)
		}
	}
	s.ordered = slices.Clone(s.units)
	slices.SortStableFunc(s.ordered, func(a, b *Unit) int {
		return cmp.Or(cmp.Compare(a.violations(), b.violations()), cmp.Compare(a.Priority, b.Priority))
	})
	all, err := x.attempt(s)
	if err != nil || all == nil {
		return nil, err
	}
	ends := levels(s.ordered)
	s.first = all
	k := sort.Search(len(ends)-1, func(k int) bool {
		if err != nil {
			return true
		}
		s.freeze(ends[k])
		var e *Eviction
		if e, err = x.attempt(s); e != nil {
			s.first = e
		}
		return e != nil
	})
	if err != nil {
		return nil, err
	}
	s.harm = x.weigh(s.first)
	s.freeze(len(s.units))
	if x.guarded { // budgets depend on which units leave together, so none is ruled out
		s.first = all
	} else {
		s.freeze(ends[k])
	}
	return s, nil
}

// levels lists how many of the units are at most as harmful as each of them, once for each
// number, and 0 first.
func levels(ordered []*Unit) []int {
	ends := []int{0}
	for i, u := range ordered {
		if i+1 == len(ordered) || ordered[i+1].Priority != u.Priority || ordered[i+1].ViolatesBudget != u.ViolatesBudget {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// freeze freezes all but the first n units in the order of harm.
func (s *site) freeze(n int) {
	for i, u := range s.ordered {
		s.frozen[u.index] = i >= n
	}
}

// attempt takes out the units that are not frozen. It returns nil if the group does not
// stand without them.
func (x *evictor) attempt(s *site) (*Eviction, error) {
	var out []*Unit
	for i, u := range s.units {
		if !s.frozen[i] {
			out = append(out, u)
		}
	}
	return x.without(s, out)
}

// without is attempt for units of the site.
func (x *evictor) without(s *site, units []*Unit) (*Eviction, error) {
	e, err := x.evict(x.snap, x.g, x.what, units, s.d)
	if err != nil {
		return nil, err
	}
	if e.Status != framework.Success {
		if x.failed == nil || e.fits() > x.failed.fits() {
			x.failed = e
		}
		return nil, nil
	}
	if x.guarded { // by the victims alone
		budgets := preemption.BudgetsOf(x.snap)
		for i := range e.Units {
			e.Units[i].ViolatesBudget = charge(budgets, &e.Units[i])
		}
	}
	if h := x.weigh(e); x.best == nil || h.compare(x.least) < 0 {
		x.best, x.least = e, h
	}
	return e, nil
}

// charge counts the removal of a unit, and reports whether it violates a budget.
func charge(budgets *preemption.Budgets, u *Unit) (violates bool) {
	for _, m := range u.Members {
		if budgets.Charge(m.Pod.Pod) {
			violates = true
		}
	}
	return violates
}

// branch looks for less harm than that of an attempt. The victims in forced have to leave.
func (x *evictor) branch(s *site, forced []*Unit, e *Eviction) error {
	var victims []*Unit
	for i := range e.Units {
		if u := s.units[e.Units[i].index]; !slices.Contains(forced, u) {
			victims = append(victims, u)
		}
	}
	slices.SortStableFunc(victims, func(a, b *Unit) int { return alone(b).compare(alone(a)) })
	forced = slices.Clone(forced)
	for _, u := range victims {
		if x.tries == 0 || x.bound(forced).compareNumbers(x.least) > 0 {
			return nil
		}
		x.tries--
		s.frozen[u.index] = true
		next, err := x.attempt(s)
		if err == nil && next != nil {
			err = x.branch(s, forced, next)
		}
		s.frozen[u.index] = false
		if err != nil {
			return err
		}
		forced = append(forced, u)
	}
	return nil
}

// bound is the harm of units that have to leave, at least.
func (x *evictor) bound(units []*Unit) harm {
	e := Eviction{Units: make([]Unit, len(units))}
	for i, u := range units {
		e.Units[i] = *u
	}
	slices.SortFunc(e.Units, func(a, b Unit) int { return cmp.Compare(a.index, b.index) })
	if x.guarded {
		budgets := preemption.BudgetsOf(x.snap)
		for i := range e.Units {
			e.Units[i].ViolatesBudget = charge(budgets, &e.Units[i])
		}
	}
	return x.weigh(&e)
}

// fits is how many pods, or children of a set, fit without the victims.
func (e *Eviction) fits() int {
	switch {
	case e.Set != nil:
		return e.Set.Stand
	case e.Outcome != nil && e.Outcome.best != nil:
		return e.Outcome.best.Pods
	}
	return 0
}

// inside lists the units with a pod in the domain.
func inside(snap *framework.Snapshot, d *domain, units []*Unit) (list []*Unit) {
	in := make([]bool, snap.SlotLimit())
	for _, slot := range d.slots {
		in[slot] = true
	}
	for _, u := range units {
		if slices.ContainsFunc(u.Members, func(m Member) bool { return in[snap.Node(m.Node).Slot()] }) {
			list = append(list, u)
		}
	}
	return list
}

// harm is what victims do, the worse the larger: units that violate a budget, the highest
// priority, groups, the sum of priorities, pods. The sum has an offset for each pod, so
// more pods are worse even if their priorities are negative.
type harm struct {
	numbers [5]int64
	start   *framework.PodInfo // the first to start of the victims of the highest priority
}

const (
	harmOffset = 1 << 31
	harmless   = -harmOffset - 1 // below all priorities
)

// alone is the harm of a unit.
func alone(u *Unit) harm {
	pods := int64(len(u.Members))
	h := harm{numbers: [5]int64{int64(u.violations()), int64(u.Priority), 0, (int64(u.Priority) + harmOffset) * pods, pods}, start: u.first}
	if u.Group != "" {
		h.numbers[2] = 1
	}
	return h
}

// plus is the harm of both together.
func (h harm) plus(o harm) harm {
	switch {
	case h.start == nil || o.start != nil && o.numbers[1] > h.numbers[1]:
		h.start = o.start
	case o.start != nil && o.numbers[1] == h.numbers[1] && preemption.StartsBefore(o.start, h.start) < 0:
		h.start = o.start
	}
	highest := max(h.numbers[1], o.numbers[1])
	for i := range h.numbers {
		h.numbers[i] += o.numbers[i]
	}
	h.numbers[1] = highest
	return h
}

// noHarm is the harm of no victims.
func noHarm() harm { return harm{numbers: [5]int64{1: harmless}} }

func (h harm) compareNumbers(o harm) int { return slices.Compare(h.numbers[:], o.numbers[:]) }

// compare is negative if h is less harm than o. Of equal ones, that is less whose most
// important victim started later.
func (h harm) compare(o harm) int {
	c := h.compareNumbers(o)
	if c != 0 || h.start == nil || o.start == nil {
		return c
	}
	return preemption.StartsBefore(o.start, h.start)
}

// weigh is the harm of the victims.
func (x *evictor) weigh(e *Eviction) harm {
	h := noHarm()
	for i := range e.Units {
		h = h.plus(alone(&e.Units[i]))
	}
	return h
}

package gang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/resource"
)

// How groups are placed under the rules that are not kube-scheduler's. Candidates are
// tried in stages: the domains of the finest Preferred level, then of the next coarser
// one, and at last those of the finest Required level, or the whole cluster. Counts only
// propose a domain and how many pods go where; the pods are then placed by the filters.

// stuckError says why the members that are present leave no domain.
type stuckError struct{ text string }

func (e *stuckError) Error() string { return e.text }

func (a *attempt) own() error {
	bases, err := a.bases()
	if stuck, ok := err.(*stuckError); ok {
		a.out.Status, a.out.Text, a.out.Proved = Stuck, stuck.text, true
		a.leaveAll()
		return nil
	}
	a.measure()
	for i := len(a.g.Topology) - 1; i >= a.required(); i-- {
		if a.g.Topology[i].Mode != Preferred {
			continue
		}
		var list []*domain
		for _, b := range bases {
			list = b.at(i+1, list)
		}
		if done, err := a.stage(list); done || err != nil {
			return err
		}
	}
	if done, err := a.stage(bases); done || err != nil {
		return err
	}
	return a.refuseOwn(len(bases) == 0)
}

// required is how many levels are Required.
func (a *attempt) required() (n int) {
	for _, l := range a.g.Topology {
		if l.Mode == Required {
			n++
		}
	}
	return n
}

// bases lists the domains of the finest Required level, or the one that the members
// which are present are in.
func (a *attempt) bases() ([]*domain, error) {
	depth := a.required()
	if depth == 0 || len(a.g.Present) == 0 {
		return a.root.at(depth, nil), nil
	}
	var pinned *domain
	first := ""
	for _, m := range a.g.Present {
		d := a.root.of(a.snap.Node(m.Node), a.keys, depth)
		switch {
		case d == nil:
			return nil, &stuckError{fmt.Sprintf("pod %s is on node %s, which is in no domain of %s", m.Pod.Pod.Key(), m.Node, a.keys[depth-1])}
		case pinned != nil && d != pinned:
			return nil, &stuckError{fmt.Sprintf("pods %s and %s are in domains %s and %s of %s", first, m.Pod.Pod.Key(), pinned.name, d.name, a.keys[depth-1])}
		case pinned == nil:
			pinned, first = d, m.Pod.Pod.Key()
		}
	}
	return []*domain{pinned}, nil
}

// unit is how many pods belong together in a domain of the level: the slice of this level
// or of the next finer one that has slices.
func (a *attempt) unit(level int) int {
	for ; level >= 0 && level < len(a.g.Topology); level++ {
		if s := a.g.Topology[level].Slice; s > 0 {
			return s
		}
	}
	return 1
}

// inner reports whether levels below a domain guide where its pods go.
func (a *attempt) inner(d *domain) bool { return d.depth() < len(a.keys) && !a.allRequired() }

func (a *attempt) allRequired() bool { return a.required() == len(a.keys) && !a.g.sliced() }

// measure counts how many pods each domain takes with its slices whole.
func (a *attempt) measure() {
	a.takes = make([]int, a.root.size)
	if a.room != nil {
		a.measureIn(a.root)
	}
}

func (a *attempt) measureIn(d *domain) int {
	n := 0
	if d.depth() == len(a.keys) {
		n = a.room.sum(d.slots)
	} else {
		for _, c := range d.children {
			n += a.measureIn(c)
		}
		if !a.inner(d) {
			n = a.room.sum(d.slots)
		}
	}
	if d.depth() > 0 {
		unit := a.unit(d.depth() - 1)
		n -= n % unit
	}
	a.takes[d.id] = n
	return n
}

// A candidate is a domain that the group may go to.
type candidate struct {
	d     *domain
	trial *Trial
	fits  int // how many pods it takes; estimated if the pods are not of one class
	fill  int64
}

// stage tries the group in one of the domains, in the order of the rule. done reports
// that it stands.
func (a *attempt) stage(list []*domain) (done bool, err error) {
	candidates := make([]*candidate, len(list))
	for i, d := range list {
		c := &candidate{d: d, trial: newTrial(d)}
		if a.room != nil {
			c.fits = a.takes[d.id]
			c.trial.Capacity, c.trial.Pods = c.fits, min(c.fits, len(a.g.Pods))
			if c.fits < a.g.need() {
				c.trial.Bound = fmt.Sprintf("takes %d of %d pods", c.fits, a.g.need())
			}
		} else {
			c.fits = a.estimate(d)
			c.trial.Bound = a.bound(d)
		}
		candidates[i] = c
	}
	a.sort(candidates)
	var stand []*candidate
	for _, c := range candidates {
		a.out.Trials = append(a.out.Trials, c.trial)
		if c.trial.Bound != "" {
			continue
		}
		mark := a.snap.Begin()
		if err := a.settle(c); err != nil {
			a.snap.Rollback(mark)
			return false, err
		}
		switch {
		case !c.trial.Succeeded:
			a.snap.Rollback(mark)
		case a.rules.Compare == nil:
			a.snap.Commit(mark)
			a.out.TiedDomains = a.tied(candidates, c)
			a.finish(c.trial)
			return true, nil
		default:
			a.snap.Rollback(mark)
			stand = append(stand, c)
		}
	}
	if len(stand) == 0 {
		return false, nil
	}
	return true, a.compareAll(stand)
}

// compareAll keeps the trial that the user's rule puts first.
func (a *attempt) compareAll(stand []*candidate) error {
	best := slices.MinFunc(stand, func(x, y *candidate) int { return a.rules.Compare(x.trial, y.trial) })
	for _, c := range stand {
		if a.rules.Compare(best.trial, c.trial) == 0 {
			a.out.TiedDomains++
		}
	}
	pods := best.trial.Pods
	best.trial.Placed, best.trial.Left = nil, nil
	if err := a.settle(best); err != nil {
		return err
	}
	if best.trial.Pods != pods || !best.trial.Succeeded {
		return fmt.Errorf("gang: %d pods fit in domain %q at first, and %d the second time", pods, best.trial.Name(), best.trial.Pods)
	}
	a.finish(best.trial)
	return nil
}

// sort orders the candidates by the rule: first domains that take all pods, then those
// that take the minimum, then the others.
func (a *attempt) sort(list []*candidate) {
	want := a.want()
	enough := func(c *candidate) int {
		switch {
		case c.trial.Bound != "":
			return 2
		case c.fits < want:
			return 1
		}
		return 0
	}
	for _, c := range list {
		c.fill = -1
	}
	packed := func(c *candidate) int64 {
		if c.fill < 0 {
			c.fill = NodeResourcesFit{}.ScorePlacement(Proposal{Snapshot: a.snap, Group: a.g, Slots: c.d.slots})
		}
		return c.fill
	}
	slices.SortStableFunc(list, func(x, y *candidate) int {
		e := enough(x)
		if c := cmp.Compare(e, enough(y)); c != 0 {
			return c
		}
		if e > 0 {
			return cmp.Or(cmp.Compare(y.fits, x.fits), strings.Compare(x.d.name, y.d.name))
		}
		bySize := cmp.Compare(x.fits, y.fits)
		if a.rules.Choice == MostPacked {
			return cmp.Or(cmp.Compare(packed(y), packed(x)), bySize, strings.Compare(x.d.name, y.d.name))
		}
		if bySize != 0 {
			return bySize
		}
		return cmp.Or(cmp.Compare(packed(y), packed(x)), strings.Compare(x.d.name, y.d.name))
	})
}

// tied counts the candidates that only their names tell apart from the chosen one.
func (a *attempt) tied(list []*candidate, chosen *candidate) (n int) {
	for _, c := range list {
		if c.trial.Bound == "" && c.fits == chosen.fits && c.fill == chosen.fill {
			n++
		}
	}
	return n
}

// want is how many pods are to be placed if they all fit.
func (a *attempt) want() int {
	if a.rules.Exact {
		return a.g.need()
	}
	return len(a.g.Pods)
}

// settle places the group in the candidate's domain. The trial says whether the minimum
// stands.
func (a *attempt) settle(c *candidate) error {
	t := c.trial
	a.sched.Seek(a.position)
	if err := a.settleGreedily(c); err != nil {
		return err
	}
	t.Pods = len(t.Placed)
	t.Succeeded = t.Pods >= a.g.need()
	if t.Succeeded || a.room != nil && !a.g.sliced() || a.rules.Search == 0 {
		return nil
	}
	return a.search(c)
}

func (a *attempt) settleGreedily(c *candidate) error {
	t := c.trial
	all := a.order(c.d)
	if a.room != nil {
		n := min(a.want(), c.fits)
		_, err := a.fill(c.d, all[:n], t)
		if err == nil {
			for _, i := range all[n:] {
				t.Left = append(t.Left, Left{Pod: a.g.Pods[i].Pod.Key(), index: i})
			}
		}
		return err
	}
	if a.rules.Order != Both || a.g.sliced() {
		return a.walk(c.d, all, t)
	}
	return a.bothOrders(c, all)
}

// bothOrders keeps the better of the given order and the largest first.
func (a *attempt) bothOrders(c *candidate, given []int) error {
	mark := a.snap.Begin()
	first := newTrial(c.d)
	if err := a.walk(c.d, given, first); err != nil {
		a.snap.Rollback(mark)
		return err
	}
	if len(first.Placed) >= a.want() {
		a.snap.Commit(mark)
		c.trial.Placed, c.trial.Left = first.Placed, first.Left
		return nil
	}
	a.snap.Rollback(mark)
	mark = a.snap.Begin()
	a.sched.Seek(a.position)
	second := newTrial(c.d)
	if err := a.walk(c.d, a.largestFirst(c.d), second); err != nil {
		a.snap.Rollback(mark)
		return err
	}
	if len(second.Placed) > len(first.Placed) {
		a.snap.Commit(mark)
		c.trial.Placed, c.trial.Left = second.Placed, second.Left
		return nil
	}
	a.snap.Rollback(mark)
	a.sched.Seek(a.position)
	return a.walk(c.d, given, c.trial)
}

// order lists the numbers of the pods in the order in which they are tried.
func (a *attempt) order(d *domain) []int {
	if a.rules.Order == LargestFirst && !a.g.sliced() && a.room == nil {
		return a.largestFirst(d)
	}
	list := make([]int, len(a.g.Pods))
	for i := range list {
		list[i] = i
	}
	return list
}

// largestFirst sorts the pods by the largest part of the domain that they ask for.
func (a *attempt) largestFirst(d *domain) []int {
	var total resource.Vector
	for _, slot := range d.slots {
		total = total.Add(a.snap.AtSlot(slot).Allocatable)
	}
	list, part := make([]int, len(a.g.Pods)), make([]int64, len(a.g.Pods))
	for i, p := range a.g.Pods {
		list[i] = i
		for k, x := range p.Requests {
			if has := total.At(k); has > 0 {
				const scale = 1 << 20
				part[i] = max(part[i], resource.SatMul(x, scale)/has)
			}
		}
	}
	slices.SortStableFunc(list, func(x, y int) int { return cmp.Compare(part[y], part[x]) })
	return list
}

// fill places pods of one class in a domain that takes them, divided by the rule among
// the domains within. It returns false if one was refused although the counts let it
// pass: then nothing more is tried.
func (a *attempt) fill(d *domain, pods []int, t *Trial) (bool, error) {
	if !a.inner(d) {
		for _, i := range pods {
			if ok, err := a.try(d, i, t); !ok {
				return false, err
			}
		}
		return true, nil
	}
	unit := a.unit(d.depth())
	for _, s := range a.divide(d, len(pods)/unit, unit) {
		n := s.units * unit
		if ok, err := a.fill(s.d, pods[:n], t); !ok {
			return false, err
		}
		pods = pods[n:]
	}
	return true, nil
}

// A share is how many units of pods a domain gets.
type share struct {
	d     *domain
	units int
}

// divide divides units of pods among the children of a domain.
//
// Source: Kueue, Topology Aware Scheduling (KEP-2724), BestFit and LeastFreeCapacity.
func (a *attempt) divide(d *domain, units, unit int) (list []share) {
	rest := slices.Clone(d.children)
	most := a.rules.Choice != LeastFree
	slices.SortFunc(rest, func(x, y *domain) int {
		byUnits := cmp.Compare(a.takes[x.id]/unit, a.takes[y.id]/unit)
		if most {
			byUnits = -byUnits
		}
		return cmp.Or(byUnits, cmp.Compare(a.pods(x), a.pods(y)), strings.Compare(x.name, y.name))
	})
	for k := 0; k < len(rest) && units > 0; k++ {
		at := k
		if most { // the smallest that holds the rest, if one does
			for i := k; i < len(rest) && a.takes[rest[i].id]/unit >= units; i++ {
				if i == k || a.takes[rest[i].id]/unit < a.takes[rest[at].id]/unit {
					at = i
				}
			}
		}
		n := min(units, a.takes[rest[at].id]/unit)
		if n == 0 {
			continue
		}
		list = append(list, share{rest[at], n})
		units -= n
	}
	return list
}

// pods is how many pods the nodes of a domain take, whole slices or not.
func (a *attempt) pods(d *domain) int { return a.room.sum(d.slots) }

// walk places pods that counts say nothing about: slice by slice, or one after the other.
func (a *attempt) walk(d *domain, pods []int, t *Trial) error {
	level, size := a.outermost(d.depth())
	if size == 0 {
		return a.each(d, pods, t)
	}
	stand := 0
	for len(pods) > 0 {
		slice := pods[:size]
		pods = pods[size:]
		ok, err := a.slice(d, level, slice, t)
		if err != nil {
			return err
		}
		if ok {
			stand += size
		} else {
			for _, i := range slice {
				t.Left = append(t.Left, Left{Pod: a.g.Pods[i].Pod.Key(), index: i})
			}
		}
		if stand+len(pods) < a.g.need() || a.rules.Exact && stand >= a.g.need() {
			break
		}
	}
	return nil
}

// outermost returns the coarsest level from one on that has slices, and their size; 0 if
// none has.
func (a *attempt) outermost(level int) (at, size int) {
	for ; level < len(a.g.Topology); level++ {
		if s := a.g.Topology[level].Slice; s > 0 {
			return level, s
		}
	}
	return 0, 0
}

// each places pods one after the other, child by child if a level below guides where they
// go, or anywhere in the domain.
func (a *attempt) each(d *domain, pods []int, t *Trial) error {
	if !a.inner(d) {
		return a.eachIn(d, pods, t, nil)
	}
	children := slices.Clone(d.children)
	most := a.rules.Choice != LeastFree
	estimates := map[*domain]int{}
	for _, c := range children {
		estimates[c] = a.estimate(c)
	}
	slices.SortFunc(children, func(x, y *domain) int {
		byRoom := cmp.Compare(estimates[x], estimates[y])
		if most {
			byRoom = -byRoom
		}
		return cmp.Or(byRoom, strings.Compare(x.name, y.name))
	})
	for k, c := range children {
		var left *[]int
		var rest []int
		if k < len(children)-1 {
			left = &rest
		}
		if err := a.eachIn(c, pods, t, left); err != nil {
			return err
		}
		if pods = rest; len(pods) == 0 {
			break
		}
	}
	return nil
}

// eachIn places pods one after the other. Pods that are refused go to left, or, if that is
// nil, are noted, and too many of them end the walk.
func (a *attempt) eachIn(d *domain, pods []int, t *Trial, left *[]int) error {
	for k, i := range pods {
		if a.rules.Exact && len(t.Placed) >= a.g.need() {
			break
		}
		refused := len(t.Left)
		ok, err := a.try(d, i, t)
		switch {
		case err != nil:
			return err
		case ok:
		case left != nil:
			*left, t.Left = append(*left, i), t.Left[:refused]
		case len(t.Placed)+len(pods)-k-1 < a.g.need():
			return nil
		}
	}
	return nil
}

// slice places the pods of a slice in one domain of the level, or none of them.
func (a *attempt) slice(d *domain, level int, pods []int, t *Trial) (bool, error) {
	list := d.at(level+1, nil)
	estimates := map[*domain]int{}
	for _, x := range list {
		estimates[x] = a.estimate(x)
	}
	slices.SortFunc(list, func(x, y *domain) int {
		small := func(d *domain) int {
			if estimates[d] < len(pods) {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(small(x), small(y)), cmp.Compare(estimates[x], estimates[y]), strings.Compare(x.name, y.name))
	})
	for _, x := range list {
		mark := a.snap.Begin()
		placed, left := len(t.Placed), len(t.Left)
		ok, err := a.sliceIn(x, pods, t)
		if ok && err == nil {
			a.snap.Commit(mark)
			return true, nil
		}
		a.snap.Rollback(mark)
		t.Placed, t.Left = t.Placed[:placed], t.Left[:left]
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// sliceIn places all pods of a slice in the domain, slice by slice of finer levels.
func (a *attempt) sliceIn(d *domain, pods []int, t *Trial) (bool, error) {
	if level, size := a.outermost(d.depth()); size > 0 {
		for len(pods) > 0 {
			if ok, err := a.slice(d, level, pods[:size], t); !ok || err != nil {
				return false, err
			}
			pods = pods[size:]
		}
		return true, nil
	}
	for _, i := range pods {
		if ok, err := a.try(d, i, t); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// estimate guesses how many pods of the mean size of the group a domain takes. It only
// decides what is tried first.
func (a *attempt) estimate(d *domain) (sum int) {
	var mean resource.Vector
	for _, p := range a.g.Pods {
		mean = mean.Add(p.Requests)
	}
	for i := range mean {
		mean[i] = (mean[i] + int64(len(a.g.Pods)) - 1) / max(1, int64(len(a.g.Pods)))
	}
	for _, slot := range d.slots {
		n := a.snap.AtSlot(slot)
		fits := max(0, n.AllowedPods-int64(len(n.Pods)))
		for i, x := range mean {
			if x > 0 {
				fits = min(fits, max(0, n.Allocatable.At(i)-n.Requested.At(i))/x)
			}
		}
		sum += int(min(fits, countMost))
	}
	return sum
}

// bound proves that the group cannot stand in the domain, if it can: the minimum asks for
// more CPU, memory, storage or places than are free.
func (a *attempt) bound(d *domain) string {
	if !a.sched.CountsResources() {
		return ""
	}
	need := a.g.need()
	places := int64(0)
	var free resource.Vector
	for _, slot := range d.slots {
		n := a.snap.AtSlot(slot)
		places = resource.SatAdd(places, max(0, n.AllowedPods-int64(len(n.Pods))))
		for i := range resource.IndexEphemeralStorage + 1 {
			if x := n.Allocatable.At(i) - n.Requested.At(i); x > 0 {
				free = free.With(i, resource.SatAdd(free.At(i), x))
			}
		}
	}
	if places < int64(need) {
		return fmt.Sprintf("has places for %d of %d pods", places, need)
	}
	asked := make([]int64, len(a.g.Pods))
	for i := range resource.IndexEphemeralStorage + 1 {
		for k, p := range a.g.Pods {
			asked[k] = p.Requests.At(i)
		}
		slices.Sort(asked)
		var sum int64
		for _, x := range asked[:need] {
			sum = resource.SatAdd(sum, x)
		}
		if sum > free.At(i) {
			return fmt.Sprintf("has %d of %d %s", free.At(i), sum, a.snap.Schema().Name(i))
		}
	}
	return ""
}

// refuseOwn reports that the group stands nowhere.
func (a *attempt) refuseOwn(none bool) error {
	o := a.out
	if none || len(o.Trials) == 0 {
		o.Status, o.Proved = NoDomain, true
		o.Text = "no node has the labels " + strings.Join(a.keys, ", ")
		a.leaveAll()
		return nil
	}
	best := slices.MinFunc(o.Trials, byCloseness)
	o.Status, o.GaveUp = Short, a.gaveUp
	o.Proved = true
	for _, t := range o.Trials {
		o.Proved = o.Proved && (t.Bound != "" || t.searched)
	}
	if len(best.Left) == 0 && len(best.Placed) == 0 {
		if err := a.explore(best); err != nil {
			return err
		}
	}
	a.finish(best)
	o.Text = a.explain(best)
	return nil
}

// explore tries the pods of a group in a domain that a bound ruled out, to find the first
// one that is refused.
func (a *attempt) explore(t *Trial) error {
	mark := a.snap.Begin()
	defer a.snap.Rollback(mark)
	a.sched.Seek(a.position)
	tried := newTrial(t.domain)
	for i := range a.g.Pods {
		ok, err := a.try(t.domain, i, tried)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
	}
	t.Placed, t.Left = tried.Placed, tried.Left
	t.Pods = max(t.Pods, min(len(tried.Placed), a.g.need()))
	if a.room != nil {
		t.Pods = min(t.Capacity, len(a.g.Pods))
	}
	return nil
}

// explain is the text of a refusal: the domain closest to success, and what is missing.
func (a *attempt) explain(t *Trial) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s takes %d of %s", t.describe(), t.Pods, several(a.g.need(), "pod"))
	if len(t.Left) > 0 && t.Left[0].Err != nil {
		fmt.Fprintf(&b, "; %s: %s", t.Left[0].Pod, t.Left[0].Err)
	}
	if m := t.Missing; m != nil && m.Nodes > 0 {
		fmt.Fprintf(&b, " Missing room for %s: %s like its largest.", several(m.Pods, "pod"), several(m.Nodes, "empty node"))
	}
	return b.String()
}

// several is a number of things, as text.
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

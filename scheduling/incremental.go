package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/pick"
	"github.com/berth-sched/berth/internal/runner"
)

// incremental decides from kept answers. It leaves what it cannot answer exactly to the
// reference path.
type incrementalPath struct {
	s         *Scheduler
	engine    *engine.Engine
	query     engine.Query
	bound     boundPlugins
	reference *referencePath // for verification, nil if there is none

	nominations nominations
	named       []namedNode // of the last decision by names
	sets        namedSets
	among       *namedSet    // of the last decision in such a set
	unnamed     bool         // the engine is asked as if PreFilters named no nodes
	found       engine.Found // of the last decision in a set
	early       early
	by          means
	interest    interest
	taken       [2]candidates // memory of takeInOrder
	unnoted     unnoted
	given       []int64 // memory of prioritize

	class       *class             // of the pod of this decision
	conditional framework.PodParts // those of the conditional parts that count for that pod
	classes     map[string]*class
	readings    map[string]*reading // of the classes
	guesses     guesses
	balances    balances
	extent      extent   // of the last decision
	settled     extent   // in which the balance of all is at its bounds, nodes is 0 if in none
	asked       *balance // that said whether to ask for kept answers, nil if classes are compared
	spelled     int      // what the key of the last pod cost beyond keyCost
	long        bool     // that key is long
	stepped     *balance // by which the last pod stepped aside, nil if it did not
	newcomers   newcomers
	rest        rest
	notes       *runner.Cache[noted]
	tried       [triedOften]*runner.Entry
	keys        classKeys
	scratch     reading
	key         []byte
	whole       []byte  // memory of wholeKey
	drawn       []int64 // memory of reservoir
	checks      uint64  // verified decisions
}

// means is how a decision was made.
type means uint8

const (
	byError      means = iota // it was not: the cycle fails
	byView                    // from kept answers
	byExtenders               // from kept answers, and extenders took part
	byNomination              // the node that the pod is nominated to is feasible
	byPreFilter               // a PreFilter rejected the pod
	byNames                   // a PreFilter named the nodes
	byNamedSet                // a PreFilter named the nodes; from kept answers
	byWithin                  // from kept answers, among some of the nodes
)

func newIncremental(s *Scheduler) *incrementalPath {
	f := &incrementalPath{s: s, classes: map[string]*class{}, readings: map[string]*reading{}, notes: runner.NewCache[noted]()}
	if s.profile.Cache.Verify {
		f.reference = &referencePath{plugins: &s.plugins, workers: 1}
	}
	f.engine = engine.New(f, s.profile.Cache.Budget)
	for _, b := range [...]*balance{&f.balances.all, &f.balances.named, &f.balances.within, &f.balances.long} {
		b.late = beginsLate
	}
	return f
}

// decide answers like [Scheduler.decide]; false if it has no answer.
func (f *incrementalPath) decide(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (err error, ok bool) {
	done := false
	defer func() {
		if !done { // recover is not free
			f.contain(recover())
			err, ok = nil, false
		}
	}()
	if f.s.reference.within == nil {
		err, ok = f.answer(snap, pod, d)
	} else {
		err, ok = f.answerWithin(snap, pod, d)
	}
	done = true
	return err, ok
}

// answer is decide, but panics if the engine does.
func (f *incrementalPath) answer(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (err error, ok bool) {
	s, c := f.s, &f.s.reference.cycle
	seed := pick.Seed(s.profile.Seed, s.number)
	c.Reset(pod, snap, s.number, seed)
	d.TieRule, d.Number, d.start = s.profile.TieRule, s.number, s.start
	f.by, f.early.known, f.stepped, f.spelled, f.long = byView, false, nil, 0, false
	f.newcomers.wait, f.newcomers.early = false, false
	if pod.IsNominated() || mayName(pod) && !f.isNoted(pod) { // the nodes of a pod with a class are not named
		if done, ok, err := f.answerAbout(snap, pod, d); done {
			return err, ok
		}
		c.Reset(pod, snap, s.number, seed)
	}
	nodes := snap.Len()
	wanted := s.plugins.wanted(nodes, s.profile.Percentage)
	b, x := &f.balances.all, f.extentOf(wanted, nodes)
	if f.isAside(b, c, x) {
		return f.decideByPreFilters(snap, pod, d)
	}
	if f.class = f.classOf(c); f.class == nil || f.class.named {
		if done, ok, err := f.answerByPreFilters(snap, pod, d); done {
			return err, ok
		}
		c.Reset(pod, snap, s.number, seed)
	}
	before := f.engine.Evaluated()
	f.nominations.asked = 0
	v, ok := f.ask(c, s.start, wanted)
	if !ok {
		f.book(f.evaluatedSince(before)+nominatedCost*f.nominations.asked, 0)
		return f.decideByPreFilters(snap, pod, d)
	}
	f.book(f.evaluatedSince(before), v.Evaluated)
	d.Evaluated, d.Feasible, d.advance = v.Evaluated, v.Feasible, v.Evaluated
	if f.early.known {
		f.countEarly(v, d)
	}
	if len(s.plugins.extenders) > 0 {
		if f.interest = s.plugins.interest(pod); f.interest == takesPart && v.Feasible > 0 {
			return f.decideWithExtenders(snap, pod, v, d)
		}
	}
	switch v.Feasible {
	case 0:
		return f.fitError(snap, pod, v), true
	case 1:
		d.TiedNodes = 1
		d.choose(v.First(), 0)
		return nil, true
	}
	largest, tied := v.Best()
	d.TiedNodes = tied
	node, err := f.choose(v, seed)
	if err != nil {
		return err, true
	}
	d.choose(node, largest)
	return nil, true
}

// answerAbout answers from the node to which the pod is nominated, or from the nodes that PreFilters name. It
// is not done if all nodes may have to be looked at.
func (f *incrementalPath) answerAbout(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (done, ok bool, err error) {
	if pod.IsNominated() {
		done, ok = f.decideOnNominated(snap, d)
		return done || !ok, ok, nil
	}
	r := &f.s.reference
	if err, ok = f.decideByPreFilters(snap, pod, d); ok || r.ready && r.bound.restrict {
		return true, ok, err
	}
	r.ready = false
	return false, false, nil
}

// answerByPreFilters is for a pod without a class, or with one whose nodes are named. It is not done if they no
// longer are.
func (f *incrementalPath) answerByPreFilters(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (done, ok bool, err error) {
	if f.class == nil {
		f.balances.long.aside++
		f.book(-refusedCost, 0) // no class is noted
		err, ok = f.decideByPreFilters(snap, pod, d)
		return true, ok, err
	}
	r := &f.s.reference
	if err, ok = f.decideByPreFilters(snap, pod, d); ok || !r.ready || r.bound.restrict {
		return true, ok, err
	}
	f.class.named, r.ready = false, false
	return false, false, nil
}

// find asks the engine about the cycle's pod, for a search that begins at a place and
// ends after want feasible nodes.
func (f *incrementalPath) find(c *framework.Cycle, start, want int) (*engine.View, bool) {
	if f.class = f.classOf(c); f.class == nil {
		f.balances.long.aside++
		return nil, false
	}
	return f.ask(c, start, want)
}

// ask is find for a pod whose class is known.
func (f *incrementalPath) ask(c *framework.Cycle, start, want int) (v *engine.View, ok bool) {
	q := &f.query // to copy a literal right after it is made would make the processor wait
	q.Snapshot, q.Cycle, q.Start, q.Want, q.Overrides = c.Snapshot, c, start, want, nil
	if c.Snapshot.Nominations() > 0 {
		if q.Overrides, ok = f.override(c); !ok {
			return nil, false
		}
	}
	q.Key, q.Ref = f.keyOf(f.class)
	return f.engine.Find(q)
}

// evaluatedSince is how many nodes the engine has evaluated since its count was before.
func (f *incrementalPath) evaluatedSince(before int64) (nodes int) {
	return int((f.engine.Evaluated() - before) / 2)
}

// keyOf returns the key by which the engine is asked about a class.
func (f *incrementalPath) keyOf(k *class) (key string, ref *engine.Ref) {
	if f.unnamed {
		return k.unnamed()
	}
	return k.key, &k.ref
}

func (f *incrementalPath) choose(v *engine.View, seed uint64) (*framework.NodeInfo, error) {
	_, tied := v.Best()
	switch f.s.profile.TieRule {
	case Reservoir:
		return f.reservoir(v, seed), nil
	case Heap:
		if f.interest == mereClaim {
			return v.Tied(pick.Draw(seed, tied)), nil // see chooseAnswered
		}
		return v.Heap(), nil
	case First:
		return v.Tied(0), nil
	case ByName:
		return v.ByName(), nil
	case Custom:
		nodes := v.AllTied()
		i, err := callTieBreak(f.s.profile.TieBreak, &f.s.reference.cycle, nodes)
		if err != nil {
			return nil, err
		}
		return nodes[i], nil
	case Random:
		return v.Tied(pick.Draw(seed, tied)), nil
	}
	return nil, errNoCase(f.s.profile.TieRule)
}

// reservoir chooses as kube-scheduler did up to 1.34, which draws for each node that ties with the best
// so far: so all feasible nodes are looked at.
func (f *incrementalPath) reservoir(v *engine.View, seed uint64) (node *framework.NodeInfo) {
	f.drawn = slices.Grow(f.drawn[:0], v.Feasible)
	v.Totals(func(_ *framework.NodeInfo, total int64) bool {
		f.drawn = append(f.drawn, total)
		return true
	})
	k := pick.Reservoir(f.drawn, seed)
	v.Totals(func(n *framework.NodeInfo, _ int64) bool {
		node = n
		k--
		return k >= 0
	})
	return node
}

// fitError counts the reasons, once for as long as no reason changes.
func (f *incrementalPath) fitError(snap *framework.Snapshot, pod *framework.PodInfo, v *engine.View) *FitError {
	list, ok := v.Kept().([]Rejection)
	if !ok {
		list = f.s.plugins.rejections(countReasons(v))
		v.Keep(list)
	}
	return &FitError{Pod: pod.Pod.Key(), Nodes: snap.Len(), Rejections: list}
}

func countReasons(v *engine.View) (list []counted) {
	for _, r := range v.Rejections() {
		list = append(list, counted{r.At, r.Status, r.Nodes, r.Text})
	}
	return list
}

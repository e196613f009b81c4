package scheduling

import (
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/runner"
)

// incremental decides from kept answers. It leaves what it cannot answer exactly to the
// reference path.
type incremental struct {
	s         *Scheduler
	engine    *engine.Engine
	bound     binding
	reference referencePath // for verification

	class   *class // of the pod of this decision
	classes map[string]*class
	notes   *runner.Cache[class]
	scratch reading
	key     []byte
	checks  uint64 // verified decisions
}

func newIncremental(s *Scheduler) *incremental {
	f := &incremental{s: s, reference: referencePath{plugins: &s.plugins, workers: 1}, classes: map[string]*class{}, notes: runner.NewCache[class]()}
	budget := s.profile.Cache.Budget
	if budget == 0 {
		budget = engine.DefaultBudget
	}
	f.engine = engine.New(f, budget)
	return f
}

// decide answers like [Scheduler.decide]; false if it has no answer.
func (f *incremental) decide(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (err error, ok bool) {
	defer f.contain(&err, &ok)
	s := f.s
	seed := decisionSeed(s.profile.Seed, s.number)
	s.reference.cycle.Reset(pod, snap, s.number, seed)
	v, ok := f.find(&s.reference.cycle, s.start)
	if !ok {
		return nil, false
	}
	d.TieRule, d.Number, d.start = s.profile.TieRule, s.number, s.start
	d.Evaluated, d.Feasible, d.advance = v.Evaluated, v.Feasible, v.Evaluated
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

// find asks the engine about the cycle's pod.
func (f *incremental) find(c *framework.Cycle, start int) (*engine.View, bool) {
	f.class = f.classOf(c.Pod)
	return f.engine.Find(engine.Query{
		Snapshot: c.Snapshot, Cycle: c, Key: f.class.key, Ref: &f.class.ref, Start: start,
		Want: wanted(c.Snapshot.Len(), f.s.profile.Percentage, len(f.s.plugins.scorers) > 0),
	})
}

func (f *incremental) choose(v *engine.View, seed uint64) (*framework.NodeInfo, error) {
	_, tied := v.Best()
	switch f.s.profile.TieRule {
	case Reservoir:
		nodes, totals := []*framework.NodeInfo(nil), []int64(nil)
		v.Totals(func(n *framework.NodeInfo, total int64) bool {
			nodes, totals = append(nodes, n), append(totals, total)
			return true
		})
		return nodes[reservoirPick(totals, seed)], nil
	case Heap:
		return v.Heap(), nil
	case First:
		return v.Tied(0), nil
	case ByName:
		least := v.Tied(0)
		for _, n := range v.AllTied() {
			if strings.Compare(n.Node.Name, least.Node.Name) < 0 {
				least = n
			}
		}
		return least, nil
	case Custom:
		nodes := v.AllTied()
		i, err := callTieBreak(f.s.profile.TieBreak, &f.s.reference.cycle, nodes)
		if err != nil {
			return nil, err
		}
		return nodes[i], nil
	case Random:
		return v.Tied(draw(seed, tied)), nil
	}
	return nil, errNoCase(f.s.profile.TieRule)
}

// fitError counts the reasons, once for as long as no reason changes.
func (f *incremental) fitError(snap *framework.Snapshot, pod *framework.PodInfo, v *engine.View) *FitError {
	list, ok := v.Kept().([]Rejection)
	if !ok {
		var reasons []counted
		for _, r := range v.Rejections() {
			reasons = append(reasons, counted{r.At, r.Status, r.Nodes})
		}
		list = f.s.plugins.rejections(reasons)
		v.Keep(list)
	}
	return &FitError{Pod: pod.Pod.Key(), Nodes: snap.Len(), Rejections: list}
}

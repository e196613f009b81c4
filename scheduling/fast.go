package scheduling

import (
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/internal/runner"
)

// fastRoad decides from kept answers. Whatever it cannot answer exactly it
// leaves to the plain road.
type fastRoad struct {
	s       *Scheduler
	engine  *engine.Engine
	bound   binding
	filters []engine.Filter
	scorers []engine.Scorer
	plain   road // for verification

	kind    *kind // of the pod of this decision
	kinds   map[string]*kind
	notes   *runner.Cache[kind]
	scratch reading
	key     []byte
}

func newFastRoad(s *Scheduler) *fastRoad {
	f := &fastRoad{s: s, plain: road{plugins: &s.plugins, workers: 1}, kinds: map[string]*kind{}, notes: runner.NewCache[kind]()}
	budget := s.profile.Cache.Budget
	if budget == 0 {
		budget = engine.DefaultBudget
	}
	f.engine = engine.New(f, budget)
	return f
}

// decide answers like [Scheduler.decide]; false when it has no answer.
func (f *fastRoad) decide(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) (err error, ok bool) {
	s := f.s
	seed := decisionSeed(s.profile.Seed, s.number)
	s.road.cycle.Reset(pod, snap, s.number, seed)
	v, ok := f.find(&s.road.cycle, s.start)
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
func (f *fastRoad) find(c *framework.Cycle, start int) (*engine.View, bool) {
	f.kind = f.kindOf(c.Pod)
	return f.engine.Find(engine.Query{
		Snapshot: c.Snapshot, Cycle: c, Key: f.kind.key, Ref: &f.kind.ref, Start: start,
		Want: wanted(c.Snapshot.Len(), f.s.profile.Percentage, len(f.s.plugins.scorers) > 0),
	})
}

func (f *fastRoad) choose(v *engine.View, seed uint64) (*framework.NodeInfo, error) {
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
		i, err := callTieBreak(f.s.profile.TieBreak, nodes, seed)
		if err != nil {
			return nil, err
		}
		return nodes[i], nil
	default:
		return v.Tied(draw(seed, tied)), nil
	}
}

// fitError counts the reasons. While no reason changes, it is done once.
func (f *fastRoad) fitError(snap *framework.Snapshot, pod *framework.PodInfo, v *engine.View) *FitError {
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

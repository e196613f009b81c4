package scheduling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/pick"
)

// referencePath is the reference path: it asks every enabled plugin about every node, in the
// order of kube-scheduler with one worker. It defines the right answer, and the
// incremental path must agree with it. All slices are reused from decision to
// decision.
type referencePath struct {
	plugins *plugins
	workers int
	crowds  *crowds // nil on the reference path proper
	cycle   framework.Cycle
	bound   boundPlugins
	ready   bool // the cycle is that of the next decision, and its filters are bound

	within   *NodeSet  // the nodes that may be searched; nil: all
	slots    []int     // of these nodes, in the snapshot's order
	list     []int     // places that may be searched; nil: all
	places   []int     // memory for list
	verdicts []verdict // by place among slots
	visited  int
	full     bool // the sample is complete
	rejected []int

	// nominated is set if the node that the pod was nominated to is feasible, so
	// that no search was needed.
	nominated bool
	early     earlyAnswer

	feasible []*framework.NodeInfo
	rated    []*framework.NodeInfo // as the scorers see them; nil: same as feasible
	extended extended

	raw     [][]int64 // by bound scorer, by place among the feasible
	norm    [][]int64 // the same slice as raw if nothing is normalized
	buffers [][]int64
	totals  []int64
	tied    []int // places among the feasible
}

// verdict is the filters' answer for a node: which filter rejected it, and how.
type verdict struct {
	filter int32 // index of the profile's filter, or one of the values below
	status framework.Status
}

const (
	passed    = -1
	unvisited = -2 // beyond the sample, or after an error ended the search
	excluded  = -3 // left out by a PreFilter

	byExtender = math.MaxInt32
)

// begin forgets what another decision may have left.
func (r *referencePath) begin(ctx context.Context) {
	r.ready = false
	r.extended.ctx, r.extended.replay, r.extended.nominated.known = ctx, nil, false
}

// search finds the feasible nodes, starting at place start, and stops after want of
// them. Then it asks the extenders about these.
//
// Source: kube-scheduler 1.37, schedule_one.go, findNodesThatFitPod, with one
// worker.
func (r *referencePath) search(s *framework.Snapshot, percentage, start int) error {
	if err := r.searchByPlugins(s, percentage, start); err != nil || r.nominated {
		return err
	}
	return r.askExtenders(s)
}

func (r *referencePath) searchByPlugins(s *framework.Snapshot, percentage, start int) error {
	r.feasible, r.rated, r.visited, r.nominated = r.feasible[:0], nil, 0, false
	r.full = false
	r.slots = r.within.slotsOf(s)
	n := len(r.slots)
	if !r.ready {
		if err := r.plugins.bindFilters(&r.cycle, allOf(r.cycle.Pod), &r.bound, &r.plugins.allFilters); err != nil {
			return err
		}
	}
	r.ready = false
	r.verdicts = slices.Grow(r.verdicts[:0], n)[:n]
	if !r.bound.rejected.IsSuccess() {
		r.fill(excluded)
		return nil
	}
	r.list = nil
	count := n
	if r.bound.restrict {
		r.fill(excluded)
		r.listRestricted(s)
		count = len(r.list)
	}
	if r.searchNominated(s) {
		return nil
	}
	defer r.keepEarly()
	if count == 0 {
		return nil
	}
	start %= count
	want := r.plugins.wanted(count, percentage)
	var err error
	if all := want >= count && s.Nominations() == 0; all && r.workers > 1 {
		err = r.searchParallel(s, start, count)
	} else if all && r.list == nil && r.searchByColumns(s, start) {
		return nil
	} else if err = r.visit(s, start, count, want); err == nil {
		err = r.visit(s, 0, start, want)
	}
	if err != nil {
		for k := r.visited; k < count; k++ {
			r.verdicts[r.place((start+k)%count)] = verdict{filter: unvisited}
		}
	}
	return err
}

// place returns the place of number k of the list.
func (r *referencePath) place(k int) int {
	if r.list != nil {
		return r.list[k]
	}
	return k
}

// visit filters entries from to to-1 of the list. It stops at the first feasible
// node after want of them were found. That node does not count as visited; nodes
// rejected before it do.
func (r *referencePath) visit(s *framework.Snapshot, from, to, want int) (err error) {
	var p probe
	defer r.catch(&p, &err)
	nominations := s.Nominations() > 0
	for k := from; k < to; k++ {
		place := r.place(k)
		if r.full {
			r.verdicts[place].filter = unvisited
			continue
		}
		p.node = s.AtSlot(r.slots[place])
		if nominations {
			r.verdicts[place], err = r.filterWithNominated(s, &p)
		} else {
			err = r.filter(&p, &r.verdicts[place])
		}
		if err != nil {
			return err
		}
		if r.verdicts[place].filter == passed {
			if r.full = len(r.feasible) == want; r.full {
				r.verdicts[place].filter = unvisited
				continue
			}
			r.feasible = append(r.feasible, p.node)
		}
		r.visited++
	}
	return nil
}

func (r *referencePath) fill(with int32) {
	for i := range r.verdicts {
		r.verdicts[i] = verdict{filter: with}
	}
}

// listRestricted lists the places of the named nodes, in the snapshot's order.
func (r *referencePath) listRestricted(s *framework.Snapshot) {
	named := make([]int, 0, len(r.bound.nodes))
	for _, name := range r.bound.nodes {
		if n := s.Node(name); n != nil {
			named = append(named, n.Slot())
		}
	}
	slices.Sort(named)
	r.list = r.places[:0]
	for i, slot := range r.slots {
		if _, found := slices.BinarySearch(named, slot); found {
			r.list = append(r.list, i)
		}
	}
	r.places = r.list
}

// hasPreference reports whether one feasible node may be better than another.
func (t *plugins) hasPreference() bool {
	return len(t.scorers) > 0 || slices.ContainsFunc(t.extenders, func(e Extender) bool { return e.Filter != nil || e.Prioritize != nil })
}

// wanted is how many feasible nodes of n end the search.
func (t *plugins) wanted(n, percentage int) int {
	if !t.hasPreference() {
		return pick.Any(n)
	}
	return pick.Sample(n, percentage)
}

// probe notes which filter is asked about which node, so that a panic can name both.
type probe struct {
	filter int // index in bound.filters
	node   *framework.NodeInfo
}

// filter asks the filters about the probe's node; the first rejection decides. The
// verdict's status is valid only for a rejection.
func (r *referencePath) filter(p *probe, v *verdict) error {
	return r.ask(r.bound.filters, p, v)
}

func (r *referencePath) ask(filters []boundFilter, p *probe, v *verdict) error {
	for i := range filters {
		p.filter = i
		status := filters[i].Filter.Filter(r.cycle.Pod, p.node)
		if status.IsSuccess() {
			continue
		}
		if !status.IsRejected() {
			return r.filterError(i, p.node, status.Err())
		}
		*v = verdict{int32(filters[i].At), status}
		return nil
	}
	v.filter = passed
	return nil
}

// catch turns a panic in a filter into an error. It must be deferred.
func (r *referencePath) catch(p *probe, err *error) {
	if v := recover(); v != nil {
		*err = r.filterError(p.filter, p.node, recovered(v))
	}
}

func (r *referencePath) filterError(i int, node *framework.NodeInfo, err error) error {
	if err == nil {
		err = fmt.Errorf("a filter must not answer Wait or Skip")
	}
	return &PluginError{Point: "Filter", Plugin: r.plugins.filters[r.bound.filters[i].At].name, Node: node.Name(), Err: err}
}

// searchParallel visits all nodes of the list. Its results, their order, and the
// node at which an error ends it are the same as in the sequential search.
func (r *referencePath) searchParallel(s *framework.Snapshot, start, count int) error {
	place := func(k int) int { return r.place((start + k) % count) }
	workers := r.pieces(count)
	errs, ends := make([]error, workers), make([]int, workers)
	r.each(count, func(worker, lo, hi int) {
		var p probe
		k := lo
		defer func() { ends[worker] = k }()
		defer r.catch(&p, &errs[worker])
		for ; k < hi; k++ {
			p.node = s.AtSlot(r.slots[place(k)])
			if errs[worker] = r.filter(&p, &r.verdicts[place(k)]); errs[worker] != nil {
				return
			}
		}
	})
	var err error
	r.visited = count
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		r.visited, err = ends[i], errs[i]
	}
	for k := range r.visited {
		if r.verdicts[place(k)].filter == passed {
			r.feasible = append(r.feasible, s.AtSlot(r.slots[place(k)]))
		}
	}
	return err
}

// pieces is how many workers have work for n nodes, at least one.
//
// Source: kube-scheduler 1.37, framework/parallelize.
func (r *referencePath) pieces(n int) int {
	if r.workers <= 1 || n <= 1 {
		return 1
	}
	chunk := max(1, min(int(math.Sqrt(float64(n))), n/r.workers+1))
	return min(r.workers, (n+chunk-1)/chunk)
}

// each splits [0,n) into contiguous pieces, in order, one per worker that has work.
func (r *referencePath) each(n int, f func(worker, lo, hi int)) {
	workers := r.pieces(n)
	if workers == 1 {
		f(0, 0, n)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		lo, hi := n*w/workers, n*(w+1)/workers
		wg.Go(func() { f(w, lo, hi) })
	}
	wg.Wait()
}

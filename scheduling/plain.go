package scheduling

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/berth-sched/berth/framework"
)

// road is the plain road: every enabled plugin is asked for every node, in the
// order in which kube-scheduler with one worker would. It is the definition of
// the right answer; the fast road must agree with it. All slices are reused
// from decision to decision.
type road struct {
	plugins *plugins
	workers int
	cycle   framework.Cycle
	bound   binding

	list     []int     // places that may be searched; nil: all
	places   []int     // memory for list
	verdicts []verdict // by place in the snapshot's order
	visited  int

	// nominated tells that the node the pod was nominated to was found feasible
	// and the search spared.
	nominated bool

	feasible []*framework.NodeInfo
	raw      [][]int64 // by bound scorer, by place among the feasible
	norm     [][]int64 // the same slice as raw where nothing is normalized
	buffers  [][]int64
	totals   []int64
	tied     []int // places among the feasible
}

// verdict is a node's answer: which filter rejected it and how.
type verdict struct {
	filter int32 // index of the profile's filter, or one of the values below
	status framework.Status
}

const (
	passed    = -1
	unvisited = -2 // beyond the sample
	excluded  = -3 // left out by a PreFilter
)

// search finds the feasible nodes, from place start on, and stops after want
// of them.
//
// Source: kube-scheduler 1.37, schedule_one.go, findNodesThatFitPod, with one
// worker.
func (r *road) search(s *framework.Snapshot, percentage, start int) error {
	r.feasible, r.visited, r.nominated = r.feasible[:0], 0, false
	n := s.Len()
	if err := r.plugins.bindFilters(&r.cycle, &r.bound, choice{}); err != nil {
		return err
	}
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
	if count == 0 {
		return nil
	}
	start %= count
	want := wanted(count, percentage, len(r.plugins.scorers) > 0)
	if want >= count && r.workers > 1 && s.Nominations() == 0 {
		return r.searchParallel(s, start, count)
	}
	if err := r.visit(s, start, count, want); err != nil {
		return err
	}
	return r.visit(s, 0, start, want)
}

// place returns the place in the snapshot's order of number k of the list.
func (r *road) place(k int) int {
	if r.list != nil {
		return r.list[k]
	}
	return k
}

// visit filters numbers from to to-1 of the list, until want nodes are
// feasible.
func (r *road) visit(s *framework.Snapshot, from, to, want int) (err error) {
	var p probe
	defer r.catch(&p, &err)
	slots := s.Order()
	nominations := s.Nominations() > 0
	for k := from; k < to; k++ {
		place := r.place(k)
		if len(r.feasible) == want {
			r.verdicts[place].filter = unvisited
			continue
		}
		p.node = s.AtSlot(slots[place])
		if nominations {
			r.verdicts[place], err = r.filterWithNominated(s, &p)
		} else {
			err = r.filter(&p, &r.verdicts[place])
		}
		if err != nil {
			return err
		}
		r.visited++
		if r.verdicts[place].filter == passed {
			r.feasible = append(r.feasible, p.node)
		}
	}
	return nil
}

func (r *road) fill(with int32) {
	for i := range r.verdicts {
		r.verdicts[i] = verdict{filter: with}
	}
}

// listRestricted lists the places of the named nodes, in the snapshot's order.
func (r *road) listRestricted(s *framework.Snapshot) {
	r.list = r.places[:0]
	for i, node := range s.All() {
		if _, found := slices.BinarySearch(r.bound.nodes, node.Node.Name); found {
			r.list = append(r.list, i)
		}
	}
	r.places = r.list
}

// wanted is how many feasible nodes end the search among n.
//
// Source: kube-scheduler 1.37, schedule_one.go, numFeasibleNodesToFind.
func wanted(n, percentage int, scoring bool) int {
	const atLeast = 100
	switch {
	case !scoring:
		return min(1, n)
	case percentage == AllNodes || n < atLeast:
		return n
	case percentage == Adaptive:
		percentage = max(5, 50-n/125)
	}
	return min(n, max(atLeast, n/100*percentage+n%100*percentage/100))
}

// probe remembers who is being asked, so that a panic can be told.
type probe struct {
	filter int // index in bound.filters
	node   *framework.NodeInfo
}

// filter asks the filters about the probe's node; the first that says no
// decides. The verdict's status means something only if there is one.
func (r *road) filter(p *probe, v *verdict) error {
	return r.ask(r.bound.filters, p, v)
}

func (r *road) ask(filters []boundFilter, p *probe, v *verdict) error {
	for i := range filters {
		p.filter = i
		status := filters[i].filter.Filter(r.cycle.Pod, p.node)
		if status.IsSuccess() {
			continue
		}
		if !status.IsRejected() {
			return r.filterError(i, p.node, status.Err())
		}
		*v = verdict{int32(filters[i].at), status}
		return nil
	}
	v.filter = passed
	return nil
}

// catch makes an error of a panic in a filter. It must be deferred.
func (r *road) catch(p *probe, err *error) {
	if v := recover(); v != nil {
		*err = r.filterError(p.filter, p.node, recovered(v))
	}
}

func (r *road) filterError(i int, node *framework.NodeInfo, err error) error {
	if err == nil {
		err = fmt.Errorf("a filter must not answer Wait or Skip")
	}
	return &PluginError{Point: "Filter", Plugin: r.plugins.filters[r.bound.filters[i].at].name, Node: node.Name(), Err: err}
}

// searchParallel visits all nodes of the list; the order of the results is that
// of the plain search.
func (r *road) searchParallel(s *framework.Snapshot, start, count int) error {
	errs := make([]error, r.workers)
	r.each(count, func(worker, lo, hi int) {
		var p probe
		defer r.catch(&p, &errs[worker])
		for k := lo; k < hi && errs[worker] == nil; k++ {
			place := r.place(k)
			p.node = s.At(place)
			errs[worker] = r.filter(&p, &r.verdicts[place])
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	r.visited = count
	for k := range count {
		if k += start; k >= count {
			k -= count
		}
		if place := r.place(k); r.verdicts[place].filter == passed {
			r.feasible = append(r.feasible, s.At(place))
		}
	}
	return nil
}

// each splits [0,n) into one contiguous piece per worker, in order.
func (r *road) each(n int, f func(worker, lo, hi int)) {
	if r.workers <= 1 {
		f(0, 0, n)
		return
	}
	var wg sync.WaitGroup
	for w := range r.workers {
		lo, hi := n*w/r.workers, n*(w+1)/r.workers
		wg.Go(func() { f(w, lo, hi) })
	}
	wg.Wait()
}

// score fills raw, norm and totals for the feasible nodes.
//
// Source: kube-scheduler 1.37, framework/runtime, RunPreScorePlugins and
// RunScorePlugins.
func (r *road) score() error {
	if err := r.plugins.bindScorers(&r.cycle, (*everyNode)(r), &r.bound, choice{}); err != nil {
		return err
	}
	n := len(r.feasible)
	r.totals = slices.Grow(r.totals[:0], n)[:n]
	clear(r.totals)
	r.raw, r.norm = r.raw[:0], r.norm[:0]
	for i := range r.bound.scorers {
		b := &r.bound.scorers[i]
		raw := r.buffer(2*i, n)
		if err := r.column(b, raw); err != nil {
			return err
		}
		norm := raw
		if b.byRange != nil || b.byNodes != nil {
			norm = r.buffer(2*i+1, n)
			copy(norm, raw)
			if err := r.normalize(b, norm); err != nil {
				return err
			}
		}
		if err := r.add(b, norm); err != nil {
			return err
		}
		r.raw, r.norm = append(r.raw, raw), append(r.norm, norm)
	}
	return nil
}

// everyNode shows the feasible nodes of a road one by one.
type everyNode road

func (r *everyNode) List() []*framework.NodeInfo        { return r.feasible }
func (r *everyNode) Groups(int) framework.FeasibleNodes { return nil }

func (r *road) buffer(i, n int) []int64 {
	for len(r.buffers) <= i {
		r.buffers = append(r.buffers, nil)
	}
	r.buffers[i] = slices.Grow(r.buffers[i][:0], n)[:n]
	return r.buffers[i]
}

// column asks one scorer about every feasible node.
func (r *road) column(b *boundScorer, raw []int64) error {
	if r.workers <= 1 {
		return r.scoreRange(b, raw, 0, len(raw))
	}
	errs := make([]error, r.workers)
	r.each(len(raw), func(worker, lo, hi int) { errs[worker] = r.scoreRange(b, raw, lo, hi) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *road) scoreRange(b *boundScorer, raw []int64, lo, hi int) (err error) {
	i := lo
	defer func() {
		if p := recover(); p != nil {
			err = r.scoreError("Score", b, r.feasible[i], recovered(p))
		}
	}()
	if b.batch != nil {
		b.batch.ScoreNodes(r.cycle.Pod, r.feasible[lo:hi], raw[lo:hi])
		return nil
	}
	for ; i < hi; i++ {
		raw[i] = b.scorer.Score(r.cycle.Pod, r.feasible[i])
	}
	return nil
}

// normalize maps the column to [0,100] by the plugin's own rule.
func (r *road) normalize(b *boundScorer, column []int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PluginError{Point: "NormalizeScore", Plugin: r.plugins.scorers[b.at].name, Err: recovered(p)}
		}
	}()
	if b.byRange == nil {
		b.byNodes.NormalizeScores(r.feasible, column)
		return nil
	}
	if b.except != nil {
		normalizeExcept(b.except, r.feasible, column)
		return nil
	}
	smallest, largest := extremes(column)
	for i, raw := range column {
		column[i] = b.byRange.NormalizeScore(raw, smallest, largest)
	}
	return nil
}

// normalizeExcept normalizes by the range of the nodes that the scorer does not
// leave out. Those that it does get 0.
func normalizeExcept(by framework.RangeExcluder, nodes []*framework.NodeInfo, column []int64) {
	smallest, largest := int64(math.MaxInt64), int64(math.MinInt64)
	for i, raw := range column {
		if !by.Excludes(nodes[i]) {
			smallest, largest = min(smallest, raw), max(largest, raw)
		}
	}
	for i, raw := range column {
		column[i] = 0
		if !by.Excludes(nodes[i]) {
			column[i] = by.NormalizeScore(raw, smallest, largest)
		}
	}
}

func extremes(column []int64) (smallest, largest int64) {
	smallest, largest = math.MaxInt64, math.MinInt64
	for _, x := range column {
		smallest, largest = min(smallest, x), max(largest, x)
	}
	return smallest, largest
}

// add checks the bounds and adds the weighted column to the totals.
func (r *road) add(b *boundScorer, column []int64) error {
	for i, x := range column {
		if uint64(x) > uint64(framework.MaxNodeScore) {
			return r.scoreError("NormalizeScore", b, r.feasible[i], errScoreRange(x))
		}
		r.totals[i] += x * b.weight
	}
	return nil
}

func (r *road) scoreError(point string, b *boundScorer, node *framework.NodeInfo, err error) error {
	return &PluginError{Point: point, Plugin: r.plugins.scorers[b.at].name, Node: node.Name(), Err: err}
}

// best collects the places of the highest total.
func (r *road) best() (largest int64) {
	_, largest = extremes(r.totals)
	r.tied = r.tied[:0]
	for i, t := range r.totals {
		if t == largest {
			r.tied = append(r.tied, i)
		}
	}
	return largest
}

// choose breaks the tie and returns a place among the feasible nodes.
func (r *road) choose(rule TieRule, own TieBreak, largest int64, seed uint64) (place int, err error) {
	switch rule {
	case Reservoir:
		return reservoirPick(r.totals, seed), nil
	case Heap:
		return heapPick(r.totals, largest), nil
	case First:
		return r.tied[0], nil
	case ByName:
		return slices.MinFunc(r.tied, func(a, b int) int {
			return strings.Compare(r.feasible[a].Node.Name, r.feasible[b].Node.Name)
		}), nil
	case Custom:
		nodes := make([]*framework.NodeInfo, len(r.tied))
		for i, k := range r.tied {
			nodes[i] = r.feasible[k]
		}
		i, err := callTieBreak(own, nodes, seed)
		if err != nil {
			return 0, err
		}
		return r.tied[i], nil
	default:
		return r.tied[draw(seed, len(r.tied))], nil
	}
}

func callTieBreak(own TieBreak, nodes []*framework.NodeInfo, seed uint64) (i int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PluginError{Point: "TieBreak", Plugin: "Custom", Err: recovered(p)}
		}
	}()
	if i = own(nodes, seed); i < 0 || i >= len(nodes) {
		return 0, &PluginError{Point: "TieBreak", Plugin: "Custom", Err: fmt.Errorf("returned index %d of %d tied nodes", i, len(nodes))}
	}
	return i, nil
}

// fitError counts why no node is feasible.
func (r *road) fitError(s *framework.Snapshot) *FitError {
	e := &FitError{Pod: r.cycle.Pod.Pod.Key(), Nodes: s.Len(), Restricting: slices.Clone(r.bound.restricting)}
	if !r.bound.rejected.IsSuccess() {
		e.PreFilter = r.bound.rejected.Message()
		e.Rejections = []Rejection{{r.bound.rejectedBy, r.bound.rejected, s.Len()}}
		return e
	}
	var counted tally
	for i := range r.verdicts {
		counted.add(r.verdicts[i], r.bound.absent)
	}
	e.Rejections = counted.rejections(r.plugins)
	return e
}

// tally counts equal verdicts.
type tally struct {
	verdicts []verdict
	counts   []int
}

func (t *tally) add(v verdict, absent framework.Status) {
	if v.filter == passed {
		return
	}
	if v.filter < 0 {
		v = verdict{excluded, absent}
	}
	for i := range t.verdicts {
		if t.verdicts[i].filter == v.filter && t.verdicts[i].status.Same(v.status) {
			t.counts[i]++
			return
		}
	}
	t.verdicts, t.counts = append(t.verdicts, v), append(t.counts, 1)
}

// rejections lists the counts.
func (t *tally) rejections(p *plugins) []Rejection {
	list := make([]counted, len(t.verdicts))
	for i, v := range t.verdicts {
		list[i] = counted{int(v.filter), v.status, t.counts[i]}
	}
	return p.rejections(list)
}

// counted is how many nodes one filter rejected in one way.
type counted struct {
	filter int // index of the profile's filter; negative: none
	status framework.Status
	nodes  int
}

// rejections names the filters, in their order, and the reasons of each in the
// order of code and text.
func (p *plugins) rejections(list []counted) []Rejection {
	slices.SortStableFunc(list, func(a, b counted) int {
		return cmp.Or(
			cmp.Compare(a.filter, b.filter),
			cmp.Compare(a.status.Code(), b.status.Code()),
			strings.Compare(a.status.Message(), b.status.Message()),
		)
	})
	out := make([]Rejection, len(list))
	for i, c := range list {
		out[i] = Rejection{Status: c.status, Nodes: c.nodes}
		if c.filter >= 0 {
			out[i].Plugin = p.filters[c.filter].name
		}
	}
	return out
}

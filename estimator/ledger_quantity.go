package estimator

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// quantitySums are the sums by the rules up to 1.6, over the node's resources.
//
//	whole = use by the statistic - usage of pods in their window
//	      + Σ max(estimate, usage) of pods in their window
//	prod  = Σ usage of prod pods out of their window
//	      + Σ max(estimate, usage) of prod pods in theirs
//
// Usage counts only for existing pods, and is added up exactly before rounding. A
// pod is in its window if the metric does not report it, if it was placed later
// than the metric or less than an interval before it, or if the score's statistic
// is missing. Up to 1.5, filters see only the use by the statistic, or the usage of
// all prod pods.
//
// A pod that the metric does not report adds only its estimate; for any other pod,
// everything is recomputed.
//
// Source: Koordinator 1.4, load_aware.go; 1.6, GetEstimatedUsed.
type quantitySums struct {
	load      *Load
	node      *NodeLoad // nil: not derived yet
	measured  bool
	known     [bases]bool
	estimated [bases]bool // estimates count for this purpose
	width     int         // number of resources
	estimates []wide      // width entries for each class
	uses      []int64     // width entries without estimates for each purpose, then the totals

	// By pod of the account: since when it counts as placed (at most lastSeen), and
	// whether it is prod.
	seen     []time.Time
	lastSeen time.Time
	prod     []bool
}

// The groups of pods with sums of their own.
const (
	wholeClass = iota // all pods
	prodClass
	bothClasses
)

// classOf is the group of pods for each Basis.
var classOf = [bases]int{WholeForFilter: wholeClass, ProdForFilter: prodClass, WholeForScore: wholeClass, ProdForScore: prodClass}

func (q *quantitySums) clone() sums {
	c := *q
	c.seen, c.prod = slices.Clone(q.seen), slices.Clone(q.prod)
	c.estimates, c.uses = slices.Clone(q.estimates), slices.Clone(q.uses)
	return &c
}

// fixed returns the part of the use without estimates.
func (q *quantitySums) fixed(b Basis) []int64 { return q.uses[int(b)*q.width:][:q.width:q.width] }

func (q *quantitySums) total(b Basis) []int64 { return q.fixed(bases + b) }

func (q *quantitySums) estimatesOf(class int) []wide { return q.estimates[class*q.width:][:q.width] }

func (q *quantitySums) use(b Basis) []int64 {
	if !q.measured || !q.known[b] {
		return nil
	}
	return q.total(b)
}

func (q *quantitySums) after(b Basis, p *PodLoad, pods int64, r int) int64 {
	if !q.estimated[b] {
		return q.total(b)[r]
	}
	estimate, class := int64(0), classOf[b]
	if r < len(p.Estimate) && (class == wholeClass || p.Prod) {
		estimate = p.Estimate[r]
	}
	return q.load.config.Arithmetic.sum(q.estimatesOf(class)[r].plusTimes(estimate, pods), widen(q.fixed(b)[r]))
}

func (q *quantitySums) nodeChanged() { q.node = nil }

func (q *quantitySums) placed(a *account) {
	q.enter(a)
	q.post(a, len(a.pods)-1, (*wide).add)
}

func (q *quantitySums) leaving(a *account, i int) {
	q.post(a, i, (*wide).sub)
	last := len(q.seen) - 1
	q.seen[i], q.prod[i] = q.seen[last], q.prod[last]
	q.seen, q.prod = q.seen[:last], q.prod[:last]
}

// enter adds the next pod of the account.
func (q *quantitySums) enter(a *account) {
	p := &a.pods[len(q.seen)]
	q.seen = append(q.seen, p.seen(&q.load.traits))
	q.prod = append(q.prod, q.load.Pod(p.pod).Prod)
	q.noteTime(len(q.seen) - 1)
}

// noteTime updates lastSeen.
func (q *quantitySums) noteTime(i int) {
	if at := q.seen[i]; at.After(q.lastSeen) {
		q.lastSeen = at
	}
}

// post adds or subtracts a pod without a report. For a pod with a report, the
// ledger rebuilds the sums.
func (q *quantitySums) post(a *account, i int, op func(*wide, int64)) {
	if !q.measured || a.matches.reported(i) {
		return
	}
	d := q.load.Pod(a.pods[i].pod)
	whole, prod := q.estimatesOf(wholeClass), q.estimatesOf(prodClass)
	for r, x := range d.Estimate {
		op(&whole[r], x)
		if d.Prod {
			op(&prod[r], x)
		}
	}
}

func (q *quantitySums) settle() {
	for b := range Basis(bases) {
		estimates, total := q.estimatesOf(classOf[b]), q.total(b)
		for r, x := range q.fixed(b) {
			if q.estimated[b] {
				x = q.load.config.Arithmetic.sum(estimates[r], widen(x))
			}
			total[r] = x
		}
	}
}

func (q *quantitySums) rebuild(l *Ledger, n *framework.NodeInfo, a *account) {
	for len(q.seen) < len(a.pods) {
		q.enter(a)
	}
	q.measured = a.metric != nil
	if !q.measured {
		return
	}
	if q.node == nil {
		q.node = q.load.Node(n)
	}
	d, info := q.node, a.metric.Status.NodeMetric
	q.width = len(d.Resources)
	q.estimates, q.uses = resized(q.estimates, bothClasses*q.width), resized(q.uses, 2*bases*q.width)
	forProd := q.load.prodScored || d.ForProd
	base, scored := q.load.legacyStatistic(q.load.scoreStatistic, info)
	sums := &l.reports.sums
	sums.reset(len(d.Resources))
	if forProd || !q.settled(a, scored) {
		reports := l.reports.of(l, q, n, a, forProd)
		q.addEstimates(a, reports, scored)
		sums.add(d.Resources, reports, forProd)
	}

	enough := info != nil || q.load.traits.metricsOnly
	q.estimated = [bases]bool{true, true, true, true}
	q.known = [bases]bool{WholeForFilter: enough, ProdForFilter: enough && forProd, WholeForScore: enough, ProdForScore: enough && forProd}
	q.fixWhole(WholeForScore, base, sums)
	q.fixProd(ProdForScore, sums)
	reported := scored
	if d.statistic != q.load.scoreStatistic {
		base, reported = q.load.legacyStatistic(d.statistic, info)
	}
	if !q.load.traits.metricsOnly {
		q.fixWhole(WholeForFilter, base, sums)
		copy(q.fixed(ProdForFilter), q.fixed(ProdForScore))
		return
	}
	q.known[WholeForFilter], q.known[ProdForFilter] = reported, forProd && len(a.metric.Status.PodsMetric) > 0
	q.estimated[WholeForFilter], q.estimated[ProdForFilter] = false, false
	whole, prod := q.fixed(WholeForFilter), q.fixed(ProdForFilter)
	for r, name := range d.Resources {
		whole[r] = q.load.config.Arithmetic.milli(base.Quantity(name))
		if forProd {
			prod[r] = q.load.config.Arithmetic.milli(sums.prod[r].Quantity())
		}
	}
}

// fixWhole sets the use by a statistic, minus the usage that estimates replace.
func (q *quantitySums) fixWhole(b Basis, base api.ResourceMap, sums *usageSums) {
	fixed := q.fixed(b)
	for r, name := range q.node.Resources {
		use, ok := base.Lookup(name)
		if ok && sums.some {
			use = lessReplaced(use, sums.replaced[r].Quantity())
		}
		fixed[r] = q.load.config.Arithmetic.amount(name, use)
	}
}

// fixProd sets the usage of prod pods, minus the usage that estimates replace.
func (q *quantitySums) fixProd(b Basis, sums *usageSums) {
	if !q.known[b] {
		return
	}
	fixed := q.fixed(b)
	for r, name := range q.node.Resources {
		left := sums.prod[r].Quantity().Sub(sums.prodReplaced[r].Quantity())
		fixed[r] = q.load.config.Arithmetic.amount(name, left)
	}
}

// lessReplaced returns the use minus the usage replaced by estimates, or the whole
// use if the difference would be negative.
func lessReplaced(use, replaced resource.Quantity) resource.Quantity {
	if use.Cmp(replaced) < 0 {
		return use
	}
	return use.Sub(replaced)
}

// settled reports whether it is certain, without a look at each pod, that no pod is
// in its window: all are reported, and were placed early enough.
func (q *quantitySums) settled(a *account, scored bool) bool {
	return a.simple && a.matches.missing == 0 && !q.lastSeen.After(a.windowStart) && !q.lastSeen.After(a.updated) &&
		a.metric.Status.UpdateTime != nil && (scored || q.load.scoreStatistic.kind == "")
}

// addEstimates adds up the estimates of pods in their window, and marks their
// reports.
func (q *quantitySums) addEstimates(a *account, reports *podReports, scored bool) {
	if q.settled(a, scored) {
		return
	}
	var updated time.Time
	if t := a.metric.Status.UpdateTime; t != nil {
		updated = *t
	}
	interval := reportInterval(a.metric)
	q.lastSeen = time.Time{}
	for i, at := range q.seen {
		q.noteTime(i)
		late := at.After(updated) || at.Before(updated) && updated.Sub(at) < interval ||
			!scored && q.load.scoreStatistic.kind != ""
		if !late && a.simple && a.matches.reported(i) {
			continue
		}
		d := q.load.Pod(a.pods[i].pod)
		if d.Estimate == nil {
			continue
		}
		report := reports.ofPod(i)
		for class := range bothClasses {
			if class == prodClass && !d.Prod {
				continue
			}
			var usage api.ResourceMap
			counted := report != nil && (class == wholeClass || report.prod)
			if counted {
				usage = *report.usage
			}
			if !usage.IsZero() && !late {
				continue
			}
			q.addEstimate(class, d, usage)
			if counted {
				report.inWindow[class] = true
			}
		}
	}
}

// addEstimate adds, for each estimated resource, the larger of estimate and usage.
func (q *quantitySums) addEstimate(class int, d *PodLoad, usage api.ResourceMap) {
	sum := q.estimatesOf(class)
	for r, x := range d.Estimate {
		name := q.load.names[r]
		if use, ok := usage.Lookup(name); ok && d.estimated[r] {
			x = max(x, q.load.config.Arithmetic.amount(name, use))
		}
		sum[r].add(x)
	}
}

// resized returns a cleared slice of length n: s itself if it has that length.
func resized[T any](s []T, n int) []T {
	if len(s) != n {
		return make([]T, n)
	}
	clear(s)
	return s
}

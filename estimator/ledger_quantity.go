package estimator

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// quantitySums are the sums of the rules up to 1.6, over the node's resources.
//
//	whole = use by the statistic - usage of pods in their window
//	      + Σ max(estimate, usage) of pods in their window
//	prod  = Σ usage of prod pods out of their window
//	      + Σ max(estimate, usage) of prod pods in theirs
//
// where usage counts only of pods that exist, and is added up exactly before
// it is rounded. A pod is in its window if the metric does not report it, if it
// was placed later than the metric or less than an interval before it, or if
// the score's statistic is missing. Up to 1.5 filters see the use by the
// statistic, or the usage of all prod pods, alone.
//
// A pod that the metric does not report adds its estimate and nothing else;
// otherwise everything is added up anew.
//
// Source: Koordinator 1.4, load_aware.go; 1.6, GetEstimatedUsed.
type quantitySums struct {
	load      *Load
	node      *NodeLoad // nil: to be asked for
	measured  bool
	known     [bases]bool
	estimated [bases]bool // estimates count for this purpose
	estimates [bothClasses][]wide
	fixed     [bases][]int64 // what is not an estimate
	totals    [bases][]int64
	lastSeen  time.Time // no pod was seen later than this,
	seenAll   bool      // if all have been looked at
}

// The groups of pods that sums are kept for.
const (
	wholeClass = iota // all pods
	prodClass
	bothClasses
)

// classOf is the group of pods behind each use.
var classOf = [bases]int{WholeForFilter: wholeClass, ProdForFilter: prodClass, WholeForScore: wholeClass, ProdForScore: prodClass}

func (q *quantitySums) clone() sums {
	c := *q
	for i := range q.estimates {
		c.estimates[i] = slices.Clone(q.estimates[i])
	}
	for i := range q.totals {
		c.fixed[i], c.totals[i] = slices.Clone(q.fixed[i]), slices.Clone(q.totals[i])
	}
	return &c
}

func (q *quantitySums) use(b Basis) []int64 {
	if !q.measured || !q.known[b] {
		return nil
	}
	return q.totals[b]
}

func (q *quantitySums) nodeChanged() { q.node = nil }

func (q *quantitySums) placed(a *account) {
	q.noteTime(a.pods[len(a.pods)-1].seen(&q.load.traits))
	q.post(a, len(a.pods)-1, (*wide).add)
}

func (q *quantitySums) leaving(a *account, i int) { q.post(a, i, (*wide).sub) }

// post adds a pod that is not reported, or takes it away. For one that is, the
// ledger rebuilds the sums.
func (q *quantitySums) post(a *account, i int, op func(*wide, int64)) {
	if !q.measured || a.matches.reported(i) {
		return
	}
	d := q.load.Pod(a.pods[i].pod)
	for r, x := range d.Estimate {
		op(&q.estimates[wholeClass][r], x)
		if d.Prod {
			op(&q.estimates[prodClass][r], x)
		}
	}
}

func (q *quantitySums) settle() {
	for b := range q.totals {
		estimates := q.estimates[classOf[b]]
		for r, x := range q.fixed[b] {
			if q.estimated[b] {
				x = q.load.config.Arithmetic.sum(estimates[r], widen(x))
			}
			q.totals[b][r] = x
		}
	}
}

func (q *quantitySums) rebuild(l *Ledger, n *framework.NodeInfo, a *account) {
	q.measured = a.metric != nil
	if !q.measured {
		return
	}
	if q.node == nil {
		q.node = q.load.Node(n)
	}
	d, info, m := q.node, a.metric.Status.NodeMetric, q.load.config.Arithmetic
	for i := range q.estimates {
		q.estimates[i] = resized(q.estimates[i], len(d.Resources))
	}
	for b := range q.totals {
		q.fixed[b], q.totals[b] = resized(q.fixed[b], len(d.Resources)), resized(q.totals[b], len(d.Resources))
	}
	forProd := q.load.prodScored || d.ForProd
	base, scored := q.load.legacyStatistic(q.load.scoreStatistic, info)
	var replaced, prodLeft, prod []resource.Quantity
	if q.settled(a, scored) && !forProd {
		replaced = make([]resource.Quantity, len(d.Resources)) // no pod adds anything
		prodLeft, prod = replaced, replaced
	} else {
		reports := l.reports.of(l, q.load, n, a)
		q.addEstimates(a, reports, scored)
		replaced = addUsage(d.Resources, reports, func(r *podReport) bool { return r.inWindow[wholeClass] })
		prodLeft = addUsage(d.Resources, reports, func(r *podReport) bool { return r.prod && !r.inWindow[prodClass] })
		prod = addUsage(d.Resources, reports, func(r *podReport) bool { return r.prod })
	}

	enough := info != nil || q.load.traits.metricsOnly
	q.estimated = [bases]bool{true, true, true, true}
	q.known = [bases]bool{WholeForFilter: enough, ProdForFilter: enough && forProd, WholeForScore: enough, ProdForScore: enough && forProd}
	q.fix(WholeForScore, d, func(r int, name resource.Name) int64 { return m.amount(name, lessReplaced(base, name, replaced[r])) })
	q.fix(ProdForScore, d, func(r int, name resource.Name) int64 { return m.amount(name, prodLeft[r]) })
	base, reported := q.load.legacyStatistic(d.statistic, info)
	if !q.load.traits.metricsOnly {
		q.fix(WholeForFilter, d, func(r int, name resource.Name) int64 { return m.amount(name, lessReplaced(base, name, replaced[r])) })
		q.fix(ProdForFilter, d, func(r int, name resource.Name) int64 { return m.amount(name, prodLeft[r]) })
		return
	}
	q.known[WholeForFilter], q.known[ProdForFilter] = reported, forProd && len(a.metric.Status.PodsMetric) > 0
	q.estimated[WholeForFilter], q.estimated[ProdForFilter] = false, false
	q.fix(WholeForFilter, d, func(_ int, name resource.Name) int64 { return m.milli(base[name]) })
	q.fix(ProdForFilter, d, func(r int, _ resource.Name) int64 { return m.milli(prod[r]) })
}

// fix sets what is not an estimate.
func (q *quantitySums) fix(b Basis, d *NodeLoad, value func(r int, name resource.Name) int64) {
	for r, name := range d.Resources {
		q.fixed[b][r] = value(r, name)
	}
}

// lessReplaced returns the use by the statistic without the usage of pods whose
// estimates replace it, if it is not less than that.
func lessReplaced(base resource.List, name resource.Name, replaced resource.Quantity) resource.Quantity {
	use, ok := base[name]
	if !ok || use.Cmp(replaced) < 0 {
		return use
	}
	return use.Sub(replaced)
}

// settled reports whether no pod is in its window, as far as that can be told
// without looking at each: all are reported, and were placed early enough.
func (q *quantitySums) settled(a *account, scored bool) bool {
	start := a.windowStart
	if a.updated.Before(start) {
		start = a.updated // a negative interval
	}
	return q.seenAll && a.simple && a.matches.missing == 0 && !q.lastSeen.After(start) && a.metric.Status.UpdateTime != nil &&
		(scored || q.load.scoreStatistic.kind == "")
}

// addEstimates adds up the estimates of pods in their window, and marks their
// reports.
func (q *quantitySums) addEstimates(a *account, reports *podReports, scored bool) {
	var updated time.Time
	if t := a.metric.Status.UpdateTime; t != nil {
		updated = *t
	}
	interval := reportInterval(a.metric)
	q.lastSeen, q.seenAll = time.Time{}, true
	for i := range a.pods {
		at := a.pods[i].seen(&q.load.traits)
		q.noteTime(at)
		d := q.load.Pod(a.pods[i].pod)
		if d.Estimate == nil {
			continue
		}
		late := at.After(updated) || at.Before(updated) && updated.Sub(at) < interval ||
			!scored && q.load.scoreStatistic.kind != ""
		report := reports.ofPod(i)
		for class := range bothClasses {
			if class == prodClass && !d.Prod {
				continue
			}
			var usage resource.List
			counted := report != nil && (class == wholeClass || report.prod)
			if counted {
				usage = report.usage
			}
			if len(usage) > 0 && !late {
				continue
			}
			q.addEstimate(class, d, usage)
			if counted {
				report.inWindow[class] = true
			}
		}
	}
}

// addEstimate adds the larger of estimate and usage of every resource that is
// estimated.
func (q *quantitySums) addEstimate(class int, d *PodLoad, usage resource.List) {
	for r, x := range d.Estimate {
		name := q.load.names[r]
		if use, ok := usage[name]; ok && d.estimated[r] {
			x = max(x, q.load.config.Arithmetic.amount(name, use))
		}
		q.estimates[class][r].add(x)
	}
}

// noteTime keeps lastSeen.
func (q *quantitySums) noteTime(at time.Time) {
	if at.After(q.lastSeen) {
		q.lastSeen = at
	}
}

// addUsage adds up the usage of the reports that count, by resource.
func addUsage(names []resource.Name, reports *podReports, counts func(*podReport) bool) []resource.Quantity {
	sum := make([]resource.Quantity, len(names))
	for i := range reports.list {
		if report := &reports.list[i]; counts(report) {
			for r, name := range names {
				sum[r] = sum[r].Add(report.usage[name])
			}
		}
	}
	return sum
}

// resized returns a cleared slice of that length, s itself if it fits.
func resized[T any](s []T, n int) []T {
	if len(s) != n {
		return make([]T, n)
	}
	clear(s)
	return s
}

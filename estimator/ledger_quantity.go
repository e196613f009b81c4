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
	measured  bool
	known     [bases]bool
	estimated [bases]bool // estimates count for this purpose
	estimates [bothClasses][]wide
	fixed     [bases][]int64 // what is not an estimate
	totals    [bases][]int64
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

func (q *quantitySums) placed(a *account) { q.post(&a.pods[len(a.pods)-1], (*wide).add) }

func (q *quantitySums) leaving(a *account, i int) { q.post(&a.pods[i], (*wide).sub) }

// post adds a pod that is not reported, or takes it away. For one that is, the
// ledger rebuilds the sums.
func (q *quantitySums) post(p *placement, op func(*wide, int64)) {
	if !q.measured || p.report != unreported {
		return
	}
	d := q.load.Pod(p.pod)
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

func (q *quantitySums) rebuild(c *census, n *framework.NodeInfo, a *account) {
	q.measured = a.metric != nil
	if !q.measured {
		return
	}
	d, info, m := q.load.Node(n), a.metric.Status.NodeMetric, q.load.config.Arithmetic
	for i := range q.estimates {
		q.estimates[i] = resized(q.estimates[i], len(d.Resources))
	}
	for b := range q.totals {
		q.fixed[b], q.totals[b] = resized(q.fixed[b], len(d.Resources)), resized(q.totals[b], len(d.Resources))
	}
	reports := q.reports(c, n, a.metric)
	q.addEstimates(a, reports)

	replaced := addUsage(d.Resources, reports, func(r *podReport) bool { return r.inWindow[wholeClass] })
	prodLeft := addUsage(d.Resources, reports, func(r *podReport) bool { return r.prod && !r.inWindow[prodClass] })
	enough := info != nil || q.load.traits.metricsOnly
	q.estimated = [bases]bool{true, true, true, true}
	q.known = [bases]bool{enough, enough, enough, enough}
	base, _ := q.load.legacyStatistic(q.load.scoreStatistic, info)
	q.fix(WholeForScore, d, func(r int, name resource.Name) int64 { return m.amount(name, lessReplaced(base, name, replaced[r])) })
	q.fix(ProdForScore, d, func(r int, name resource.Name) int64 { return m.amount(name, prodLeft[r]) })
	base, reported := q.load.legacyStatistic(d.statistic, info)
	if !q.load.traits.metricsOnly {
		q.fix(WholeForFilter, d, func(r int, name resource.Name) int64 { return m.amount(name, lessReplaced(base, name, replaced[r])) })
		q.fix(ProdForFilter, d, func(r int, name resource.Name) int64 { return m.amount(name, prodLeft[r]) })
		return
	}
	prod := addUsage(d.Resources, reports, func(r *podReport) bool { return r.prod })
	q.known[WholeForFilter], q.known[ProdForFilter] = reported, len(a.metric.Status.PodsMetric) > 0
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

// A podReport is what a metric says of a pod that exists.
type podReport struct {
	usage    resource.List
	prod     bool
	inWindow [bothClasses]bool
}

// reports indexes what the metric says of pods that exist. The last entry of a
// name counts.
func (q *quantitySums) reports(c *census, n *framework.NodeInfo, m *framework.NodeMetric) map[podName]*podReport {
	index := make(map[podName]*podReport, len(m.Status.PodsMetric))
	for _, r := range m.Status.PodsMetric {
		if r == nil {
			continue
		}
		name := podName{r.Namespace, r.Name}
		if p, _ := c.lookup(name, n.Slot()); p != nil {
			index[name] = &podReport{usage: r.PodUsage.ResourceList, prod: q.load.Pod(p).Prod}
		}
	}
	return index
}

// addEstimates adds up the estimates of pods in their window, and marks their
// reports.
func (q *quantitySums) addEstimates(a *account, reports map[podName]*podReport) {
	var updated time.Time
	if t := a.metric.Status.UpdateTime; t != nil {
		updated = *t
	}
	interval := reportInterval(a.metric)
	_, scored := q.load.legacyStatistic(q.load.scoreStatistic, a.metric.Status.NodeMetric)
	for i := range a.pods {
		p := &a.pods[i]
		d, at, report := q.load.Pod(p.pod), p.seen(&q.load.traits), reports[nameOf(p.pod.Pod)]
		late := at.After(updated) || at.Before(updated) && updated.Sub(at) < interval ||
			!scored && q.load.scoreStatistic.kind != ""
		if d.Estimate == nil {
			continue
		}
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

// addUsage adds up the usage of the reports that count, by resource.
func addUsage(names []resource.Name, reports map[podName]*podReport, counts func(*podReport) bool) []resource.Quantity {
	sum := make([]resource.Quantity, len(names))
	for _, report := range reports {
		if counts(report) {
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

// legacyStatistic returns the use by a statistic, and whether it is reported,
// by the rules up to 1.6: the first period that fits counts, and without a
// duration the longest one. Up to 1.5 that is the longest of all; in 1.6 the
// longest that has the kind, and the last average if none has.
//
// Source: Koordinator 1.4 and 1.6, getTargetAggregatedUsage.
func (l *Load) legacyStatistic(s statistic, info *framework.NodeMetricInfo) (use resource.List, ok bool) {
	switch {
	case info == nil:
		return nil, false
	case s.kind == "":
		return info.NodeUsage.ResourceList, true
	}
	var longest *framework.AggregatedUsage
	for i := range info.AggregatedNodeUsages {
		period := &info.AggregatedNodeUsages[i]
		use := period.Usage[s.kind].ResourceList
		switch d := period.Duration.Duration; {
		case s.duration != 0:
			if d == s.duration && len(use) > 0 {
				return use, true
			}
		case l.traits.longestOnly:
			if longest == nil || d > max(longest.Duration.Duration, 0) {
				longest = period
			}
		case len(use) > 0 && d > 0 && (longest == nil || d > longest.Duration.Duration):
			longest = period
		}
	}
	switch {
	case longest != nil:
		use = longest.Usage[s.kind].ResourceList
	case s.duration == 0 && len(info.AggregatedNodeUsages) > 0:
		use = info.NodeUsage.ResourceList
	}
	return use, len(use) > 0
}

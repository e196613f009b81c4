package estimator

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// vectorSums are the sums by the rules from 1.8 on, over the Load's resources.
//
//	whole = use by the statistic + Σ max(0, estimate - usage) of pods in their window
//	      = Σ estimate of all pods, if the statistic is missing
//	prod  = Σ usage of prod pods + Σ max(0, estimate - usage) of prod pods in their window
//
// A pod is in its window if the metric does not report it, if it was placed after
// the metric's last interval began, or if its estimation deadline is later than the
// metric. The contribution of a pod depends only on the pod and the metric, so it
// can be added and subtracted separately.
//
// Source: Koordinator 1.8, pod_assign_cache.go, addPod and deletePod.
type vectorSums struct {
	load    *Load
	node    *NodeLoad // nil: not derived yet
	entries []entry   // by pod of the account
	prod    []bool    // by pod of the account: whether it is prod

	// Upper bounds of the placement times and deadlines of all entries.
	lastPlaced, lastDeadline time.Time

	measured bool // the node reported its use; otherwise only estimateOfAll is kept
	forProd  bool // the sums for prod pods are kept
	has      [bothStatistics]bool
	sums     []wide  // sumParts parts with one element per resource
	uses     []int64 // useParts parts, in the same layout
}

// The parts of vectorSums.sums.
const (
	estimateOfAll = iota // estimates of all pods
	excess               // estimate above usage, of pods in their window
	prodUsage            // usage of prod pods
	prodExcess           // excess of prod pods
	sumParts
)

// The parts of vectorSums.uses.
const (
	useFilterBase = iota // the node's use by the filter's statistic, if reported
	useScoreBase         // the node's use by the score's statistic, if reported
	useFilter            // the results of View.Use
	useScore
	useProd
	useParts

	bothStatistics = useScoreBase + 1
)

// An entry holds the data of one pod for the sums.
type entry struct {
	placed, deadline time.Time // deadline zero: none
	estimate         []int64   // nil if it is 0 or unknown
}

func (v *vectorSums) clone() sums {
	c := *v
	c.entries, c.prod = slices.Clone(v.entries), slices.Clone(v.prod)
	c.sums, c.uses = slices.Clone(v.sums), slices.Clone(v.uses)
	return &c
}

func (v *vectorSums) arithmetic() Arithmetic { return v.load.config.Arithmetic }

func (v *vectorSums) use(b Basis) []int64 {
	switch {
	case !v.measured:
		return nil
	case b == WholeForFilter:
		return v.of(useFilter)
	case b == WholeForScore:
		return v.of(useScore)
	case v.forProd:
		return v.of(useProd)
	}
	return nil
}

func (v *vectorSums) after(b Basis, p *PodLoad, pods int64, r int) int64 {
	estimate := int64(0)
	if r < len(p.charged) {
		estimate = p.charged[r]
	}
	part := useFilterBase
	switch b {
	case ProdForFilter, ProdForScore:
		if !p.Prod {
			estimate = 0
		}
		return v.arithmetic().sum(v.sum(prodUsage)[r], v.sum(prodExcess)[r].plusTimes(max(estimate, 0), pods))
	case WholeForScore:
		part = useScoreBase
	}
	if !v.has[part] {
		return v.arithmetic().sum(v.sum(estimateOfAll)[r].plusTimes(estimate, pods), wide{})
	}
	return v.arithmetic().sum(v.sum(excess)[r].plusTimes(max(estimate, 0), pods), widen(v.of(part)[r]))
}

func (v *vectorSums) of(part int) []int64 {
	k := len(v.load.names)
	return v.uses[part*k : (part+1)*k : (part+1)*k]
}

func (v *vectorSums) sum(part int) []wide {
	k := len(v.load.names)
	return v.sums[part*k : (part+1)*k]
}

func (v *vectorSums) nodeChanged() { v.node = nil }

func (v *vectorSums) placed(a *account) {
	i := len(v.entries)
	v.enter(a, i)
	if v.measured {
		v.post(a, i, (*wide).add)
	}
}

func (v *vectorSums) leaving(a *account, i int) {
	if v.measured {
		v.post(a, i, (*wide).sub)
	}
	v.charge(i, (*wide).sub)
	last := len(v.entries) - 1
	v.entries[i], v.prod[i] = v.entries[last], v.prod[last]
	v.entries[last] = entry{}
	v.entries, v.prod = v.entries[:last], v.prod[:last]
}

// enter makes the entry of pod i, the next pod.
func (v *vectorSums) enter(a *account, i int) {
	if v.sums == nil {
		v.sums = make([]wide, sumParts*len(v.load.names))
		v.uses = make([]int64, useParts*len(v.load.names))
	}
	p := &a.pods[i]
	d := v.load.Pod(p.kept)
	placed := d.placedAt(p.keptAt)
	v.entries, v.prod = append(v.entries, entry{placed, d.deadline(placed), d.charged}), append(v.prod, d.Prod)
	v.noteTimes(i)
	v.charge(i, (*wide).add)
}

func (v *vectorSums) noteTimes(i int) {
	e := &v.entries[i]
	if e.placed.After(v.lastPlaced) {
		v.lastPlaced = e.placed
	}
	if e.deadline.After(v.lastDeadline) {
		v.lastDeadline = e.deadline
	}
}

// charge adds the pod's estimate to the estimate of all pods, or subtracts it.
func (v *vectorSums) charge(i int, op func(*wide, int64)) {
	full := v.sum(estimateOfAll)
	for r, x := range v.entries[i].estimate {
		op(&full[r], x)
	}
}

// post adds the contribution of pod i to the sums that depend on the metric, or
// subtracts it.
func (v *vectorSums) post(a *account, i int, op func(*wide, int64)) {
	e := &v.entries[i]
	known := a.matches.reported(i)
	active := v.forProd && known && v.prod[i] && a.matches.prod(a.metric, i)
	inWindow := !known || a.windowStart.Before(e.placed) || !e.deadline.IsZero() && e.deadline.After(a.updated)
	var usage *api.ResourceMap
	if known && (active || inWindow) {
		usage = &a.metric.Status.PodsMetric[a.matches.places[i]].PodUsage
	}
	if active {
		sum := v.sum(prodUsage)
		for r, name := range v.load.names {
			op(&sum[r], v.arithmetic().amount(name, usage.Quantity(name)))
		}
	}
	if inWindow {
		v.exceeding(v.sum(excess), e.estimate, usage, op)
	}
	switch {
	case !v.forProd || !v.prod[i]:
	case known && !active:
		v.exceeding(v.sum(prodExcess), e.estimate, nil, op)
	case inWindow:
		v.exceeding(v.sum(prodExcess), e.estimate, usage, op)
	}
}

// exceeding applies op to the part of the estimate above the usage.
func (v *vectorSums) exceeding(sum []wide, estimate []int64, usage *api.ResourceMap, op func(*wide, int64)) {
	for r, x := range estimate {
		if usage != nil {
			name := v.load.names[r]
			x = v.arithmetic().sub(x, v.arithmetic().amount(name, usage.Quantity(name)))
		}
		if x > 0 {
			op(&sum[r], x)
		}
	}
}

func (v *vectorSums) rebuild(_ *Ledger, n *framework.NodeInfo, a *account) {
	for i := len(v.entries); i < len(a.pods); i++ {
		v.enter(a, i)
	}
	v.measured = a.metric != nil && a.metric.Status.NodeMetric != nil
	if !v.measured {
		return
	}
	if v.sums == nil {
		v.sums = make([]wide, sumParts*len(v.load.names))
		v.uses = make([]int64, useParts*len(v.load.names))
	}
	if v.node == nil {
		v.node = v.load.Node(n)
	}
	info, d := a.metric.Status.NodeMetric, v.node
	v.base(useFilterBase, info, d.statistic)
	if v.load.scoreStatistic == d.statistic {
		v.has[useScoreBase] = v.has[useFilterBase]
		copy(v.of(useScoreBase), v.of(useFilterBase))
	} else {
		v.base(useScoreBase, info, v.load.scoreStatistic)
	}
	v.forProd = v.load.prodScored || d.ForProd
	clear(v.sums[excess*len(v.load.names):])
	if v.forProd && v.load.config.ProdIncludesSystem {
		sum := v.sum(prodUsage)
		for r, name := range v.load.names {
			sum[r].add(v.arithmetic().amount(name, info.SystemUsage.Quantity(name)))
		}
	}
	if a.matches.missing == 0 && !a.windowStart.Before(v.lastPlaced) && !v.lastDeadline.After(a.updated) {
		if v.forProd {
			v.addProd(a)
		}
		return // no pod is in its window, so there is nothing else to add
	}
	v.lastPlaced, v.lastDeadline = time.Time{}, time.Time{}
	for i := range v.entries {
		v.noteTimes(i)
		v.post(a, i, (*wide).add)
	}
}

// addProd is post for all prod pods, if no pod is in its window.
func (v *vectorSums) addProd(a *account) {
	usage, unused := v.sum(prodUsage), v.sum(prodExcess)
	reports := a.metric.Status.PodsMetric
	for i, place := range a.matches.places {
		switch {
		case !v.prod[i]:
		case a.matches.prod(a.metric, i):
			use := &reports[place].PodUsage
			for r, name := range v.load.names {
				usage[r].add(v.arithmetic().amount(name, use.Quantity(name)))
			}
		default:
			v.exceeding(unused, v.entries[i].estimate, nil, (*wide).add)
		}
	}
}

// base sets the node's use by a statistic.
func (v *vectorSums) base(part int, info *api.NodeMetricInfo, s statistic) {
	usage, ok := s.of(info)
	v.has[part] = ok
	if ok {
		base := v.of(part)
		for r, name := range v.load.names {
			base[r] = v.arithmetic().amount(name, usage.Quantity(name))
		}
	}
}

// settle computes the totals of the sums.
func (v *vectorSums) settle() {
	if !v.measured {
		return
	}
	full, delta := v.sum(estimateOfAll), v.sum(excess)
	for part := range bothStatistics {
		total := v.of(useFilter + part)
		if !v.has[part] {
			for r := range total {
				total[r] = v.arithmetic().sum(full[r], wide{})
			}
			continue
		}
		base := v.of(useFilterBase + part)
		for r := range total {
			total[r] = v.arithmetic().sum(delta[r], widen(base[r]))
		}
	}
	if v.forProd {
		usage, prodDelta, total := v.sum(prodUsage), v.sum(prodExcess), v.of(useProd)
		for r := range total {
			total[r] = v.arithmetic().sum(usage[r], prodDelta[r])
		}
	}
}

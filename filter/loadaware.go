package filter

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
)

// LoadAware rejects nodes whose real use exceeds a threshold. Estimates for the pod,
// and for pods too young to have been measured, add to that use. The reason names
// the first such resource: "node(s) cpu usage exceed threshold". Nodes whose metric
// has expired are rejected, too, with "node(s) nodeMetric expired", unless the
// configuration says otherwise.
//
// A node passes if it was never measured, has nothing of a resource, or has
// thresholds of 0. Pods of a DaemonSet pass everywhere. See [estimator.Ledger] for
// how use is kept, and [estimator.Rules] for the differences of older versions.
//
// Source: Koordinator 1.8, plugin LoadAwareScheduling, Filter.
//
// Differs: several resources above their thresholds, under the rules up to 1.6.
// Original: Koordinator reports a random one.
// Here: the first by name is reported, under all rules.
// Why: the answer must be the same on every run.
type LoadAware struct {
	// Load is the configuration, best shared with scoring.LoadAware; nil means the
	// zero [estimator.LoadConfig].
	Load *estimator.Load
}

// Name returns "LoadAwareScheduling".
func (LoadAware) Name() string { return "LoadAwareScheduling" }

func (p LoadAware) load() *estimator.Load {
	if p.Load == nil {
		return estimator.DefaultLoad()
	}
	return p.Load
}

// Scope declares that a verdict reads the node, its entry in the ledger, and the time. The
// pod matters as far as AppendClassKey says.
func (LoadAware) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsTime}
}

// AppendClassKey implements [incremental.ClassKeyer]: it appends the pod's estimate, and
// whether it is of a DaemonSet or of the class koord-prod. What these were found from, such
// as labels, makes no difference.
func (p LoadAware) AppendClassKey(b []byte, _ *framework.Snapshot, pod *framework.PodInfo) []byte {
	return p.load().Pod(pod).AppendKey(b)
}

// ClassKeyVersion implements [incremental.ClassKeyer]: keys read the pod alone.
func (LoadAware) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 }

// keyed is what AppendClassKey reads of a pod: the inputs of its estimate, and owners.
func (p LoadAware) keyed(pod *framework.PodInfo) framework.PodFields {
	load := p.load()
	if owner := pod.Pod.ControllerRef(); load.Pod(pod).DaemonSet && (owner == nil || owner.Kind != daemonSet) {
		return framework.FieldsAll // another owner counts, which FieldOwner does not cover
	}
	return load.Reads(pod) | framework.FieldOwner
}

// EventsToRegister names the events that may help a rejected pod: a node is added,
// or its allocatable or annotations change; a node metric is added, changes or is
// deleted; a pod leaves its node, or its estimate changes. Time alone is no event:
// if a node's use only ages, the pod finds it when the queue retries the pod, after
// 5 minutes at most.
func (p LoadAware) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{
		onAny(queueing.ResourceNode, queueing.ActionAdd|queueing.ActionUpdateNodeAllocatable|queueing.ActionUpdateNodeAnnotation),
		onAny("NodeMetric", queueing.ActionAll),
		onPods(gone, func(_, before, after *framework.PodInfo) bool { return readsOther(p, before, after) }),
		onSelf(p),
	}
}

const daemonSet = "DaemonSet"

// PreFilter estimates the pod.
func (p LoadAware) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	f := framework.Scratch[loadAware](c)
	f.load = p.load()
	if f.pod = f.load.Pod(c.Pod); f.pod.DaemonSet {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f.view = f.load.View(c.Snapshot)
	f.rules = loadRulesOf(f.load.Config().Rules)
	f.expired, f.arithmetic = f.load.Config().Expired, f.load.Config().Arithmetic
	f.estimate = f.pod.Estimate
	if f.rules.metricsOnly {
		f.estimate = nil
	}
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// loadRules holds the differences between versions.
type loadRules struct {
	metricsOnly     bool // only measured use counts, not the pod (up to 1.5)
	inclusive       bool // the threshold itself is too much (up to 1.5)
	passExpired     bool // an expired metric never rejects (1.4)
	failedPasses    bool // a pod that cannot be estimated passes everywhere (1.6)
	thresholdsFirst bool // without thresholds, expiry does not matter (1.8)
}

func loadRulesOf(r estimator.Rules) loadRules {
	switch r {
	case estimator.Koordinator14:
		return loadRules{metricsOnly: true, inclusive: true, passExpired: true}
	case estimator.Koordinator15:
		return loadRules{metricsOnly: true, inclusive: true}
	case estimator.Koordinator16:
		return loadRules{failedPasses: true}
	}
	return loadRules{thresholdsFirst: true}
}

// metricExpired is the answer for a node whose metric is too old.
var metricExpired = framework.UnschedulableStatus("node(s) nodeMetric expired")

// loadAware is the bound filter.
type loadAware struct {
	load       *estimator.Load
	view       estimator.View
	pod        *estimator.PodLoad
	rules      loadRules
	expired    estimator.ExpiredPolicy
	arithmetic estimator.Arithmetic
	estimate   []int64
}

func (f *loadAware) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	limits, use, status := f.limited(node)
	for i := range limits {
		if l := &limits[i]; f.exceeds(l, use[l.Resource]) {
			return l.Exceeded
		}
	}
	return status
}

// limited returns the limits that the node must keep, and the use that they limit. If there are none, status is the verdict.
func (f *loadAware) limited(node *framework.NodeInfo) (limits []estimator.Limit, use []int64, status framework.Status) {
	d := f.load.Node(node)
	thresholds, basis := f.limits(d)
	if f.rules.thresholdsFirst && (!thresholds.Set || d.Err != nil) {
		return nil, nil, framework.Status{}
	}
	if f.expired != estimator.UseExpired && f.view.Expired(node) {
		if f.rules.passExpired || f.expired == estimator.PassExpired {
			return nil, nil, framework.Status{}
		}
		return nil, nil, metricExpired
	}
	if use = f.view.Use(node, basis); use == nil || d.Err != nil || f.rules.failedPasses && f.pod.Err != nil {
		return nil, nil, framework.Status{}
	}
	return thresholds.Limits, use, framework.Status{}
}

// limits returns the thresholds that apply to the pod, and the use that they limit.
func (f *loadAware) limits(d *estimator.NodeLoad) (*estimator.Thresholds, estimator.Basis) {
	if d.ForProd && f.pod.Prod {
		return &d.Prod, estimator.ProdForFilter
	}
	return &d.Whole, estimator.WholeForFilter
}

// exceeds reports whether the use of the limit's resource, with the pod, exceeds the limit.
func (f *loadAware) exceeds(l *estimator.Limit, used int64) bool {
	percent := f.percent(l, used)
	return percent > l.Percent || percent == l.Percent && f.rules.inclusive
}

// percent returns the use of the limit's resource, with the pod, in percent.
func (f *loadAware) percent(l *estimator.Limit, used int64) int64 {
	if l.Resource < len(f.estimate) {
		used = f.arithmetic.Add(used, f.estimate[l.Resource])
	}
	return f.arithmetic.Percent(used, l.Allocatable)
}

// Replicas implements [replica.Counter]: each replica adds its estimate to the use, as no metric reports it yet. It cannot tell
// where more replicas need not mean more use: with [estimator.Wrapping], and for negative numbers.
func (f *loadAware) Replicas(pod *framework.PodInfo, node *framework.NodeInfo) (count int64, ok bool) {
	if !f.Filter(pod, node).IsSuccess() {
		return 0, true
	}
	limits, _, _ := f.limited(node)
	if f.arithmetic == estimator.Wrapping || slices.ContainsFunc(f.pod.Estimate, isNegative) ||
		slices.ContainsFunc(limits, func(l estimator.Limit) bool { return l.Allocatable < 0 }) {
		return 0, false
	}
	const most = 1 << 30
	if n := sort.Search(most, func(n int) bool { return f.exceeded(node, limits, int64(n)) != nil }); n < most {
		return int64(n), true
	}
	return math.MaxInt64, true
}

func isNegative(x int64) bool { return x < 0 }

// FilterAfter implements [replica.Counter].
func (f *loadAware) FilterAfter(_ *framework.PodInfo, node *framework.NodeInfo, replicas int64) framework.Status {
	limits, _, status := f.limited(node)
	if l := f.exceeded(node, limits, replicas); l != nil {
		return l.Exceeded
	}
	return status
}

// exceeded returns the first limit that the pod would exceed beside so many replicas of it, nil if there is none.
func (f *loadAware) exceeded(node *framework.NodeInfo, limits []estimator.Limit, replicas int64) *estimator.Limit {
	_, basis := f.limits(f.load.Node(node))
	for i := range limits {
		if l := &limits[i]; f.exceeds(l, f.view.UseAfter(node, basis, f.pod, replicas, l.Resource)) {
			return l
		}
	}
	return nil
}

// Details implements [framework.Detailer]: one detail for each resource whose use
// exceeds its threshold, in percent, with the use in the resource's own unit, what the
// pod adds to it, and the age of the metric.
func (f *loadAware) Details(pod *framework.PodInfo, node *framework.NodeInfo) (list []framework.Detail) {
	status := f.Filter(pod, node)
	if status.IsSuccess() {
		return nil
	}
	var age []framework.Fact
	if d, ok := f.view.Age(node); ok {
		age = []framework.Fact{{Name: "metric age", Value: int64(d / time.Second), Unit: framework.UnitSeconds}}
	}
	d := f.load.Node(node)
	thresholds, basis := f.limits(d)
	use := f.view.Use(node, basis)
	if status.Same(metricExpired) || use == nil {
		limit := framework.Fact{Name: "expires after", Value: int64(f.load.Config().Expiration / time.Second), Unit: framework.UnitSeconds}
		return []framework.Detail{{Subject: "metric expired", Facts: append(age, limit)}}
	}
	for i := range thresholds.Limits {
		if l := &thresholds.Limits[i]; f.exceeds(l, use[l.Resource]) {
			list = append(list, f.detail(d.Resources[l.Resource], l, use, age))
		}
	}
	return list
}

// detail describes an exceeded limit.
func (f *loadAware) detail(name resource.Name, l *estimator.Limit, use []int64, age []framework.Fact) framework.Detail {
	percent, estimate := f.percent(l, use[l.Resource]), int64(0)
	if l.Resource < len(f.estimate) {
		estimate = f.estimate[l.Resource]
	}
	unit := framework.UnitOf(name)
	if f.rules.metricsOnly {
		unit = framework.UnitMilli
	}
	asked := f.arithmetic.Percent(estimate, l.Allocatable)
	limit := l.Percent
	if f.rules.inclusive {
		limit--
	}
	return framework.Detail{
		Subject: string(name), Unit: framework.UnitPercent, Asked: asked, Used: resource.SatSub(percent, asked), Limit: limit,
		Facts: append([]framework.Fact{
			{Name: "usage", Value: percent, Unit: framework.UnitPercent},
			{Name: "threshold", Value: l.Percent, Unit: framework.UnitPercent},
			{Name: "used", Value: use[l.Resource], Unit: unit},
			{Name: "estimate", Value: estimate, Unit: unit},
			{Name: "allocatable", Value: l.Allocatable, Unit: unit},
		}, age...),
	}
}

// ValidUntil returns when the node's metric expires.
func (f *loadAware) ValidUntil(_ *framework.PodInfo, node *framework.NodeInfo) time.Time {
	if f.expired == estimator.UseExpired {
		return time.Time{}
	}
	return f.view.ValidUntil(node)
}

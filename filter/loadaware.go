package filter

import (
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
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

// Scope declares that a verdict reads the pod's estimate inputs and owners, the
// node, its entry in the ledger, and the time.
func (p LoadAware) Scope(pod *framework.PodInfo) framework.Scope {
	load := p.load()
	fields := load.Reads(pod) | framework.FieldOwner
	if owner := pod.Pod.ControllerRef(); load.Pod(pod).DaemonSet && (owner == nil || owner.Kind != daemonSet) {
		fields = framework.FieldsAll // another owner counts, which FieldOwner does not cover
	}
	return framework.Scope{Pod: fields, Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsTime}
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
	d := f.load.Node(node)
	thresholds, basis := &d.Whole, estimator.WholeForFilter
	if d.ForProd && f.pod.Prod {
		thresholds, basis = &d.Prod, estimator.ProdForFilter
	}
	if f.rules.thresholdsFirst && (!thresholds.Set || d.Err != nil) {
		return framework.Status{}
	}
	if f.expired != estimator.UseExpired && f.view.Expired(node) {
		if f.rules.passExpired || f.expired == estimator.PassExpired {
			return framework.Status{}
		}
		return framework.UnschedulableStatus("node(s) nodeMetric expired")
	}
	use := f.view.Use(node, basis)
	if use == nil || d.Err != nil || f.rules.failedPasses && f.pod.Err != nil {
		return framework.Status{}
	}
	for i := range thresholds.Limits {
		l := &thresholds.Limits[i]
		used := use[l.Resource]
		if l.Resource < len(f.estimate) {
			used = f.arithmetic.Add(used, f.estimate[l.Resource])
		}
		percent := f.arithmetic.Percent(used, l.Allocatable)
		if percent > l.Percent || percent == l.Percent && f.rules.inclusive {
			return l.Exceeded
		}
	}
	return framework.Status{}
}

// ValidUntil returns when the node's metric expires.
func (f *loadAware) ValidUntil(_ *framework.PodInfo, node *framework.NodeInfo) time.Time {
	if f.expired == estimator.UseExpired {
		return time.Time{}
	}
	return f.view.ValidUntil(node)
}

package filter

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/framework/replica"
	"github.com/berth-sched/berth/internal/topo"
)

const (
	reasonSpread      = framework.Text("node(s) didn't match pod topology spread constraints")
	reasonSpreadLabel = framework.Text("node(s) didn't match pod topology spread constraints (missing required label)")
)

// PodTopologySpread rejects a node if the pod would break one of its spread
// constraints with the action DoNotSchedule there:
//
//	pods in the node's domain + 1 if the constraint selects the pod - fewest pods in any domain > maxSkew
//
// The rejection of a node without the constraint's label is unresolvable. A pod
// counts if it is in the pod's namespace, the constraint selects it and it is not
// terminating. Its node must have the labels of all constraints of the action, and
// the constraint's node policies must include it. If there are fewer than minDomains
// domains, the fewest is 0.
//
// An empty selector counts no pod, though it selects the pod itself.
//
// The snapshot keeps the counts, so filtering a node costs one lookup per
// constraint.
//
// Source: kube-scheduler 1.37, plugin PodTopologySpread.
type PodTopologySpread struct {
	// ListDefaulting applies DefaultConstraints to pods without any constraints,
	// with a selector from the pod's services and controller. If it is off, which is
	// the default, such pods get the system's constraints, and these do not filter.
	ListDefaulting bool
	// DefaultConstraints go with ListDefaulting. They must not have selectors of
	// their own, and must not change while the plugin is in use.
	DefaultConstraints []api.TopologySpreadConstraint
}

// Name returns "PodTopologySpread".
func (PodTopologySpread) Name() string { return "PodTopologySpread" }

// Validate reports default constraints that would be unused, or that are malformed,
// duplicated or have a selector.
func (p PodTopologySpread) Validate() error {
	return topo.CheckDefaults(p.ListDefaulting, p.DefaultConstraints)
}

// Scope declares that a verdict reads the pod's choice of nodes, and pods in the node's
// topology domains; for a pod without constraints it reads nothing. The pod's namespace,
// labels and constraints matter as far as AppendClassKey says.
func (p PodTopologySpread) Scope(pod *framework.PodInfo) framework.Scope {
	var s framework.Scope
	own, some := topo.OwnSpread(pod, api.DoNotSchedule)
	switch {
	case own && !some:
		return s
	case own:
	case p.defaults():
		s.Reads = framework.ReadsObjects
	default:
		return s
	}
	s.Pod |= framework.FieldNodeChoice | framework.FieldTolerations
	s.Reads |= framework.ReadsNode | framework.ReadsDomain
	return s
}

// ScopeVaries implements [incremental.VaryingScoper].
func (PodTopologySpread) ScopeVaries() framework.PodParts { return framework.PartSpread }

// AppendClassKey implements [incremental.ClassKeyer]: it appends which pods count, or all
// constraints if one is malformed.
func (p PodTopologySpread) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	if pod.HasSpread() {
		topo.ShareRules(s, pod)
	}
	rules := p.rules(s, pod)
	if rules.Err != nil {
		return topo.AppendMalformed(b, pod)
	}
	if len(rules.List) == 0 {
		return b
	}
	return topo.Of(s).Hard(pod, rules).AppendKey(b, rules)
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (PodTopologySpread) ClassKeyVersion(s *framework.Snapshot) uint64 {
	return topo.KeyVersion(s)
}

// ClassKeySource implements [incremental.SharedKeyer].
func (PodTopologySpread) ClassKeySource() string { return topo.KeySource }

// rules returns the pod's own constraints or, if it has none, default ones.
func (p PodTopologySpread) rules(s *framework.Snapshot, pod *framework.PodInfo) *topo.Rules {
	rules := topo.HardRules(pod)
	if !rules.Own && rules.Err == nil && p.defaults() {
		rules = topo.DefaultsOf(s, pod, p.DefaultConstraints, api.DoNotSchedule)
	}
	return rules
}

// defaults reports whether a default constraint filters.
func (p PodTopologySpread) defaults() bool {
	return p.ListDefaulting && slices.ContainsFunc(p.DefaultConstraints, func(c api.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == api.DoNotSchedule
	})
}

// PreFilter skips pods without constraints of the action. A malformed one is
// an error.
func (p PodTopologySpread) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	rules := p.rules(c.Snapshot, c.Pod)
	if rules.Err != nil {
		return framework.PreFiltered{}, framework.AsStatus(fmt.Errorf(
			"get constraints from pod: obtaining pod's hard topology spread constraints: %w", rules.Err))
	}
	f := framework.Scratch[podTopologySpread](c)
	if len(rules.List) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f.rules, f.extra = rules.List, f.extra[:0]
	f.spread = topo.In(c).Hard(c.Pod, rules)
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// podTopologySpread is the bound filter. It reads live counts, so it sees pods that
// are added or removed temporarily; see AddPod.
type podTopologySpread struct {
	rules  []topo.Rule
	spread *topo.Spread
	extra  []extraCount
}

// current returns the counts, which are looked up again if the tables have given them up: a filter, or what it says of
// replicas, may be kept for long.
func (f *podTopologySpread) current() *topo.Spread {
	if f.spread.Dropped() {
		f.spread = f.spread.Renewed()
	}
	return f.spread
}

// Filter is verdict without given counts. It is asked about every node of a search: the loop of
// its own saves 6 to 10 % of the reference path's time.
func (f *podTopologySpread) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	counts := f.current().Counts
	if len(f.extra) > 0 {
		return f.verdict(node, nil, nil)
	}
	for i := range f.rules {
		rule, x := &f.rules[i], counts[i].Look(node)
		switch {
		case x.Domain < 0:
			return framework.UnresolvableStatus(reasonSpreadLabel)
		case x.Domains < rule.MinDomains:
			x.Least = 0
		}
		if rule.Self {
			x.Pods++
		}
		if x.Pods-x.Least > rule.MaxSkew {
			return framework.UnschedulableStatus(reasonSpread)
		}
	}
	return framework.Status{}
}

// Dropped reports whether the counts are not those of now any more.
func (f *podTopologySpread) Dropped() bool { return f.spread.Dropped() }

// verdict is Filter, with the counts of some rules given.
func (f *podTopologySpread) verdict(node *framework.NodeInfo, given []int, counts []replica.Count) framework.Status {
	for i := range f.rules {
		rule, x := &f.rules[i], f.spread.Counts[i].Look(node)
		if x.Domain < 0 {
			return framework.UnresolvableStatus(reasonSpreadLabel)
		}
		if len(given) > 0 && given[0] == i {
			x.Pods, x.Least = counts[0].Pods, counts[0].Fewest
			given, counts = given[1:], counts[1:]
		} else {
			x.Pods, x.Least = f.counts(i, x)
		}
		if rule.Self {
			x.Pods++
		}
		if x.Pods-x.Least > rule.MaxSkew {
			return framework.UnschedulableStatus(reasonSpread)
		}
	}
	return framework.Status{}
}

// counts returns how many pods of a rule are in the domain of a look, and the fewest in any.
func (f *podTopologySpread) counts(rule int, x topo.Look) (count, fewest int64) {
	count, fewest = x.Pods, x.Least
	if len(f.extra) > 0 {
		count, fewest = f.withExtra(rule, x.Domain)
	}
	if x.Domains < f.rules[rule].MinDomains {
		fewest = 0
	}
	return count, fewest
}

// extraCount is the difference between kube-scheduler's count of a domain and the
// live one, for a rule: all differences concern one node, as every what-if does.
type extraCount struct {
	rule   int
	domain int32
	by     int64
}

// AddPod implements [framework.FilterUpdater]. The counts are live and need no
// update, unless the pod is the first that a selector matches. But kube-scheduler, which normally ignores terminating pods and empty
// selectors, does count both when a pod is added or removed temporarily. extra holds
// that difference.
func (f *podTopologySpread) AddPod(c *framework.Cycle, other *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	f.current().Meet()
	f.note(c.Pod, other, node, 1)
	return framework.Status{}
}

// RemovePod implements [framework.FilterUpdater]; see AddPod.
func (f *podTopologySpread) RemovePod(c *framework.Cycle, other *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	f.current()
	f.note(c.Pod, other, node, -1)
	return framework.Status{}
}

func (f *podTopologySpread) note(pod, other *framework.PodInfo, node *framework.NodeInfo, by int64) {
	if pod.Pod.Namespace != other.Pod.Namespace {
		return
	}
	for i := range f.rules {
		c := f.spread.Counts[i]
		if selected, counted := f.rules[i].Selects(other); selected && !counted && c.Counts(node) {
			f.noteExtra(i, c.Domain(node), by)
		}
	}
}

// noteExtra records a difference; extra is in the order of the rules, and has each once.
func (f *podTopologySpread) noteExtra(rule int, domain int32, by int64) {
	at, known := f.extraOf(rule)
	if !known {
		f.extra = slices.Insert(f.extra, at, extraCount{rule: rule})
	}
	e := &f.extra[at]
	e.domain, e.by = domain, e.by+by
}

func (f *podTopologySpread) extraOf(rule int) (at int, known bool) {
	return slices.BinarySearchFunc(f.extra, rule, func(e extraCount, rule int) int { return cmp.Compare(e.rule, rule) })
}

// withExtra returns the count of a domain and the fewest of any, including the
// recorded differences.
func (f *podTopologySpread) withExtra(rule int, domain int32) (count, fewest int64) {
	c := f.spread.Counts[rule]
	count, fewest = c.In(domain), c.Least()
	at, known := f.extraOf(rule)
	if !known {
		return count, fewest
	}
	e := &f.extra[at]
	if e.domain == domain {
		count += e.by
	}
	return count, min(c.LeastExcept(e.domain), c.In(e.domain)+e.by)
}

// Fork implements [framework.FilterUpdater].
func (f *podTopologySpread) Fork() framework.FilterUpdater {
	return &podTopologySpread{rules: f.rules, spread: f.spread, extra: slices.Clone(f.extra)}
}

// FilterWith is Filter as if the pods had been added to the node, and AddPod called for
// each.
func (f *podTopologySpread) FilterWith(pod *framework.PodInfo, node *framework.NodeInfo, added []*framework.PodInfo) (framework.Status, bool) {
	if f.current().Stale() || len(f.extra) > 0 {
		return framework.Status{}, false
	}
	for i := range f.rules {
		c := f.spread.Counts[i]
		if !c.Counts(node) {
			continue
		}
		by := int64(0)
		for _, p := range added {
			if p.Pod.Namespace != pod.Pod.Namespace {
				continue
			}
			if selected, _ := f.rules[i].Selects(p); selected {
				by++
			}
		}
		if by > 0 {
			f.noteExtra(i, c.Domain(node), by)
		}
	}
	status := f.verdict(node, nil, nil)
	f.extra = f.extra[:0]
	return status, true
}

// Groups implements [incremental.Grouper].
func (f *podTopologySpread) Groups() incremental.Groups { return f.spread.HardGroups() }

// Version implements [incremental.DomainTracker].
func (f *podTopologySpread) Version() uint64 { return f.spread.HardVersion() }

// Changed implements [incremental.DomainTracker].
func (f *podTopologySpread) Changed(since uint64, dirty func(slot int)) bool {
	return f.spread.HardChanged(since, dirty)
}

// AppendState implements [incremental.ForkTracker].
func (f *podTopologySpread) AppendState(b []byte) []byte { return f.spread.AppendHardState(b) }

// AppendOrigin implements [incremental.ForkTracker].
func (f *podTopologySpread) AppendOrigin(b []byte) []byte { return f.spread.AppendHardOrigin(b) }

// ChangedFrom implements [incremental.ForkTracker].
func (f *podTopologySpread) ChangedFrom(state []byte, dirty func(slot int)) bool {
	return f.spread.HardChangedFrom(state, dirty)
}

// Details implements [framework.Detailer]: one detail for each constraint that the pod
// would break on the node. The limit is the fewest pods in any domain and maxSkew.
func (f *podTopologySpread) Details(_ *framework.PodInfo, node *framework.NodeInfo) (list []framework.Detail) {
	f.current()
	for i := range f.rules {
		rule, x := &f.rules[i], f.spread.Counts[i].Look(node)
		if x.Domain < 0 {
			list = append(list, framework.Detail{Subject: "missing label " + rule.Key})
			continue
		}
		count, fewest := f.counts(i, x)
		asked := int64(0)
		if rule.Self {
			asked = 1
		}
		if count+asked-fewest > rule.MaxSkew {
			list = append(list, framework.Detail{
				Subject: rule.Key + "=" + node.Node.Labels[rule.Key], Unit: framework.UnitPods,
				Asked: asked, Used: count, Limit: fewest + rule.MaxSkew,
				Facts: []framework.Fact{{Name: "fewest", Value: fewest, Unit: framework.UnitPods}, {Name: "maxSkew", Value: rule.MaxSkew}},
			})
		}
	}
	return list
}

package filter

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/framework/replica"
	"github.com/berth-sched/berth/internal/topo"
)

const (
	reasonPodAffinity      = framework.Text("node(s) didn't match pod affinity rules")
	reasonPodAntiAffinity  = framework.Text("node(s) didn't match pod anti-affinity rules")
	reasonExistingAffinity = framework.Text("node(s) didn't satisfy existing pods anti-affinity rules")
)

// InterPodAffinity rejects nodes by the pods in their topology domains. A domain is
// all nodes with the same value of the label that a term names. It rejects:
//
//   - nodes where, for some required affinity term, the domain holds no pod that
//     matches all of the pod's required terms; this is unresolvable, as removing
//     pods cannot help. The first pod of a self-matching group passes: if no pod
//     in the cluster matches and the pod matches its own terms, the node needs
//     only the labels;
//   - nodes in a domain that holds a pod matched by one of the pod's required
//     anti-affinity terms;
//   - nodes in the domain of a pod whose required anti-affinity term matches
//     this pod.
//
// A term that names or selects namespaces ignores the pod's own namespace unless
// that is among them. Terminating pods count.
//
// The snapshot keeps the counts, so filtering a node costs one lookup per term. Many terms of
// pods in the cluster cost one for each topology key.
//
// Source: kube-scheduler 1.37, plugin InterPodAffinity.
type InterPodAffinity struct{}

// Name returns "InterPodAffinity".
func (InterPodAffinity) Name() string { return "InterPodAffinity" }

// Scope declares that a verdict reads the node's labels, pods in its topology domains, and
// labels of namespaces. The pod's namespace, labels and affinity terms matter as far as
// AppendClassKey says; all terms matter if one is malformed.
func (InterPodAffinity) Scope(pod *framework.PodInfo) framework.Scope {
	s := framework.Scope{Reads: framework.ReadsNode | framework.ReadsDomain | framework.ReadsObjects}
	if pod.HasPodAffinity() && topo.TermsOf(pod).Err != nil {
		s.Pod = framework.FieldPodAffinity
	}
	return s
}

// ScopeVaries implements [incremental.VaryingScoper].
func (InterPodAffinity) ScopeVaries() framework.PodParts { return framework.PartPodAffinity }

// AppendClassKey implements [incremental.ClassKeyer]: it appends which terms match which
// pods.
func (InterPodAffinity) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	return topo.AppendAffinityKey(b, s, pod)
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (InterPodAffinity) ClassKeyVersion(s *framework.Snapshot) uint64 {
	return topo.KeyVersion(s)
}

// ClassKeySource implements [incremental.SharedKeyer].
func (InterPodAffinity) ClassKeySource() string { return topo.KeySource }

// Idle implements [incremental.Idler]: the pod requires no pods, those that it requires to be
// away are nowhere, and none requires it to be away.
func (InterPodAffinity) Idle(c *framework.Cycle) bool { return topo.NoRequired(c.Snapshot, c.Pod) }

// PreFilter skips a pod if it has no required terms and no other pod requires it to
// stay away. A pod with a malformed term is rejected.
func (InterPodAffinity) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	terms := topo.TermsOf(c.Pod)
	if err := terms.Err; err != nil {
		return framework.PreFiltered{}, framework.UnresolvableStatus(framework.Text("parsing pod: " + err.Error()))
	}
	a := topo.In(c).Affinity(c.Pod)
	requires := len(terms.Required)+len(terms.RequiredAnti) > 0
	if a == nil || !requires && !a.Bars() {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[interPodAffinity](c)
	f.Affinity, f.requires = a, requires
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// interPodAffinity is the bound filter. It reads live counts, so it sees pods that
// are added or removed temporarily.
type interPodAffinity struct {
	*topo.Affinity
	requires bool // the pod has required terms
}

// Dropped reports whether PreFilter must run again: the counters were given up, or the pod would be
// skipped, so terms of nominated pods would no longer count.
func (f *interPodAffinity) Dropped() bool {
	return f.Affinity.Dropped() || !f.requires && !f.Bars()
}

// current returns the counts for the pod, which are looked up again if they were given up since; see
// podTopologySpread.
func (f *interPodAffinity) current(pod *framework.PodInfo) *topo.Affinity {
	if f.Affinity.Dropped() {
		f.Affinity = f.Renewed(pod)
	}
	return f.Affinity
}

// Filter is verdict without given counts; see podTopologySpread.Filter.
func (f *interPodAffinity) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	f.current(pod)
	if !f.attracted(node) {
		return framework.UnresolvableStatus(reasonPodAffinity)
	}
	for _, c := range f.Repel {
		if c.At(node) > 0 {
			return framework.UnschedulableStatus(reasonPodAntiAffinity)
		}
	}
	return f.barred(node)
}

// verdict is Filter, with the counts of some terms of Repel given.
func (f *interPodAffinity) verdict(node *framework.NodeInfo, given []int, counts []replica.Count) framework.Status {
	if !f.attracted(node) {
		return framework.UnresolvableStatus(reasonPodAffinity)
	}
	for i, c := range f.Repel {
		pods := c.At(node)
		if len(given) > 0 && given[0] == i {
			if c.Domain(node) >= 0 {
				pods = counts[0].Pods
			}
			given, counts = given[1:], counts[1:]
		}
		if pods > 0 {
			return framework.UnschedulableStatus(reasonPodAntiAffinity)
		}
	}
	return f.barred(node)
}

// barred rejects the node if terms of pods that are there do.
func (f *interPodAffinity) barred(node *framework.NodeInfo) framework.Status {
	for _, c := range f.Barred {
		if c.At(node) > 0 {
			return framework.UnschedulableStatus(reasonExistingAffinity)
		}
	}
	if f.Others != nil && f.Others.Bars(node) {
		return framework.UnschedulableStatus(reasonExistingAffinity)
	}
	return framework.Status{}
}

// attracted reports whether the required affinity terms are met.
func (f *interPodAffinity) attracted(node *framework.NodeInfo) bool {
	met := true
	for _, c := range f.Attract {
		d := c.Domain(node)
		if d < 0 {
			return false
		}
		met = met && c.In(d) > 0
	}
	return met || f.Self && f.first()
}

// first reports whether no pod in the cluster matches all required terms.
func (f *interPodAffinity) first() bool {
	for _, c := range f.Attract {
		if c.Total() > 0 {
			return false
		}
	}
	return true
}

// AddPod implements [framework.FilterUpdater]: the counts include the pod already, but it
// may have terms that no pod had before, or be the first that a term matches.
func (f *interPodAffinity) AddPod(c *framework.Cycle, _ *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	f.Affinity = f.Renewed(c.Pod)
	return framework.Status{}
}

// RemovePod implements [framework.FilterUpdater].
func (f *interPodAffinity) RemovePod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// Fork implements [framework.FilterUpdater]. All state is in the snapshot.
func (f *interPodAffinity) Fork() framework.FilterUpdater {
	return &interPodAffinity{f.Affinity, f.requires}
}

// FilterWith is Filter as if the pods had been added to the node, and AddPod called for
// each.
func (f *interPodAffinity) FilterWith(pod *framework.PodInfo, node *framework.NodeInfo, added []*framework.PodInfo) (framework.Status, bool) {
	if f.current(pod).Stale() {
		return framework.Status{}, false
	}
	if !f.attracted(node) && !f.attractedWith(node, added) {
		return framework.UnresolvableStatus(reasonPodAffinity), true
	}
	for _, c := range f.Repel {
		if c.At(node) > 0 || c.Domain(node) >= 0 && slices.ContainsFunc(added, c.Selects) {
			return framework.UnschedulableStatus(reasonPodAntiAffinity), true
		}
	}
	barred := f.Others != nil && f.Others.Bars(node) || slices.ContainsFunc(f.Barred, func(c topo.Count) bool { return c.At(node) > 0 }) ||
		slices.ContainsFunc(added, func(p *framework.PodInfo) bool { return f.BarredBy(pod.Pod, p, node) })
	if barred {
		return framework.UnschedulableStatus(reasonExistingAffinity), true
	}
	return framework.Status{}, true
}

// attractedWith reports whether the node has all topology keys of the required terms, and
// one of the added pods matches all of these terms.
func (f *interPodAffinity) attractedWith(node *framework.NodeInfo, added []*framework.PodInfo) bool {
	if slices.ContainsFunc(f.Attract, func(c topo.Count) bool { return c.Domain(node) < 0 }) {
		return false
	}
	return len(f.Attract) > 0 && slices.ContainsFunc(added, f.Attract[0].Selects)
}

// Groups implements [incremental.Grouper].
func (f *interPodAffinity) Groups() incremental.Groups { return f.FilterGroups() }

// Version implements [incremental.DomainTracker].
func (f *interPodAffinity) Version() uint64 { return f.FilterVersion() }

// Changed implements [incremental.DomainTracker].
func (f *interPodAffinity) Changed(since uint64, dirty func(slot int)) bool {
	return f.FilterChanged(since, dirty)
}

// AppendState implements [incremental.ForkTracker].
func (f *interPodAffinity) AppendState(b []byte) []byte { return f.AppendFilterState(b) }

// ChangedFrom implements [incremental.ForkTracker].
func (f *interPodAffinity) ChangedFrom(state []byte, dirty func(slot int)) bool {
	return f.FilterChangedFrom(state, dirty)
}

// Details implements [framework.Detailer]: one detail for each term that keeps the pod
// off the node. Terms of other pods come last, by subject.
func (f *interPodAffinity) Details(pod *framework.PodInfo, node *framework.NodeInfo) (list []framework.Detail) {
	f.current(pod)
	terms := topo.TermsOf(pod)
	domain := func(what, key string) string { return what + " in " + key + "=" + node.Node.Labels[key] }
	if !f.attracted(node) {
		for i, c := range f.Attract {
			key := terms.Required[i].Key
			if c.Domain(node) < 0 {
				list = append(list, framework.Detail{Subject: "missing label " + key})
			} else if c.At(node) == 0 {
				list = append(list, framework.Detail{Subject: domain("no pod of the affinity", key)})
			}
		}
	}
	count := func(what, key string, c topo.Count) {
		if n := c.At(node); n > 0 {
			list = append(list, framework.Detail{Subject: domain(what, key), Unit: framework.UnitPods, Asked: 1, Used: n})
		}
	}
	for i, c := range f.Repel {
		count("pods of the anti-affinity", terms.RequiredAnti[f.RepelTerms[i]].Key, c)
	}
	own := len(list)
	for _, c := range f.AllBarred() {
		count("pods whose anti-affinity matches", c.Key(), c)
	}
	slices.SortFunc(list[own:], func(a, b framework.Detail) int { // counters come in the order in which they were made
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Used, b.Used))
	})
	return list
}

package scheduling

import (
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/internal/volumes"
)

// Conflicts knows which pods can be in conflict with a set of pods from other nodes. A
// pod that is in conflict with none of them changes answers for them on its own node
// only. The zero value is an empty set, for one snapshot; it holds while the snapshot's
// objects other than pods stay.
type Conflicts struct {
	bodies map[string]*framework.PodInfo // by namespace and labels
	terms  map[string]*framework.PodInfo // by namespace and pod affinity
	claims map[string]bool

	barred map[string]bool // what With has found out, by the terms of the other pod
	bars   map[string]bool // the same by its namespace and labels
}

// Add adds the pod of a Filtering, and reports whether a change on another node than the
// one that is asked about can only bring the pod into conflict with others: by required
// anti-affinity terms, of either, and by claims that both mount. Then an answer never
// becomes worse because other pods leave. It is false, for instance, for required
// affinity and spread constraints, devices, extenders, and plugins that this module does
// not have and whose scope is wider than the node.
func (c *Conflicts) Add(f *Filtering) bool {
	t, pod, filters := f.path.plugins, f.path.cycle.Pod, f.scheduler.profile.Filter
	terms := topo.TermsOf(pod)
	if len(t.extenders) > 0 || !f.path.bound.rejected.IsSuccess() || pod.HasClaims() || terms.Err != nil || len(terms.Required) > 0 {
		return false
	}
	for _, i := range f.some.pre {
		if p := &t.preFilters[i]; p.scope.looksBeyond(pod) && !onlyConflicts(p.plugin) {
			return false
		}
	}
	for _, b := range f.path.bound.filters {
		if t.filters[b.At].scope.looksBeyond(pod) && (b.At >= len(filters) || !onlyConflicts(filters[b.At])) {
			return false
		}
	}
	for i := range t.reserve {
		p := &t.reserve[i]
		switch p.plugin.(type) {
		case filter.VolumeBinding, filter.DynamicResources:
		default:
			if p.concern.of(pod) {
				return false
			}
		}
	}
	if c.bodies == nil {
		c.bodies, c.terms, c.claims = map[string]*framework.PodInfo{}, map[string]*framework.PodInfo{}, map[string]bool{}
		c.barred, c.bars = map[string]bool{}, map[string]bool{}
	}
	c.bodies[bodyOf(pod)] = pod
	if len(terms.RequiredAnti) > 0 {
		c.terms[termsOf(pod)] = pod
	}
	for _, claim := range volumes.Of(pod).Claims {
		c.claims[pod.Pod.Namespace+"/"+claim.Name] = true
	}
	return true
}

// onlyConflicts reports whether a plugin, of those that read more than a node, rejects
// nodes only for conflicts if the pod has no required affinity terms.
func onlyConflicts(p framework.Plugin) bool {
	switch p.(type) {
	case filter.InterPodAffinity, filter.VolumeRestrictions:
		return true
	}
	return false
}

func bodyOf(p *framework.PodInfo) string {
	return string(p.AppendClassKey(nil, framework.FieldNamespace|framework.FieldLabels))
}

func termsOf(p *framework.PodInfo) string {
	return string(p.AppendClassKey(nil, framework.FieldNamespace|framework.FieldPodAffinity))
}

// With reports whether a pod may be in conflict with one of the set: it says so for every
// pod that is, and for some that are not, such as those in namespaces that a term may
// select. Cost: a few lookups for a pod whose labels and terms another pod had.
func (c *Conflicts) With(pod *framework.PodInfo) bool {
	terms := topo.TermsOf(pod)
	if terms.Err != nil || pod.HasClaims() {
		return true
	}
	for _, claim := range volumes.Of(pod).Claims {
		if c.claims[pod.Pod.Namespace+"/"+claim.Name] {
			return true
		}
	}
	if len(terms.RequiredAnti) > 0 && known(c.barred, termsOf(pod), func() bool { return matchesAny(terms.RequiredAnti, c.bodies) }) {
		return true
	}
	return len(c.terms) > 0 && known(c.bars, bodyOf(pod), func() bool {
		for _, p := range c.terms {
			if matches(topo.TermsOf(p).RequiredAnti, pod) {
				return true
			}
		}
		return false
	})
}

// known returns what is in the map, or finds it out.
func known(m map[string]bool, key string, find func() bool) bool {
	v, ok := m[key]
	if !ok {
		v = find()
		m[key] = v
	}
	return v
}

func matchesAny(terms []topo.Term, pods map[string]*framework.PodInfo) bool {
	for _, p := range pods {
		if matches(terms, p) {
			return true
		}
	}
	return false
}

func matches(terms []topo.Term, p *framework.PodInfo) bool {
	for i := range terms {
		if terms[i].MayMatch(p.Pod.Namespace, p.Pod.Labels) {
			return true
		}
	}
	return false
}

package multicluster

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Filter says whether a workload may go to a cluster. The zero Status means yes, a
// rejecting one means no, and any other fails the decision. A filter must not change
// its arguments, and must give the same answer for the same ones.
type Filter interface {
	// Name identifies the filter in explanations and errors. It must not be empty
	// and should be unique among the filters.
	Name() string
	// Filter judges one cluster. Several goroutines may call it at once. A rejection
	// should carry a reason; [FitError] counts these. A scheduler never passes a nil
	// w or c. If you call a filter of this package directly with nil, it returns an
	// error status.
	Filter(w *Workload, c *api.Cluster) framework.Status
}

// A Scorer ranks a cluster for a workload, from 0 to 100; larger is better. It must
// not change its arguments, and must give the same answer for the same ones.
type Scorer interface {
	// Name identifies the scorer in explanations and errors. It must not be empty
	// and should be unique among the scorers.
	Name() string
	// Score is called for feasible clusters only. Several goroutines may call it at
	// once. A score outside of 0 to 100 fails the decision.
	Score(w *Workload, c *api.Cluster) int64
}

// lacks returns an error if the workload or the cluster is nil. A scheduler never
// passes nil.
func lacks(w *Workload, c *api.Cluster) error {
	switch {
	case w == nil:
		return w.check()
	case c == nil:
		return &api.InvalidError{Object: "cluster", Value: "null", Err: errNil}
	}
	return nil
}

// DefaultFilters returns Karmada's filters. The first one that rejects a cluster
// gives the reason; in Karmada their order is random.
func DefaultFilters() []Filter {
	return []Filter{APIEnablement{}, TaintToleration{}, Affinity{}, SpreadProperties{}, Eviction{}}
}

// DefaultScorers returns Karmada's scorers. (Karmada's ClusterAffinity is a scorer
// too, but its score is always 0.)
func DefaultScorers() []Scorer { return []Scorer{Locality{}} }

// APIEnablement rejects clusters that do not serve the workload's kind of object. A
// cluster that holds the workload passes, so an incomplete list of kinds does not
// drive the workload away.
//
// Source: Karmada 1.13 and later, plugin APIEnablement.
type APIEnablement struct {
	// OnlyIncomplete restricts the exception for clusters that hold the workload:
	// such a cluster passes only if its condition CompleteAPIEnablements is not
	// True. Karmada 1.13 does this.
	OnlyIncomplete bool
}

// Name returns "APIEnablement".
func (p APIEnablement) Name() string { return "APIEnablement" }

// Filter rejects a cluster that does not serve the workload's kind.
func (p APIEnablement) Filter(w *Workload, c *api.Cluster) framework.Status {
	if err := lacks(w, c); err != nil {
		return framework.AsStatus(err)
	}
	if w.APIVersion == "" && w.Kind == "" {
		return framework.Status{}
	}
	for _, e := range c.Status.APIEnablements {
		if e.GroupVersion == w.APIVersion &&
			slices.ContainsFunc(e.Resources, func(r api.APIResource) bool { return r.Kind == w.Kind }) {
			return framework.Status{}
		}
	}
	if w.holds(c.Name) && !(p.OnlyIncomplete && complete(c)) {
		return framework.Status{}
	}
	return framework.UnschedulableStatus("cluster(s) did not have the API resource")
}

func complete(c *api.Cluster) bool {
	return slices.ContainsFunc(c.Status.Conditions, func(k api.Condition) bool {
		return k.Type == api.ClusterConditionCompleteAPIEnablements && k.Status == api.ConditionTrue
	})
}

// TaintToleration rejects clusters with a taint of effect NoSchedule or
// NoExecute that the placement does not tolerate. Clusters that hold the
// workload pass.
//
// Source: Karmada 1.13, plugin TaintToleration.
type TaintToleration struct{}

// Name returns "TaintToleration".
func (TaintToleration) Name() string { return "TaintToleration" }

// Filter rejects a cluster with a taint that is not tolerated.
func (TaintToleration) Filter(w *Workload, c *api.Cluster) framework.Status {
	if err := lacks(w, c); err != nil {
		return framework.AsStatus(err)
	}
	if w.holds(c.Name) {
		return framework.Status{}
	}
	taint := w.untolerated(c.Spec.Taints)
	if taint == nil {
		return framework.Status{}
	}
	return framework.UnschedulableStatus(framework.Text(fmt.Sprintf("cluster(s) had untolerated taint {%s}", describe(taint))))
}

// describe writes a taint as kubectl does: key=value:effect, without its empty
// parts.
func describe(t *api.Taint) string {
	switch {
	case t.Effect == "" && t.Value == "":
		return t.Key
	case t.Effect == "":
		return t.Key + "=" + t.Value + ":"
	case t.Value == "":
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// Affinity rejects clusters that the placement's ClusterAffinity does not select.
// [Scheduler] handles ClusterAffinities: it puts each in the place of
// ClusterAffinity in turn; then the overflow affinities select too.
//
// Source: Karmada 1.13, plugin ClusterAffinity; with overflow, Karmada 1.18.
type Affinity struct {
	// Zones says how field selectors match zones.
	Zones ZoneRule
}

// Name returns "ClusterAffinity".
func (Affinity) Name() string { return "ClusterAffinity" }

// Filter rejects a cluster that the placement does not select.
func (p Affinity) Filter(w *Workload, c *api.Cluster) framework.Status {
	if err := lacks(w, c); err != nil {
		return framework.AsStatus(err)
	}
	if a := w.Placement.ClusterAffinity; w.selects(a, c, p.Zones) || w.overflows() && w.overflowTier(c, p.Zones) > 0 {
		return framework.Status{}
	}
	return framework.UnschedulableStatus("cluster(s) did not match the placement cluster affinity constraint")
}

// SpreadProperties rejects clusters that lack a property by which the placement
// spreads.
//
// Source: Karmada 1.13, plugin SpreadConstraint.
type SpreadProperties struct{}

// Name returns "SpreadConstraint".
func (SpreadProperties) Name() string { return "SpreadConstraint" }

// Filter rejects a cluster without a provider, region or zone that the placement
// needs.
func (SpreadProperties) Filter(w *Workload, c *api.Cluster) framework.Status {
	if err := lacks(w, c); err != nil {
		return framework.AsStatus(err)
	}
	for i := range w.Placement.SpreadConstraints {
		switch w.Placement.SpreadConstraints[i].SpreadByField {
		case SpreadByProvider:
			if c.Spec.Provider == "" {
				return framework.UnschedulableStatus("cluster(s) did not have provider property")
			}
		case SpreadByRegion:
			if c.Spec.Region == "" {
				return framework.UnschedulableStatus("cluster(s) did not have region property")
			}
		case SpreadByZone:
			if len(zonesOf(c)) == 0 {
				return framework.UnschedulableStatus("cluster(s) did not have zones property")
			}
		}
	}
	return framework.Status{}
}

// Eviction rejects clusters that the workload is moving away from.
//
// Source: Karmada 1.13, plugin ClusterEviction.
type Eviction struct{}

// Name returns "ClusterEviction".
func (Eviction) Name() string { return "ClusterEviction" }

// Filter rejects a cluster that Workload.Evicting names.
func (Eviction) Filter(w *Workload, c *api.Cluster) framework.Status {
	if err := lacks(w, c); err != nil {
		return framework.AsStatus(err)
	}
	if w.leaves(c.Name) {
		return framework.UnschedulableStatus("cluster(s) is in the process of eviction")
	}
	return framework.Status{}
}

// Locality prefers clusters that already hold the workload.
//
// Source: Karmada 1.13, plugin ClusterLocality.
type Locality struct{}

// Name returns "ClusterLocality".
func (Locality) Name() string { return "ClusterLocality" }

// Score returns 100 for a cluster that holds the workload, and 0 otherwise.
func (Locality) Score(w *Workload, c *api.Cluster) int64 {
	if lacks(w, c) == nil && w.holds(c.Name) {
		return framework.MaxNodeScore
	}
	return framework.MinNodeScore
}

package multicluster

import (
	"fmt"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// AffinityToWorkloads rejects a cluster unless it holds every workload of the
// workload's affinity group. Workloads that are not placed yet do not count, so the
// first of a group may go anywhere. Clusters that hold the workload pass.
//
// The workloads of a group are in one namespace, and their placements have an
// affinity by the same label key, with the same value of that label. The namespace
// is the part of the name before the slash.
//
// Neither this filter nor [AntiAffinityToWorkloads] is a default filter, because you
// must give them the other workloads.
//
//	s := multicluster.Scheduler{Filters: append(multicluster.DefaultFilters(),
//		multicluster.AffinityToWorkloads{Others: placed}, multicluster.AntiAffinityToWorkloads{Others: placed})}
//
// Source: Karmada 1.18, plugin WorkloadAffinity, with the gate of that name.
//
// Differs: two versions of a workload.
// Original: Karmada compares their resource versions and takes the newer.
// Here: the caller decides which is newer and lists only that one.
// Why: workloads have no resource version here.
type AffinityToWorkloads struct {
	// Others lists the known workloads, each once. It may include the workload being
	// placed, which the filter recognizes by name and kind.
	Others []*Workload
}

// Name returns "WorkloadAffinity".
func (AffinityToWorkloads) Name() string { return "WorkloadAffinity" }

// Filter rejects a cluster that lacks a workload of the affinity group.
func (p AffinityToWorkloads) Filter(w *Workload, c *api.Cluster) framework.Status {
	return filterGroup(w, c, p.Others, affinityGroup, func(on, placed int) framework.Status {
		if on < placed {
			return framework.UnschedulableStatus("ResourceBinding with the same affinity group does not target this cluster")
		}
		return framework.Status{}
	})
}

// AntiAffinityToWorkloads rejects clusters that hold another workload of the
// workload's anti-affinity group; see [AffinityToWorkloads]. Clusters that hold the
// workload pass.
//
// Source: Karmada 1.18, plugin WorkloadAntiAffinity, with the gate WorkloadAffinity.
type AntiAffinityToWorkloads struct {
	// Others lists the known workloads, as in AffinityToWorkloads.
	Others []*Workload
}

// Name returns "WorkloadAntiAffinity".
func (AntiAffinityToWorkloads) Name() string { return "WorkloadAntiAffinity" }

// Filter rejects a cluster that holds a workload of the anti-affinity group.
func (p AntiAffinityToWorkloads) Filter(w *Workload, c *api.Cluster) framework.Status {
	return filterGroup(w, c, p.Others, antiAffinityGroup, func(on, _ int) framework.Status {
		if on > 0 {
			return framework.UnschedulableStatus("cluster already has workload with the same anti-affinity group")
		}
		return framework.Status{}
	})
}

// filterGroup calls judge with how many other workloads of the group are on the cluster, and
// how many are placed at all. Within a decision, the others are read once.
func filterGroup(w *Workload, c *api.Cluster, others []*Workload, term groupTerm, judge func(on, placed int) framework.Status) framework.Status {
	if err := lacks(w, c); err != nil {
		return framework.AsStatus(err)
	}
	group := w.group(term)
	if group == "" || w.holds(c.Name) {
		return framework.Status{}
	}
	var on, placed int
	var err error
	if w.names.areOf(w) {
		m := w.names.matesOf(w, group, others, term)
		on, placed, err = m.on[c.Name], m.placed, m.err
	} else {
		err = w.eachMate(group, others, term, func(o *Workload) {
			if len(o.Clusters) > 0 {
				placed++
			}
			if o.holds(c.Name) {
				on++
			}
		})
	}
	if status := judge(on, placed); !status.IsSuccess() || err == nil {
		return status
	}
	return framework.AsStatus(err)
}

// eachMate calls f with the others of the workload's group, and ends with an error at one that
// is nil.
func (w *Workload) eachMate(group string, others []*Workload, term groupTerm, f func(*Workload)) error {
	for i, o := range others {
		if o == nil {
			return &api.InvalidError{Field: fmt.Sprintf("others[%d]", i), Value: "null", Err: errNil}
		}
		if o.group(term) == group && o.namespace() == w.namespace() && !(o.Name == w.Name && strings.EqualFold(o.Kind, w.Kind)) {
			f(o)
		}
	}
	return nil
}

// A groupTerm is the term that puts workloads in groups.
type groupTerm uint8

const (
	affinityGroup groupTerm = iota
	antiAffinityGroup
)

// group returns the group that a term puts the workload in, as "key=value", or "" if
// there is none.
func (w *Workload) group(term groupTerm) string {
	a := w.Placement.WorkloadAffinity
	if a == nil {
		return ""
	}
	t := a.Affinity
	if term == antiAffinityGroup {
		t = a.AntiAffinity
	}
	if t == nil {
		return ""
	}
	value, ok := w.Labels[t.GroupByLabelKey]
	if !ok {
		return ""
	}
	return t.GroupByLabelKey + "=" + value
}

// namespace returns the part of the name before the slash.
func (w *Workload) namespace() string {
	if i := strings.Index(w.Name, "/"); i >= 0 {
		return w.Name[:i]
	}
	return ""
}

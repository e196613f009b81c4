package multicluster

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// overflowOf returns the overflow affinities in effect. [Scheduler] tries one term
// at a time: it leaves that term alone in ClusterAffinities, and copies its affinity
// to ClusterAffinity.
func overflowOf(p *Placement) []OverflowClusterAffinity {
	if p.ClusterAffinity == nil || len(p.ClusterAffinities) != 1 {
		return nil
	}
	return p.ClusterAffinities[0].OverflowAffinities
}

// overflows reports whether the workload can overflow: it has pods.
func (w *Workload) overflows() bool {
	return w.Replicas > 0 || w.Replica != nil || len(w.Components) > 0
}

// try returns the workload with one term in the place of its affinities.
func (w *Workload) try(term *ClusterAffinityTerm) *Workload {
	narrowed := *w
	narrowed.Placement.ClusterAffinity = &term.ClusterAffinity
	narrowed.Placement.ClusterAffinities = []ClusterAffinityTerm{*term}
	return &narrowed
}

// tierOf returns the overflow tier of a cluster that the workload may use: 0 if the affinity
// selects it, otherwise that of overflowTier.
func (w *Workload) tierOf(c *api.Cluster, zones ZoneRule) int {
	if w.selects(w.Placement.ClusterAffinity, c, zones) {
		return 0
	}
	return w.overflowTier(c, zones)
}

// overflowTier returns the index of the first overflow affinity that selects the cluster,
// counted from 1, or 0 for none.
func (w *Workload) overflowTier(c *api.Cluster, zones ZoneRule) int {
	overflow := overflowOf(&w.Placement)
	for i := range overflow {
		if w.selects(&overflow[i].ClusterAffinity, c, zones) {
			return i + 1
		}
	}
	return 0
}

// divideTiers gives each tier in order as many replicas as it can take.
func divideTiers(d Demand, candidates []Candidate) (Division, error) {
	previous := byCluster(d.Previous)
	sorted := slices.Clone(candidates)
	slices.SortStableFunc(sorted, func(a, b Candidate) int { return cmp.Compare(a.Tier, b.Tier) })
	v := Division{Step: StepOverflow, Divided: d.Replicas}
	left, room := d.Replicas, int64(0)
	for len(sorted) > 0 {
		end, can := 0, int64(0)
		for end < len(sorted) && sorted[end].Tier == sorted[0].Tier {
			can = resource.SatAdd(can, resource.SatAdd(sorted[end].Available, previous[sorted[end].Name]))
			end++
		}
		tier := sorted[:end]
		sorted, room = sorted[end:], resource.SatAdd(room, can)
		part := d
		part.Replicas = min(left, can)
		if part.Replicas == 0 {
			continue
		}
		t, err := divideDynamic(part, tier)
		if err != nil {
			return Division{}, err
		}
		t.Tier = tier[0].Tier
		v.Tiers = append(v.Tiers, t)
		v.Targets = append(v.Targets, t.Targets...)
		left -= part.Replicas
	}
	if left > 0 {
		return Division{}, &ShortageError{Step: StepOverflow, Available: room, Wanted: d.Replicas}
	}
	sortByName(v.Targets)
	return v, nil
}

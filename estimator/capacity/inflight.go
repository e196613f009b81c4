package capacity

import (
	"maps"
	"slices"
	"time"
)

// DefaultAssumptionTTL is how long Karmada keeps a workload assumed for a cluster.
const DefaultAssumptionTTL = 5 * time.Minute

// An InFlight records workloads that were given to clusters and that the clusters
// do not count yet. Call Assume after each decision, and Release as soon as the
// pods run or the workload is gone; unreleased entries expire. Pass estimators a
// copy of the valid entries:
//
//	g := capacity.General{Assumed: inFlight.At(now)}
//
// The zero InFlight is empty and ready for use. Use it in one goroutine at a time.
//
// Source: Karmada 1.18, the assumptions of its scheduler's cache.
//
// Differs: the time at which entries expire.
// Original: Karmada reads the clock.
// Here: the caller passes the time.
// Why: the library has no clock.
type InFlight struct {
	workloads map[string]inFlight
}

type inFlight struct {
	until    time.Time
	clusters map[string]Assumed
}

// Assume records that a, the whole workload in that cluster, was given to the
// cluster, up to and including until. It replaces the entry of the same workload
// and cluster; until applies to all clusters of the workload. workload is any
// unique name, such as "namespace/name".
func (f *InFlight) Assume(workload, cluster string, a Assumed, until time.Time) {
	if f.workloads == nil {
		f.workloads = map[string]inFlight{}
	}
	w := f.workloads[workload]
	if w.clusters == nil {
		w.clusters = map[string]Assumed{}
	}
	w.until = until
	a.Components = slices.Clone(a.Components)
	w.clusters[cluster] = a
	f.workloads[workload] = w
}

// Release deletes the entries of a workload in the given clusters, or in all
// clusters if none are given.
func (f *InFlight) Release(workload string, clusters ...string) {
	w := f.workloads[workload]
	for _, c := range clusters {
		delete(w.clusters, c)
	}
	if len(clusters) == 0 || len(w.clusters) == 0 {
		delete(f.workloads, workload)
	}
}

// Expire deletes the entries that expired before now and returns the number of
// their workloads. It only saves memory: At skips expired entries anyway.
func (f *InFlight) Expire(now time.Time) int {
	before := len(f.workloads)
	maps.DeleteFunc(f.workloads, func(_ string, w inFlight) bool { return now.After(w.until) })
	return before - len(f.workloads)
}

// At returns a copy of the entries valid at now, by cluster, each list in the order
// of the workloads' names.
func (f *InFlight) At(now time.Time) map[string][]Assumed {
	all := map[string][]Assumed{}
	for _, name := range slices.Sorted(maps.Keys(f.workloads)) {
		w := f.workloads[name]
		if now.After(w.until) {
			continue
		}
		for cluster, a := range w.clusters {
			a.Components = slices.Clone(a.Components)
			all[cluster] = append(all[cluster], a)
		}
	}
	return all
}

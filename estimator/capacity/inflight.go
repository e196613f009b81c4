package capacity

import (
	"maps"
	"slices"
	"time"
)

// DefaultAssumptionTTL is how long Karmada assumes that a workload is on its way
// to a cluster.
const DefaultAssumptionTTL = 5 * time.Minute

// An InFlight keeps account of what was given to clusters and is not yet counted
// there. Whoever carries decisions out calls Assume after each, and Release as
// soon as the pods run, or the workload is gone; what is not released expires.
// Estimators get a copy of what holds at a time:
//
//	g := capacity.General{Assumed: inFlight.At(now)}
//
// The zero InFlight is empty and ready for use. It belongs to one goroutine at a
// time.
//
// Source: Karmada 1.18, the assumptions of its scheduler's cache.
//
// Differs: the caller says what time it is.
type InFlight struct {
	workloads map[string]inFlight
}

type inFlight struct {
	until    time.Time
	clusters map[string]Assumed
}

// Assume notes that a cluster was given a, all that the workload has there, and
// that this holds up to and including until. It takes the place of what was
// noted for the same workload and cluster; until counts for all clusters of the
// workload. workload is any name that is its own, such as "namespace/name".
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

// Release forgets what was noted for a workload in the given clusters, or in all
// if none are given.
func (f *InFlight) Release(workload string, clusters ...string) {
	w := f.workloads[workload]
	for _, c := range clusters {
		delete(w.clusters, c)
	}
	if len(clusters) == 0 || len(w.clusters) == 0 {
		delete(f.workloads, workload)
	}
}

// Expire forgets what held until before now and returns how many workloads these
// were. It only saves memory: At leaves them out in any case.
func (f *InFlight) Expire(now time.Time) int {
	before := len(f.workloads)
	maps.DeleteFunc(f.workloads, func(_ string, w inFlight) bool { return now.After(w.until) })
	return before - len(f.workloads)
}

// At returns what holds at a time, by cluster, in each in the order of the
// workloads' names. The result is a copy.
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

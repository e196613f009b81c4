//go:build full

package multicluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// mostRoom tries every set of clusters that meets the constraints. It returns the
// most replicas that one has room for, -1 if there is no such set.
func mostRoom(table fixed, clusters []*api.Cluster, constraints []multicluster.SpreadConstraint) int64 {
	best := int64(-1)
	for mask := 1; mask < 1<<len(clusters); mask++ {
		seen := map[multicluster.SpreadField]map[string]bool{"cluster": {}, "region": {}, "zone": {}, "provider": {}}
		var room int64
		for i, c := range clusters {
			if mask>>i&1 == 0 {
				continue
			}
			room += table[c.Name].available
			seen["cluster"][c.Name], seen["region"][c.Spec.Region], seen["provider"][c.Spec.Provider] = true, true, true
			for _, z := range c.Spec.Zones {
				seen["zone"][z] = true
			}
		}
		ok := true
		for _, k := range constraints {
			n := len(seen[k.SpreadByField])
			ok = ok && n >= k.MinGroups && (n <= k.MaxGroups || k.MaxGroups == 0)
		}
		if ok {
			best = max(best, room)
		}
	}
	return best
}

// Thorough finds a choice exactly if there is one. If none has enough room, it
// reports correctly how much the best one has.
func TestThoroughMissesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := fixed{}
		var clusters []*api.Cluster
		for i := range rapid.IntRange(1, 8).Draw(t, "clusters") {
			zones := []string{fmt.Sprint("z", rapid.IntRange(0, 3).Draw(t, "zone"))}
			if rapid.IntRange(0, 3).Draw(t, "two zones") == 0 {
				zones = append(zones, fmt.Sprint("z", rapid.IntRange(0, 3).Draw(t, "another zone")))
			}
			clusters = append(clusters, table.add(fmt.Sprint("m", i), fmt.Sprint("r", rapid.IntRange(0, 2).Draw(t, "region")),
				fmt.Sprint("p", rapid.IntRange(0, 2).Draw(t, "provider")), rapid.Int64Range(0, 1).Draw(t, "score")*100,
				rapid.Int64Range(0, 9).Draw(t, "available"), zones...))
		}
		w := &multicluster.Workload{Replicas: rapid.Int64Range(0, 25).Draw(t, "replicas"), Placement: multicluster.Placement{ReplicaScheduling: dynamic()}}
		needs := w.Replicas // that clusters must have room for
		if rapid.IntRange(0, 3).Draw(t, "duplicated") == 0 {
			w.Placement.ReplicaScheduling, needs = nil, 0
		}
		for _, f := range []multicluster.SpreadField{"cluster", "region", "zone", "provider"} {
			if rapid.Bool().Draw(t, string(f)) {
				least := rapid.IntRange(0, 3).Draw(t, "least")
				w.Placement.SpreadConstraints = append(w.Placement.SpreadConstraints, constraint(f, least, least+rapid.IntRange(0, 2).Draw(t, "more")))
			}
		}
		room := mostRoom(table, clusters, w.Placement.SpreadConstraints)
		d, err := scheduler(table).Schedule(clusters, w)
		if (room >= needs) != (err == nil) {
			t.Fatalf("Schedule = %v, %v; some choice has room for %d of %d replicas", d.Targets, err, room, needs)
		}
		var spread *multicluster.SpreadError
		if errors.As(err, &spread) && spread.Available != max(0, room) {
			t.Fatalf("%v: room for %d, and some choice has room for %d", err, spread.Available, room)
		}
	})
}

// The choice of the best clusters for one field may leave none for another.
func TestThoroughGoesBack(t *testing.T) {
	table := fixed{}
	clusters := []*api.Cluster{
		table.add("m0", "r", "p1", 0, 4, "z1"), table.add("m1", "r", "p1", 0, 2, "z2"), table.add("m2", "r", "p0", 0, 0, "z2"),
	}
	w := &multicluster.Workload{Replicas: 3, Placement: multicluster.Placement{
		ReplicaScheduling: dynamic(),
		SpreadConstraints: []multicluster.SpreadConstraint{constraint("cluster", 1, 2), constraint("zone", 2, 3), constraint("provider", 2, 3)},
	}}
	x := scheduler(table).Explain(clusters, w)
	if fmt.Sprint(x.Targets, x.Selection.Clusters, x.Selection.ChosenGroups) != "[{m0 3}] [m0 m2] [z1 z2]" {
		t.Errorf("Explain: %v of %v in %v, %s; want all on m0, beside m2", x.Targets, x.Selection.Clusters, x.Selection.ChosenGroups, x.Error)
	}
}

// If a search ends early, its error says so.
func TestThoroughSaysWhereItEnded(t *testing.T) {
	table := fixed{}
	var clusters []*api.Cluster
	for i := range 60 {
		clusters = append(clusters, table.add(fmt.Sprint("m", i), fmt.Sprint("r", i%20), fmt.Sprint("p", i%9), 0, int64(i%13), fmt.Sprint("z", i%17)))
	}
	w := &multicluster.Workload{Replicas: 165, Placement: multicluster.Placement{
		ReplicaScheduling: dynamic(),
		SpreadConstraints: []multicluster.SpreadConstraint{constraint("cluster", 1, 20), constraint("zone", 1, 6), constraint("provider", 1, 3)},
	}}
	_, err := scheduler(table).Schedule(clusters, w)
	if err == nil || !strings.Contains(err.Error(), "in 262144 steps; there may be one") {
		t.Errorf("Schedule: %v, want an error that says that the search did not end", err)
	}
}

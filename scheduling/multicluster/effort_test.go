//go:build full

package multicluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// TestAffinitiesShareTheirEffort: each affinity whose search does not end leaves half of its steps
// to the next one, and a thousand of them take no more than a few.
func TestAffinitiesShareTheirEffort(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	var members []member
	for i := range 60 {
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("m", i)}}
		c.Spec.Region, c.Spec.Provider, c.Spec.Zones = fmt.Sprint("r", i%20), fmt.Sprint("p", i%9), []string{fmt.Sprint("z", i%17)}
		members = append(members, member{cluster: c, available: int64(i % 13)})
	}
	sortMembers(members)
	w := &Workload{Replicas: 165, Placement: Placement{SpreadConstraints: []SpreadConstraint{
		{SpreadByField: SpreadByCluster, MinGroups: 1, MaxGroups: 20},
		{SpreadByField: SpreadByZone, MinGroups: 1, MaxGroups: 6},
		{SpreadByField: SpreadByProvider, MinGroups: 1, MaxGroups: 3},
	}}}
	left, sum := new(effort), 0
	for i := range 1000 {
		_, _, err := selectClusters(w, members, DynamicWeight, Thorough, left)
		steps := max(maxSteps>>i, maxSteps>>leastEffort)
		var failed *SpreadError
		if !errors.As(err, &failed) || !strings.Contains(failed.Reason, fmt.Sprintf("in %d steps", steps)) {
			t.Fatalf("affinity %d: %v, want an error that tells of %d steps", i, err, steps)
		}
		sum += steps
	}
	if sum > 3*maxSteps {
		t.Errorf("%d steps in all, want at most %d", sum, 3*maxSteps)
	}
}

// The tables of the searches share what they take, too.
func TestAffinitiesShareTheirTables(t *testing.T) {
	var members []member
	for i := range 300 {
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("m%03d", i)}}
		c.Spec.Region = fmt.Sprint("r", i)
		members = append(members, member{cluster: c, available: 1})
	}
	b := boundsOf([]SpreadConstraint{{SpreadByField: SpreadByRegion, MinGroups: 1}, {SpreadByField: SpreadByCluster, MinGroups: 1}}, new(effort))
	regions := scored(members, SpreadByRegion, &b, &Workload{Replicas: 1}, true)
	sums := 0
	for range 100 {
		b.effort.begin()
		steps := 0
		sums += len(newPathSearch(regions, 300, 1, &steps, b.effort.table).scores)
		for _, room := range newExhaustive(&b, members, SpreadByRegion, 1).room {
			sums += len(room)
		}
	}
	if least, most := 300*300, 20*300*300; sums < least || sums > most {
		t.Errorf("100 affinities of 300 regions have tables of %d sums, want %d to %d", sums, least, most)
	}
}

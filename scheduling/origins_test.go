package scheduling_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// TestSnapshotsOfDifferentOrigins: generations, versions and vectors of snapshots
// that are not forks of each other look alike but mean different things.
func TestSnapshotsOfDifferentOrigins(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := scheduling.Kubernetes137()
		p.Cache.Verify = true
		s := build(t, p)
		snaps := [2]*framework.Snapshot{}
		devices := [2]resource.Name{"example.com/a", "example.com/b"}
		for k := range snaps {
			snaps[k] = framework.NewSnapshot(framework.Arrival)
			for i := range 20 {
				n := api.MakeNode(fmt.Sprintf("s%d-n%d", k, i), fmt.Sprint(1+r.IntN(8)), "8Gi").Resource(devices[k], fmt.Sprint(r.IntN(3)))
				if r.IntN(4) == 0 {
					n = n.Taint("k=v:NoSchedule")
				}
				if err := snaps[k].AddNode(n.Obj()); err != nil {
					t.Fatal(err)
				}
			}
		}
		k := 0
		for i := range 120 {
			if r.IntN(6) == 0 {
				k = 1 - k
			}
			b := api.MakePod(fmt.Sprint("p", i)).Requests("100m", "10Mi")
			if r.IntN(2) == 0 {
				b = b.Request(devices[k], "1")
			}
			pod := podInfo(t, snaps[k], b.Obj())
			d, err := s.Schedule(snaps[k], pod)
			var different *scheduling.DifferenceError
			if errors.As(err, &different) {
				t.Fatalf("seed %d, step %d, snapshot %d: %v", seed, i, k, err)
			}
			if err == nil && r.IntN(2) == 0 {
				if err := s.Assume(snaps[k], pod, d); err != nil {
					t.Fatal(err)
				}
			}
		}
		if stats := s.Stats(); stats.Hits == 0 {
			t.Errorf("seed %d: no decision was made from kept answers: %+v", seed, stats)
		}
	}
}

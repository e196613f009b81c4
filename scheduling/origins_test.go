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

// pool is a filter that names the nodes of a pool; the list is made once.
type pool struct{ names []string }

func (pool) Name() string { return "Pool" }

func (pool) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNodeSet}
}

func (p pool) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{NodeNames: p.names}, framework.Status{}
}

func (pool) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// TestNamedNodesOfTwoOrigins: two snapshots with as many nodes, added in another order, have
// other nodes in the slots that a PreFilter's names stand for.
func TestNamedNodesOfTwoOrigins(t *testing.T) {
	const nodes = 40
	name := func(i int) string { return fmt.Sprintf("n%02d", i) }
	var names []string
	for i := range nodes / 2 {
		names = append(names, name(i))
	}
	p := scheduling.Kubernetes137()
	p.Filter = append(p.Filter, pool{names})
	p.Cache.Verify = true
	s := build(t, p)
	for k := range 2 {
		snap := framework.NewSnapshot(framework.Arrival)
		for i := range nodes {
			if k == 1 {
				i = nodes - 1 - i
			}
			if err := snap.AddNode(api.MakeNode(name(i), "4", "8Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 5 {
			pod := podInfo(t, snap, api.MakePod(fmt.Sprintf("p%d-%d", k, i)).Requests("100m", "10Mi").Obj())
			d, err := s.Place(snap, pod)
			if err != nil || d.Feasible != len(names) {
				t.Fatalf("snapshot %d, pod %d: %d feasible nodes, error %v, want %d", k, i, d.Feasible, err, len(names))
			}
		}
	}
	if stats := s.Stats(); stats.Hits == 0 {
		t.Errorf("no decision was made from kept answers: %+v", stats)
	}
}

// TestNodeSetOfAnotherOrigin: it is refused, whatever nodes the two snapshots have.
func TestNodeSetOfAnotherOrigin(t *testing.T) {
	var snaps [2]*framework.Snapshot
	for k := range snaps {
		snaps[k] = framework.NewSnapshot(framework.Arrival)
		if err := snaps[k].AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	set, err := scheduling.NewNodeSet(snaps[0], []*framework.NodeInfo{snaps[0].At(0)})
	if err != nil {
		t.Fatal(err)
	}
	var invalid *api.InvalidError
	s := build(t, scheduling.Kubernetes137())
	if _, err := s.ScheduleWithin(snaps[1], podInfo(t, snaps[1], api.MakePod("p").Obj()), set); !errors.As(err, &invalid) {
		t.Errorf("error %v, want an InvalidError", err)
	}
}

// TestSnapshotGivesUpNames: a snapshot that gives up names of resources has another schema from
// then on. Answers about it are found anew at once.
func TestSnapshotGivesUpNames(t *testing.T) {
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	s := build(t, p)
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range 20 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	place := func(name string) {
		t.Helper()
		if _, err := s.Place(snap, podInfo(t, snap, api.MakePod(name).Requests("100m", "10Mi").Obj())); err != nil {
			t.Fatal(err)
		}
	}
	changes := 0
	for round := range 12 {
		many := api.MakeNode("many", "1", "1Mi").Unschedulable()
		for i := range 300 {
			many = many.Allocatable(resource.Name(fmt.Sprintf("example.com/m%d-%d", round, i)), "1")
		}
		before := snap.Schema()
		put := snap.UpdateNode
		if round == 0 {
			put = snap.AddNode
		}
		if err := put(many.Obj()); err != nil {
			t.Fatal(err)
		}
		hits := s.Stats().Hits
		for i := range 4 {
			place(fmt.Sprintf("p%d-%d", round, i))
		}
		if snap.Schema() != before {
			changes++
			if now := s.Stats().Hits; now < hits+2 {
				t.Errorf("round %d: %d of four pods were placed from kept answers, want two after the schema changed", round, now-hits)
			}
		}
	}
	if faults := s.Stats().Faults; changes == 0 || faults > 0 {
		t.Errorf("the schema changed %d times, and there were %d faults", changes, faults)
	}
}

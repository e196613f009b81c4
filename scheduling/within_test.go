//go:build full

package scheduling_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/scheduling"
)

// Decisions among some of the nodes, on both paths: a verifying scheduler finds no
// difference, the chosen node is one of the set, and a set of all nodes gives the decision
// of Schedule.
func TestScheduleWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pending, err := frameworktest.Snapshot(frameworktest.Cluster(rapid.Uint64Range(0, 400).Draw(t, "seed")))
		if err != nil || s.Len() == 0 {
			return // a hostile cluster
		}
		profile := scheduling.Kubernetes137()
		profile.TieRule = rapid.SampledFrom([]scheduling.TieRule{scheduling.Random, scheduling.Reservoir, scheduling.Heap, scheduling.First, scheduling.ByName}).Draw(t, "ties")
		profile.Percentage = rapid.SampledFrom([]int{scheduling.AllNodes, scheduling.Adaptive, 30}).Draw(t, "percentage")
		profile.Cache.Verify = true
		sched, err := scheduling.New(profile)
		if err != nil {
			t.Fatal(err)
		}
		plain := profile
		plain.Cache = scheduling.CacheConfig{Off: true}
		reference, err := scheduling.New(plain)
		if err != nil {
			t.Fatal(err)
		}
		var all, some []*framework.NodeInfo
		for _, n := range s.All() {
			all = append(all, n)
			if rapid.Bool().Draw(t, "in") {
				some = append(some, n)
			}
		}
		for _, nodes := range [][]*framework.NodeInfo{some, all, some} {
			set, err := scheduling.NewNodeSet(s, nodes)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string]bool{}
			for _, n := range nodes {
				in[n.Name()] = true
			}
			for _, pod := range append(pending, pending...) {
				at := reference.Position()
				want, wantErr := reference.ScheduleWithin(s, pod, set)
				got, err := sched.ScheduleWithin(s, pod, set)
				var differs *scheduling.DifferenceError
				if errors.As(err, &differs) || fmt.Sprint(err) != fmt.Sprint(wantErr) || got.Node != want.Node || got.Evaluated != want.Evaluated || got.Score != want.Score {
					t.Fatalf("%s among %d of %d nodes: %+v, %v; want %+v, %v", pod.Pod.Key(), set.Len(), s.Len(), got, err, want, wantErr)
				}
				if err == nil && !in[got.Node] {
					t.Fatalf("%s goes to %s, which is not in the set", pod.Pod.Key(), got.Node)
				}
				if len(nodes) == s.Len() {
					after := reference.Position()
					reference.Seek(at)
					whole, wholeErr := reference.Schedule(s, pod)
					if fmt.Sprint(wholeErr) != fmt.Sprint(err) || whole.Node != got.Node || reference.Position() != after {
						t.Fatalf("%s among all nodes: %s, %v; Schedule: %s, %v", pod.Pod.Key(), got.Node, err, whole.Node, wholeErr)
					}
				}
				if err == nil && rapid.Bool().Draw(t, "assume") {
					if err := sched.Assume(s, pod, got); err != nil {
						continue
					}
					if err := sched.Release(s, pod, got.Node); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// Sets that cannot be used are refused.
func TestNodeSetMisuse(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("a", "1", "1Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	n := s.Node("a")
	for name, nodes := range map[string][]*framework.NodeInfo{"nil": {nil}, "twice": {n, n}} {
		if _, err := scheduling.NewNodeSet(s, nodes); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := scheduling.NewNodeSet(nil, nil); err == nil {
		t.Error("nil snapshot: no error")
	}
	set, err := scheduling.NewNodeSet(s, []*framework.NodeInfo{n})
	if err != nil {
		t.Fatal(err)
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	pod, err := s.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sched.ScheduleWithin(s, pod, nil); err == nil {
		t.Error("nil set: no error")
	}
	if err := s.AddNode(api.MakeNode("b", "1", "1Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	if _, err := sched.PlaceWithin(s, pod, set); err == nil {
		t.Error("a set from before the nodes changed: no error")
	}
	empty, err := scheduling.NewNodeSet(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sched.ScheduleWithin(s, pod, empty); !errors.Is(err, scheduling.ErrNoNodes) {
		t.Errorf("an empty set: %v, want ErrNoNodes", err)
	}
}

// uncrowded prefers the node n3, but takes part only while few nodes are feasible.
type uncrowded struct{}

func (uncrowded) Name() string { return "Uncrowded" }

func (uncrowded) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsFeasible | framework.ReadsNode}
}

func (uncrowded) PreScore(_ *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if len(feasible) > 5 {
		return nil, framework.SkipStatus()
	}
	return uncrowded{}, framework.Status{}
}

func (uncrowded) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	if n.Name() == "n3" {
		return framework.MaxNodeScore
	}
	return 0
}

// A scorer that skips among all nodes may take part within a set of them.
func TestWithinUnskips(t *testing.T) {
	p := scheduling.Kubernetes137()
	p.Score = append(p.Score, scheduling.Weighted{Plugin: uncrowded{}, Weight: 2})
	p.Cache.Verify = true
	s := build(t, p)
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range 10 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	set, err := scheduling.NewNodeSet(snap, []*framework.NodeInfo{snap.Node("n1"), snap.Node("n2"), snap.Node("n3"), snap.Node("n4")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		pod := podInfo(t, snap, api.MakePod(fmt.Sprint("p", i)).Requests("10m", "10Mi").Obj())
		if _, err := s.Schedule(snap, pod); err != nil {
			t.Fatal(err)
		}
		if d, err := s.ScheduleWithin(snap, pod, set); err != nil || d.Node != "n3" {
			t.Errorf("pod %d: node %q, error %v, want n3", i, d.Node, err)
		}
	}
	if stats := s.Stats(); stats.Hits < 5 {
		t.Errorf("%d of 10 decisions were made from kept answers, want 5: %+v", stats.Hits, stats)
	}
}

// Counting replicas by formula comes to the same as placing them one after the other.
func TestReplicas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pending, err := frameworktest.Snapshot(frameworktest.Cluster(rapid.Uint64Range(0, 400).Draw(t, "seed")))
		if err != nil || s.Len() == 0 {
			return
		}
		sched, err := scheduling.New(scheduling.Kubernetes137())
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range pending {
			f, err := sched.Filtering(s, pod)
			if err != nil || !f.NodeOnly() || pod.HasVolumes() || pod.HasClaims() {
				continue
			}
			for _, n := range s.All() {
				const most = 40
				got, err := f.Replicas(n, most)
				if err != nil {
					t.Fatal(err)
				}
				want := 0
				mark := s.Begin()
				for ; want < most; want++ {
					if v, err := f.Node(s.AtSlot(n.Slot())); err != nil || !v.Status.IsSuccess() {
						break
					}
					replica, err := pod.Named(fmt.Sprintf("%s~%d", pod.Pod.Name, want))
					if err != nil {
						t.Fatal(err)
					}
					if err := s.AddPodAt(replica, s.AtSlot(n.Slot())); err != nil {
						break
					}
				}
				s.Rollback(mark)
				if got != want {
					t.Fatalf("Replicas(%s, %s) = %d, want %d", pod.Pod.Key(), n.Name(), got, want)
				}
			}
		}
	})
}

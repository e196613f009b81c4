package scheduling_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// chatty never gives the same reason twice for the first node.
type chatty struct{}

func (chatty) Name() string { return "chatty" }
func (chatty) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

func (chatty) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	switch {
	case n.Slot() == 0:
		return framework.UnschedulableStatus(framework.Text(fmt.Sprint("generation ", n.Generation())))
	case n.Slot() == 1 && len(n.Pods) > 0:
		return framework.NewStatus(framework.Unschedulable, wordy{fmt.Sprint(n.Generation() % 5)})
	}
	return framework.Status{}
}

// wordy is a reasoner that cannot be compared, against the contract.
type wordy []string

func (w wordy) Reasons(uint64) []string { return w }

// TestReasonsDoNotPileUp: the reasons of a filter with many different texts count
// towards the memory of its base and are forgotten in time.
func TestReasonsDoNotPileUp(t *testing.T) {
	for _, room := range []int{0, 1} {
		t.Run(fmt.Sprint("node ", room), func(t *testing.T) {
			s := build(t, scheduling.Profile{
				Filter: []framework.Plugin{chatty{}}, Score: []scheduling.Weighted{{Plugin: emptier{}}}, Cache: scheduling.CacheConfig{Verify: room == 0},
			})
			snap, pod := small(t, 6)
			least, most := 1<<30, 0
			for i := range 4000 {
				change := snap.AddPodAt
				if i%2 == 1 {
					change = snap.RemovePodAt
				}
				if err := change(pod, snap.At(room)); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Schedule(snap, pod); err != nil {
					t.Fatal(err)
				}
				if bytes := s.Stats().Bytes; i > 3 {
					least, most = min(least, bytes), max(most, bytes)
				}
			}
			if grown := most - least; grown < 32*1024 || grown > 256*1024 {
				t.Errorf("the kept answers grew by %d bytes, want some hundred for each of a thousand reasons", grown)
			}
			if stats := s.Stats(); stats.Bypassed > 1 {
				t.Errorf("%d decisions were left to the reference path, want 1: %+v", stats.Bypassed, stats)
			}
		})
	}
}

// TestManyReasons: a different reason for each node, reported to all pods of a
// class.
func TestManyReasons(t *testing.T) {
	s := build(t, scheduling.Profile{Filter: []framework.Plugin{named{}}, Cache: scheduling.CacheConfig{Verify: true}})
	snap, pod := small(t, 100)
	for i := range 4 {
		_, err := s.Schedule(snap, pod)
		var fit *scheduling.FitError
		if !errors.As(err, &fit) || len(fit.Rejections) != 100 {
			t.Fatalf("decision %d: %v, want 100 reasons", i, err)
		}
		snap.Touch(snap.At(7 * i))
	}
}

// named rejects each node by its name.
type named struct{}

func (named) Name() string { return "named" }
func (named) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

func (named) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus(framework.Text("not " + n.Name()))
}

//go:build full

package scheduling_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// wild scores by the number of pods, or with a given score.
type wild struct{ score *int64 }

func (wild) Name() string { return "wild" }
func (wild) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

func (w wild) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	if *w.score != 0 {
		return *w.score
	}
	return int64(len(n.Pods))
}

// TestScoresOutOfBoundsTakeNoRoom: a score far below 0 in a shared tree must not be
// mistaken for the number of a reason.
func TestScoresOutOfBoundsTakeNoRoom(t *testing.T) {
	var score int64
	s := build(t, scheduling.Profile{Filter: []framework.Plugin{room{}}, Score: []scheduling.Weighted{{Plugin: wild{&score}}}})
	snap, pod := small(t, 6)
	decide := func() error {
		_, err := s.Schedule(snap, pod)
		return err
	}
	for range 15 {
		if err := decide(); err != nil {
			t.Fatal(err)
		}
	}
	score = -1 << 22
	if err := snap.AddPodAt(pod, snap.At(1)); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := decide()
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 1<<20 {
		t.Errorf("a decision with a score of %d took %d bytes for 6 nodes", score, bytes)
	}
	var broken *scheduling.PluginError
	if !errors.As(err, &broken) {
		t.Errorf("Schedule with a score of %d = %v, want a PluginError", score, err)
	}
}

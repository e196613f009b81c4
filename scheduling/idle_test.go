//go:build full

package scheduling_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// napper filters and scores by domain once it is busy, and can tell that it is not.
type napper struct {
	busy, panics *bool
	asked        *int // runs of PreFilter and PreScore
}

func (napper) Name() string { return "napper" }
func (napper) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsDomain}
}

func (n napper) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	if *n.asked++; !*n.busy {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: boundSleeper(0)}, framework.Status{}
}

func (n napper) PreScore(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if *n.asked++; !*n.busy {
		return nil, framework.SkipStatus()
	}
	return scoresBySlot{}, framework.Status{}
}

func (n napper) Idle(*framework.Cycle) bool {
	if *n.panics {
		panic("boom")
	}
	return !*n.busy
}

// wrapper hides a plugin behind its name.
type wrapper struct{ inner framework.Plugin }

func (w wrapper) Name() string             { return w.inner.Name() }
func (w wrapper) Unwrap() framework.Plugin { return w.inner }

// TestIdlers: anyone's plugin, also a wrapped one, is not even asked while it is idle,
// takes part as soon as it wakes, and may panic.
func TestIdlers(t *testing.T) {
	for _, wrapped := range []bool{false, true} {
		busy, panics, asked := false, false, 0
		var plugin framework.Plugin = napper{&busy, &panics, &asked}
		if wrapped {
			plugin = wrapper{plugin}
		}
		s := build(t, scheduling.Profile{
			Filter: []framework.Plugin{room{}, plugin}, Score: []scheduling.Weighted{{Plugin: emptier{}}, {Plugin: plugin}},
			Cache: scheduling.CacheConfig{Verify: true},
		})
		snap, _ := small(t, 6)
		try := decider(t, s)
		const decisions = 30
		for range decisions {
			try(snap, "")
		}
		// The reference path, which verifies, runs both in every decision. The incremental
		// path runs them until the class shares the tree of its base.
		if most := 3 * decisions; asked >= most {
			t.Errorf("wrapped %v: %d runs of PreFilter and PreScore in %d decisions, want fewer than %d", wrapped, asked, decisions, most)
		}
		was := asked
		try(snap, "")
		if asked != was+2 {
			t.Errorf("wrapped %v: an idle plugin was run %d times, want 2, both by the reference path", wrapped, asked-was)
		}
		busy = true
		try(snap, "")
		try(snap, "")
		busy = false
		for range decisions {
			try(snap, "")
		}
		panics = true
		try(snap, "")
		panics = false
		for range decisions {
			try(snap, "")
		}
		if stats := s.Stats(); stats.Faults != 0 || stats.Bypassed > 4 {
			t.Errorf("wrapped %v: %+v, want no fault, and few bypasses", wrapped, stats)
		}
	}
}

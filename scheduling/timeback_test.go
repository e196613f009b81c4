//go:build full

package scheduling_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// minutely rejects every third node, other ones in each minute.
type minutely struct{}

func (minutely) Name() string { return "minutely" }
func (minutely) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsTime}
}

func (minutely) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: boundMinutely{c.Snapshot}}, framework.Status{}
}

type boundMinutely struct{ s *framework.Snapshot }

func (b boundMinutely) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if b.s.Now().Unix()/60%3 == int64(n.Slot())%3 {
		return framework.UnschedulableStatus("not in this minute")
	}
	return framework.Status{}
}

func (b boundMinutely) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time {
	return b.s.Now().Truncate(time.Minute).Add(time.Minute)
}

// TestTimeGoesBack: in one snapshot, with and without another change, and by
// switching from a fork that is ahead.
func TestTimeGoesBack(t *testing.T) {
	for _, how := range []string{"clock", "clock and a pod", "fork"} {
		t.Run(how, func(t *testing.T) {
			s := build(t, scheduling.Profile{
				Filter: []framework.Plugin{minutely{}}, Score: []scheduling.Weighted{{Plugin: emptier{}}}, Cache: scheduling.CacheConfig{Verify: true},
			})
			snap, pod := small(t, 9)
			snap.SetNow(time.Unix(1_700_000_000, 0))
			try := decider(t, s)
			for range 5 {
				try(snap, "")
			}
			here := snap
			if how == "fork" {
				snap = snap.Fork()
				snap.SetNow(snap.Now().Add(61 * time.Minute))
			} else {
				snap.SetNow(snap.Now().Add(-61 * time.Minute))
			}
			if how != "clock" {
				if err := snap.AddPodAt(pod, snap.At(1)); err != nil {
					t.Fatal(err)
				}
			}
			try(snap, "")
			for range 5 {
				try(here, "")
			}
			if stats := s.Stats(); stats.Bypassed > 1 {
				t.Errorf("%d decisions were left to the reference path, want 1: %+v", stats.Bypassed, stats)
			}
		})
	}
}

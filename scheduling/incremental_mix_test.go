//go:build full

package scheduling_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// These tests hold mixes of plugins that no plugin of the library has, each with one
// decision after the other under Verify.

// verified returns a scheduler that verifies, a snapshot of n nodes, and a pod.
func verified(t *testing.T, p scheduling.Profile, n int) (*scheduling.Scheduler, *framework.Snapshot, *framework.PodInfo) {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for i := range n {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "16Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	p.Cache = scheduling.CacheConfig{Verify: true}
	return build(t, p), s, podInfo(t, s, api.MakePod("p").Obj())
}

// wantHits demands that the incremental path answered.
func wantHits(t *testing.T, s *scheduling.Scheduler) {
	t.Helper()
	if stats := s.Stats(); stats.Hits == 0 {
		t.Errorf("no decision was a hit: %+v", stats)
	}
}

// fewest prefers nodes with few pods, by a range.
type fewest struct{}

func (fewest) Name() string { return "Fewest" }

func (fewest) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return -int64(len(n.Pods)) }

func (fewest) NormalizeScore(raw, smallest, largest int64) int64 {
	if largest == smallest {
		return 100
	}
	return 100 * (raw - smallest) / (largest - smallest)
}

func (fewest) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

// TestNormalizedPodsDoNotShare: a class whose normalized scorer reads pods has no part in
// the tree of its base.
func TestNormalizedPodsDoNotShare(t *testing.T) {
	sched, s, p := verified(t, scheduling.Profile{Score: []scheduling.Weighted{{Plugin: fewest{}, Weight: 1}}}, 6)
	for i := range 40 {
		if i > 15 {
			if err := s.AddPod(podInfo(t, s, api.MakePod(fmt.Sprint("q", i)).Obj()), fmt.Sprint("n", i%3)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := sched.Schedule(s, p); err != nil {
			t.Fatal(err)
		}
	}
	wantHits(t, sched)
}

// closed rejects node n0 up to a time.
type closed struct {
	name string
	end  time.Time
}

func (c closed) Name() string { return c.name }

func (closed) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsTime}
}

func (c closed) PreFilter(cycle *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: boundClosed{c, cycle.Snapshot}}, framework.Status{}
}

type boundClosed struct {
	closed
	s *framework.Snapshot
}

func (c boundClosed) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Name() == "n0" && c.s.Now().Before(c.end) {
		return framework.UnschedulableStatus(framework.Text("closed by " + c.name))
	}
	return framework.Status{}
}

func (c boundClosed) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time {
	if c.s.Now().Before(c.end) {
		return c.end
	}
	return time.Time{}
}

// TestEarliestDeadline: a row holds until the first of its plugins' deadlines.
func TestEarliestDeadline(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	sched, s, p := verified(t, scheduling.Profile{Filter: []framework.Plugin{closed{"a", at(10)}, closed{"b", at(20)}}}, 2)
	for i := range 30 {
		s.SetNow(at(i))
		if _, err := sched.Schedule(s, p); err != nil {
			t.Fatal(err)
		}
	}
	wantHits(t, sched)
}

// parity rejects every other node, depending on how many nodes there are.
type parity struct{}

func (parity) Name() string { return "Parity" }

func (parity) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: boundParity(c.Snapshot.Len())}, framework.Status{}
}

func (parity) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsNodeSet}
}

type boundParity int

func (f boundParity) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if (n.Slot()+int(f))%2 == 0 {
		return framework.UnschedulableStatus("odd")
	}
	return framework.Status{}
}

// TestNodeSetRenewsRows: a new node renews the rows of all nodes, if a filter reads the
// set of nodes.
func TestNodeSetRenewsRows(t *testing.T) {
	sched, s, p := verified(t, scheduling.Profile{Filter: []framework.Plugin{parity{}}}, 6)
	for i := range 10 {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("m", i), "4", "16Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		if _, err := sched.Schedule(s, p); err != nil {
			t.Fatal(err)
		}
	}
	wantHits(t, sched)
}

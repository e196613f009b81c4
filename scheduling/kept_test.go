package scheduling_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// small returns a cluster of n nodes with room for three pods each, and a pod for
// it. The first node has a lower score.
func small(t *testing.T, n int) (*framework.Snapshot, *framework.PodInfo) {
	t.Helper()
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range n {
		node := api.MakeNode(fmt.Sprintf("n%d", i), "4", "8Gi").Resource("pods", "3")
		if i == 0 {
			node = node.Labels("liked", "x")
		}
		if err := snap.AddNode(node.Obj()); err != nil {
			t.Fatal(err)
		}
	}
	return snap, podInfo(t, snap, api.MakePod("p").Obj())
}

// TestKeptRejectionsRunOut: a temporary rejection is asked about again when its time
// is over, whether it was made when the class was built or later.
func TestKeptRejectionsRunOut(t *testing.T) {
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{tired{}}, Cache: scheduling.CacheConfig{Verify: true}})
	snap, pod := small(t, 1)
	tiredAt := time.Unix(1_700_000_400-120, 0) // its name has two letters
	for _, minutes := range []int{0, 0, 0, 1, 2, 9, 10, 10, 11, 20, 29} {
		snap.SetNow(tiredAt.Add(time.Duration(minutes) * time.Minute))
		_, err := sched.Schedule(snap, pod)
		if tired := minutes%10 == 0; (err != nil) != tired {
			t.Errorf("after %d minutes: %v, want an error: %v", minutes, err, tired)
		}
	}
}

// TestClassesPartFromTheirBase: which plugins give nodes different scores depends on
// the feasible nodes, and so does where a class keeps its totals.
func TestClassesPartFromTheirBase(t *testing.T) {
	sched := build(t, scheduling.Profile{
		Filter:  []framework.Plugin{room{}},
		Score:   []scheduling.Weighted{{Plugin: emptier{}, Weight: 2}, {Plugin: likes{}}},
		TieRule: scheduling.Random, Cache: scheduling.CacheConfig{Verify: true},
	})
	snap, pod := small(t, 6)
	var guests []*framework.PodInfo
	for i := range 3 {
		guests = append(guests, podInfo(t, snap, api.MakePod(fmt.Sprintf("g%d", i)).Obj()))
	}
	decide := func(times int) {
		t.Helper()
		for range times {
			d, err := sched.Place(snap, pod)
			if err != nil {
				t.Fatal(err)
			}
			if err := snap.RemovePod(pod, d.Node); err != nil {
				t.Fatal(err)
			}
		}
	}
	for round := range 4 {
		decide(20) // the first node has another score
		for _, g := range guests {
			if err := snap.AddPod(g, "n0"); err != nil {
				t.Fatal(err)
			}
		}
		decide(20 + round) // it is full, and all other nodes have equal scores
		for _, g := range guests {
			if err := snap.RemovePod(g, "n0"); err != nil {
				t.Fatal(err)
			}
			decide(2)
		}
	}
	if stats := sched.Stats(); stats.Hits < 100 {
		t.Errorf("%d decisions from kept answers, want more than 100", stats.Hits)
	}
}

// dozer rejects the node n0 while the setting is "busy", and else has nothing to do. The key of
// a pod's class does not say which, only its version does.
type dozer struct{}

func (dozer) Name() string { return "Dozer" }
func (dozer) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsDomain | framework.ReadsObjects}
}

func (dozer) AppendClassKey(b []byte, _ *framework.Snapshot, _ *framework.PodInfo) []byte { return b }

func (dozer) ClassKeyVersion(s *framework.Snapshot) uint64 {
	return framework.ObjectsVersion[api.Namespace](s)
}

func (dozer) Idle(c *framework.Cycle) bool { return setting(c.Snapshot) != "busy" }

func (x dozer) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if x.Idle(c) {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: x}, framework.Status{}
}

func (dozer) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Name() == "n0" {
		return framework.UnschedulableStatus("busy")
	}
	return framework.Status{}
}

// TestKeptIdlenessEndsWithItsVersion: a plugin that had nothing to do takes part in the next
// decision after the version of its class keys has changed, although no key has.
func TestKeptIdlenessEndsWithItsVersion(t *testing.T) {
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{room{}, dozer{}}, Score: []scheduling.Weighted{{Plugin: emptier{}}}})
	snap, pod := small(t, 6)
	for round := range 4 {
		word, want := "calm", 6
		if round%2 == 1 {
			word, want = "busy", 5
		}
		putSetting(t, snap, word)
		for range 10 {
			if d, err := sched.Schedule(snap, pod); err != nil || d.Feasible != want {
				t.Errorf("round %d, %s: %d feasible nodes, %v, want %d", round, word, d.Feasible, err, want)
			}
		}
	}
	if stats := sched.Stats(); stats.Hits < 30 {
		t.Errorf("%+v, want 30 hits or more", stats)
	}
}

//go:build full

package scheduling_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

var planKey, rankKey = framework.NewKey[string]("plan"), framework.NewKey[string]("rank")

// planner passes values from PreFilter and PreScore to Reserve. By its scope, its
// answers for pods of one class are the same.
type planner struct {
	offers bool
	calls  *int
	saw    *[]string
}

func (planner) Name() string { return "planner" }
func (planner) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

func (p planner) set(k *framework.Key[string], c *framework.Cycle) {
	*p.calls++
	if p.offers {
		k.Offer(c, c.Pod.Pod.Name)
	} else {
		k.Set(c, c.Pod.Pod.Name)
	}
}

func (p planner) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	p.set(planKey, c)
	return framework.PreFiltered{Filter: p}, framework.Status{}
}

func (planner) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func (p planner) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	p.set(rankKey, c)
	return p, framework.Status{}
}

func (planner) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(len(n.Node.Name))
}

func (p planner) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	plan, _ := planKey.Get(c)
	rank, _ := rankKey.Get(c)
	*p.saw = append(*p.saw, plan+" "+rank)
	return framework.Status{}
}

func (planner) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// TestCycleValues: a value that a plugin sets in PreFilter or PreScore is present in
// Reserve, whichever path the decision takes, and belongs to this pod.
func TestCycleValues(t *testing.T) {
	for name, fast := range map[string]scheduling.CacheConfig{"plain": {Off: true}, "fast": {}, "both": {Verify: true}} {
		for _, scores := range []bool{false, true} { // and does not filter
			t.Run(fmt.Sprintf("%s, only scores %t", name, scores), func(t *testing.T) {
				var calls int
				var saw []string
				p := planner{calls: &calls, saw: &saw}
				profile := scheduling.Profile{Score: []scheduling.Weighted{{Plugin: p}}, Reserve: []framework.Plugin{p}, Cache: fast}
				want := []string{" a", " b", " c"}
				if !scores {
					profile.Filter = []framework.Plugin{p}
					want = []string{"a a", "b b", "c c"}
				}
				placeThree(t, profile)
				if !slices.Equal(saw, want) {
					t.Errorf("Reserve saw %q, want %q", saw, want)
				}
			})
		}
	}
}

// TestOfferedValues: a plugin that only offers values is not asked again for every
// pod of a class.
func TestOfferedValues(t *testing.T) {
	var calls int
	var saw []string
	p := planner{offers: true, calls: &calls, saw: &saw}
	placeThree(t, scheduling.Profile{
		Filter: []framework.Plugin{p}, Score: []scheduling.Weighted{{Plugin: p}}, Reserve: []framework.Plugin{p},
	})
	// The first pod of a class takes the reference path; the second one builds the
	// kept answers.
	if calls != 4 || len(saw) != 3 {
		t.Errorf("PreFilter and PreScore were called %d times for 3 pods of one class, and Reserve saw %q; want 4 times", calls, saw)
	}
}

func placeThree(t *testing.T, p scheduling.Profile) {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []string{"n", "nn", "nnn"} {
		if err := s.AddNode(api.MakeNode(n, "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	sched, err := scheduling.New(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := sched.Place(s, podInfo(t, s, api.MakePod(name).Obj())); err != nil {
			t.Fatal(err)
		}
	}
}

// A fork finds out by itself that a plugin sets values, and then answers from kept answers as
// its parent does.
func TestCycleValuesOfFork(t *testing.T) {
	var calls int
	var saw []string
	p := planner{calls: &calls, saw: &saw}
	parent, err := scheduling.New(scheduling.Profile{
		Filter: []framework.Plugin{p}, Score: []scheduling.Weighted{{Plugin: p}}, Reserve: []framework.Plugin{p},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []string{"n", "nn"} {
		if err := s.AddNode(api.MakeNode(n, "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	hits := map[string]uint64{}
	for name, sched := range map[string]*scheduling.Scheduler{"fork": parent.Fork(), "parent": parent} {
		for range 6 {
			if _, err := sched.Schedule(s, podInfo(t, s, api.MakePod("a").Obj())); err != nil {
				t.Fatal(err)
			}
		}
		hits[name] = sched.Stats().Hits
	}
	if hits["fork"] != hits["parent"] || hits["fork"] == 0 {
		t.Errorf("decisions from kept answers: %v, want as many on both sides", hits)
	}
}

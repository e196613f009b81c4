//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/scheduling"
)

// sleeper filters by the number of pods in the cluster once the objects wake it: a
// gate without groups of nodes.
type sleeper struct{}

func (sleeper) Name() string { return "sleeper" }
func (sleeper) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsDomain}
}

func (sleeper) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if setting(c.Snapshot) == "" {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: boundSleeper(len(c.Snapshot.At(0).Pods))}, framework.Status{}
}

type boundSleeper int

func (b boundSleeper) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if (int(b)+n.Slot())%2 == 0 {
		return framework.UnschedulableStatus("busy")
	}
	return framework.Status{}
}

// TestGatesAwake: a class that uses the tree of its base gets its own tree as soon
// as an idle filter takes part, and returns when that filter is idle again.
func TestGatesAwake(t *testing.T) {
	s := build(t, scheduling.Profile{
		Filter: []framework.Plugin{room{}, sleeper{}}, Score: []scheduling.Weighted{{Plugin: emptier{}}},
		Cache: scheduling.CacheConfig{Verify: true},
	})
	snap, pod := small(t, 6)
	try := decider(t, s)
	for round := range 3 {
		for range 15 {
			try(snap, "")
		}
		putSetting(t, snap, "busy")
		for range round + 1 {
			try(snap, "")
		}
		if err := snap.AddPodAt(pod, snap.At(2*round)); err != nil {
			t.Fatal(err)
		}
		try(snap, "")
		putSetting(t, snap, "")
	}
	if stats := s.Stats(); stats.Bypassed > 1 {
		t.Errorf("%d decisions were left to the reference path, want 1: %+v", stats.Bypassed, stats)
	}
}

// drowsy scores once the objects wake it: by slot or, for "all alike", every node
// equally, as one group.
type drowsy struct{}

func (drowsy) Name() string { return "drowsy" }
func (drowsy) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsDomain | framework.ReadsObjects}
}

func (drowsy) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	switch setting(c.Snapshot) {
	case "":
		return nil, framework.SkipStatus()
	case "all alike":
		return scoresAlike{}, framework.Status{}
	}
	return scoresBySlot{}, framework.Status{}
}

type scoresBySlot struct{}

func (scoresBySlot) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(10 * n.Slot())
}

func (scoresBySlot) Groups() incremental.Groups { return incremental.Groups{} }

type scoresAlike struct{}

var oneGroup = incremental.Groups{Of: make([]int32, 512), Count: 1}

func (scoresAlike) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 7 }
func (scoresAlike) Groups() incremental.Groups                          { return oneGroup }

// TestScorersAwake tests the same with a scorer. The snapshot changes only with the
// setting; in between the class stays as it is.
func TestScorersAwake(t *testing.T) {
	for _, word := range []string{"by slot", "all alike"} {
		t.Run(word, func(t *testing.T) {
			s := build(t, scheduling.Profile{
				Filter: []framework.Plugin{room{}}, Score: []scheduling.Weighted{{Plugin: emptier{}}, {Plugin: drowsy{}}},
				Cache: scheduling.CacheConfig{Verify: true},
			})
			snap, _ := small(t, 6)
			try := decider(t, s)
			for range 3 {
				for range 15 {
					try(snap, "")
				}
				putSetting(t, snap, word)
				for range 15 {
					try(snap, "")
				}
				putSetting(t, snap, "")
			}
			if stats := s.Stats(); stats.Bypassed > 1 {
				t.Errorf("%d decisions were left to the reference path, want 1: %+v", stats.Bypassed, stats)
			}
		})
	}
}

// TestGroupsAwake tests the same with a filter of the preset that asks by zone.
func TestGroupsAwake(t *testing.T) {
	for _, zones := range []int{1, 3} {
		t.Run(fmt.Sprint(zones, " zones"), func(t *testing.T) {
			p := scheduling.Kubernetes137()
			p.Cache.Verify = true
			s := build(t, p)
			snap := framework.NewSnapshot(framework.Arrival)
			for i := range 30 {
				n := api.MakeNode(fmt.Sprint("n", i), "8", "8Gi").Zone(fmt.Sprint("z", i%zones))
				if i == 3 {
					n = n.Taint("k=v:NoSchedule")
				}
				if err := snap.AddNode(n.Obj()); err != nil {
					t.Fatal(err)
				}
			}
			try := decider(t, s)
			for round := range 3 {
				for range 15 {
					try(snap, "web")
				}
				foe := podInfo(t, snap, api.MakePod(fmt.Sprint("foe", round)).PodAntiAffinity(api.LabelTopologyZone, "app=web").Obj())
				if err := snap.AddPodAt(foe, snap.At(0)); err != nil {
					t.Fatal(err)
				}
				for range 12 {
					try(snap, "web")
				}
				if err := snap.RemovePodAt(foe, snap.At(0)); err != nil {
					t.Fatal(err)
				}
			}
			if stats := s.Stats(); stats.Bypassed > 1 {
				t.Errorf("%d decisions were left to the reference path, want 1: %+v", stats.Bypassed, stats)
			}
		})
	}
}

// TestIdlePluginsAwake: plugins of the preset that were not asked because they had
// nothing to do take part as soon as they have, whatever causes it, and are idle
// again when the cause is gone.
func TestIdlePluginsAwake(t *testing.T) {
	web := map[string]string{"app": "web"}
	put := func(t *testing.T, snap *framework.Snapshot) {
		service := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "web"}, Spec: api.ServiceSpec{Selector: web}}
		if err := framework.Put(snap, service); err != nil {
			t.Fatal(err)
		}
	}
	come := func(p api.PodBuilder) func(t *testing.T, snap *framework.Snapshot) {
		return func(t *testing.T, snap *framework.Snapshot) {
			if err := snap.AddPodAt(podInfo(t, snap, p.Obj()), snap.At(4)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, wake := range map[string]func(*testing.T, *framework.Snapshot){
		"service":            put,
		"required affinity":  come(api.MakePod("friend").PodAffinity(api.LabelTopologyZone, "app=web")),
		"anti-affinity":      come(api.MakePod("foe").PodAntiAffinity(api.LabelTopologyZone, "app=web")),
		"affinity to others": come(api.MakePod("other").PodAffinity(api.LabelTopologyZone, "app=db")),
	} {
		t.Run(name, func(t *testing.T) {
			p := scheduling.Kubernetes137()
			p.Cache.Verify = true
			s := build(t, p)
			snap := framework.NewSnapshot(framework.Arrival)
			for i := range 30 {
				if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "8", "8Gi").Zone(fmt.Sprint("z", i%3)).Obj()); err != nil {
					t.Fatal(err)
				}
			}
			guest := podInfo(t, snap, api.MakePod("guest").Labels("app", "web").Obj())
			if err := snap.AddPodAt(guest, snap.At(0)); err != nil {
				t.Fatal(err)
			}
			try := decider(t, s)
			for range 3 {
				for range 15 {
					try(snap, "web")
				}
				mark := snap.Begin()
				wake(t, snap)
				for range 3 {
					try(snap, "web")
				}
				snap.Rollback(mark)
				try(snap, "web")
				fork := snap.Fork()
				wake(t, fork)
				try(fork, "web")
			}
			wake(t, snap)
			try(snap, "web")
		})
	}
}

// thirds rejects by the number of pods, for one of two reasons.
type thirds struct{}

func (thirds) Name() string { return "thirds" }
func (thirds) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

func (thirds) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	switch len(n.Pods) % 3 {
	case 1:
		return framework.UnschedulableStatus("one over")
	case 2:
		return framework.UnschedulableStatus("two over")
	}
	return framework.Status{}
}

// TestReasonsOfSharedTrees: the reported reasons follow the reasons of the tree that
// the class shares, even if no node becomes feasible.
func TestReasonsOfSharedTrees(t *testing.T) {
	s := build(t, scheduling.Profile{
		Filter: []framework.Plugin{thirds{}}, Score: []scheduling.Weighted{{Plugin: emptier{}}}, Cache: scheduling.CacheConfig{Verify: true},
	})
	snap, pod := small(t, 6)
	try := decider(t, s)
	for range 15 {
		try(snap, "")
	}
	for i := range snap.Len() {
		if err := snap.AddPodAt(pod, snap.At(i)); err != nil {
			t.Fatal(err)
		}
	}
	try(snap, "")
	try(snap, "")
	if err := snap.AddPodAt(pod, snap.At(0)); err != nil {
		t.Fatal(err)
	}
	try(snap, "")
}

// TestManyFlipAtOnce: reasons are counted right if many nodes of a shared tree
// become feasible, or cease to be feasible, between two decisions.
func TestManyFlipAtOnce(t *testing.T) {
	s := build(t, scheduling.Profile{
		Filter: []framework.Plugin{thirds{}}, Score: []scheduling.Weighted{{Plugin: emptier{}}}, Cache: scheduling.CacheConfig{Verify: true},
	})
	snap, pod := small(t, 12)
	try := decider(t, s)
	for range 15 {
		try(snap, "")
	}
	change := func(change func(*framework.PodInfo, *framework.NodeInfo) error, first int) {
		t.Helper()
		for i := first; i < snap.Len(); i++ {
			if err := change(pod, snap.At(i)); err != nil {
				t.Fatal(err)
			}
		}
		try(snap, "")
	}
	change(snap.AddPodAt, 5)
	change(snap.RemovePodAt, 5)
	change(snap.AddPodAt, 0)
	change(snap.AddPodAt, 3)
	change(snap.AddPodAt, 3)
	if stats := s.Stats(); stats.Bypassed > 1 {
		t.Errorf("%d decisions were left to the reference path, want 1: %+v", stats.Bypassed, stats)
	}
}

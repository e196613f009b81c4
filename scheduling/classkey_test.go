//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// town has nodes in three zones, and a scheduler that verifies.
func town(t *testing.T, nodes int) (*framework.Snapshot, *scheduling.Scheduler) {
	t.Helper()
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range nodes {
		name := fmt.Sprint("n", i)
		n := api.MakeNode(name, "4", "8Gi").Labels(api.LabelHostname, name, api.LabelTopologyZone, fmt.Sprint("z", i%3)).Obj()
		if err := snap.AddNode(n); err != nil {
			t.Fatal(err)
		}
	}
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	s, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	return snap, s
}

// placeNew places a pod and returns what was decided.
func placeNew(t *testing.T, snap *framework.Snapshot, s *scheduling.Scheduler, pod *api.Pod) (scheduling.Decision, *framework.PodInfo) {
	t.Helper()
	info, err := snap.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Place(snap, info)
	if err != nil {
		t.Fatal(err)
	}
	return d, info
}

// TestClassOfLabels: labels that no selector looks at make no class, and those that one
// looks at do.
func TestClassOfLabels(t *testing.T) {
	snap, s := town(t, 30)
	stateful := func(i int) *api.Pod {
		return api.MakePod(fmt.Sprint("db-", i)).Labels("app", "db", "index", fmt.Sprint(i)).Requests("100m", "64Mi").Obj()
	}
	for i := range 20 {
		placeNew(t, snap, s, stateful(i))
	}
	stats := s.Stats()
	if stats.Misses != 1 || stats.Hits < 17 {
		t.Errorf("20 pods that differ in labels: %d misses and %d hits, want one class", stats.Misses, stats.Hits)
	}

	hermit := api.MakePod("hermit").Labels("app", "hermit").Requests("100m", "64Mi").PodAntiAffinity(api.LabelTopologyZone, "index=33").Obj()
	at, _ := placeNew(t, snap, s, hermit)
	zone := snap.Node(at.Node).Node.Labels[api.LabelTopologyZone]
	for i := 30; i < 40; i++ {
		d, _ := placeNew(t, snap, s, stateful(i))
		if got := snap.Node(d.Node).Node.Labels[api.LabelTopologyZone]; i == 33 && got == zone {
			t.Errorf("pod 33 is in zone %s of the pod that keeps it away", zone)
		}
	}
	after := s.Stats()
	if classes := after.Classes - stats.Classes; classes > 3 {
		t.Errorf("%d classes more, want those of the pods that the term selects, that it does not, and of the hermit", classes)
	}
}

// TestSpreadWithExceptions lets pods of two services come and go: their nodes are
// exceptions to the scores of the zones.
func TestSpreadWithExceptions(t *testing.T) {
	snap, s := town(t, 120)
	for _, app := range []string{"web", "db"} {
		service := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: app}}
		service.Spec.Selector = map[string]string{"app": app}
		if err := framework.Put(snap, service); err != nil {
			t.Fatal(err)
		}
	}
	type placed struct {
		pod  *framework.PodInfo
		node string
	}
	var running []placed
	for round := range 3 {
		for i := range 48 {
			app := []string{"web", "db"}[i%2]
			pod := api.MakePod(fmt.Sprint(app, "-", round, "-", i)).Namespace("default").Labels("app", app).Requests("1", "64Mi").Obj()
			d, info := placeNew(t, snap, s, pod)
			running = append(running, placed{info, d.Node})
		}
		for i := range 60 { // one leaves for each that comes
			p := running[i*7%len(running)]
			if err := s.Release(snap, p.pod, p.node); err != nil {
				t.Fatal(err)
			}
			pod := api.MakePod(fmt.Sprint("new-", round, "-", i)).Namespace("default").Labels("app", "web").Requests("1", "64Mi").Obj()
			d, info := placeNew(t, snap, s, pod)
			running[i*7%len(running)] = placed{info, d.Node}
		}
		for _, p := range running {
			if err := s.Release(snap, p.pod, p.node); err != nil {
				t.Fatal(err)
			}
		}
		running = running[:0]
	}
	if stats := s.Stats(); stats.Hits < 100 || stats.Faults > 0 {
		t.Errorf("%+v, want most decisions from kept answers", stats)
	}
}

// TestClassOfVacantSelectorEnds: two pods with spread constraints whose selectors match
// nobody are of one class, until a pod comes that one of them selects. No other plugin of
// the profile has class keys.
func TestClassOfVacantSelectorEnds(t *testing.T) {
	profile := scheduling.Profile{
		TieRule: scheduling.First, Cache: scheduling.CacheConfig{Verify: true},
		Filter: []framework.Plugin{filter.NodeResourcesFit{}, filter.PodTopologySpread{}}, Score: []scheduling.Weighted{{Plugin: late{}}},
	}
	snap, _ := town(t, 30)
	s := build(t, profile)
	spread := func(app string) *framework.PodInfo {
		return podInfo(t, snap, api.MakePod("spread-"+app).Labels("app", app).Requests("1", "1Gi").Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app="+app).Obj())
	}
	db, cache := spread("db"), spread("cache")
	decide := func(p *framework.PodInfo) string {
		t.Helper()
		d, err := s.Schedule(snap, p)
		if err != nil {
			t.Fatal(err)
		}
		return snap.Node(d.Node).Node.Labels[api.LabelTopologyZone]
	}
	for range 3 {
		decide(db)
		decide(cache)
	}
	for i := range 2 {
		p := podInfo(t, snap, api.MakePod(fmt.Sprint("db-", i)).Labels("app", "db").Requests("1", "1Gi").Obj())
		if err := snap.AddPod(p, "n0"); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if got := decide(cache); got != "z0" {
			t.Errorf("the pod whose app nobody has goes to %s, want z0, the zone of the first node", got)
		}
		if got := decide(db); got != "z1" {
			t.Errorf("the pod goes to %s, want z1: there are two of its app in z0", got)
		}
	}
}

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A tracking plugin lets an app have few pods in a zone, and likes zones with fewer. What it binds says that something has
// changed whenever anything has, but reads a label that a plugin without a scope need not declare.
type tracking struct{}

func (tracking) Name() string { return "tracking" }

func (tracking) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: trackingApp{c.Snapshot, c.Pod.Pod.Labels["app"]}}, framework.Status{}
}

func (tracking) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return trackingApp{c.Snapshot, c.Pod.Pod.Labels["app"]}, framework.Status{}
}

type trackingApp struct {
	s   *framework.Snapshot
	app string
}

// in counts the app's pods in the zone of the node.
func (t trackingApp) in(n *framework.NodeInfo) (pods int64) {
	for _, other := range t.s.All() {
		for _, p := range other.Pods {
			if other.Node.Labels[api.LabelTopologyZone] == n.Node.Labels[api.LabelTopologyZone] && p.Pod.Labels["app"] == t.app {
				pods++
			}
		}
	}
	return pods
}

func (t trackingApp) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if t.in(n) >= 4 {
		return framework.UnschedulableStatus("the zone has enough of them")
	}
	return framework.Status{}
}

func (t trackingApp) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return 100 - 10*t.in(n)
}

func (t trackingApp) Version() uint64 { return t.s.Version() }

func (t trackingApp) Changed(since uint64, _ func(slot int)) bool { return since == t.s.Version() }

// trackingScoped declares a scope for it, or panics instead.
type trackingScoped struct {
	tracking
	reads  framework.Reads
	panics bool
}

func (p trackingScoped) Scope(*framework.PodInfo) framework.Scope {
	if p.panics {
		panic("no scope")
	}
	return framework.Scope{Pod: framework.FieldLabels, Reads: p.reads}
}

// TestTrackersWithoutAScope: a plugin that declares nothing, or that it reads everything, is right, whatever what it binds
// says of changes: nothing of it is kept.
func TestTrackersWithoutAScope(t *testing.T) {
	for name, p := range map[string]framework.Plugin{
		"no scope":        tracking{},
		"all is read":     trackingScoped{reads: framework.ReadsCluster},
		"scope panics":    trackingScoped{panics: true},
		"domains are":     trackingScoped{reads: framework.ReadsNode | framework.ReadsDomain},
		"domains and all": trackingScoped{reads: framework.ReadsNode | framework.ReadsDomain | framework.ReadsCluster},
	} {
		t.Run(name, func(t *testing.T) {
			s := framework.NewSnapshot(framework.Arrival)
			for i := range 12 {
				put(s.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Zone(fmt.Sprint("z", i%3)).Obj()))
			}
			profile := scheduling.Profile{
				TieRule: scheduling.First, Filter: []framework.Plugin{p}, Score: []scheduling.Weighted{{Plugin: p, Weight: 1}},
			}
			kept := build(t, profile)
			profile.Cache.Off = true
			plain, refused := build(t, profile), 0
			for i := range 90 {
				pod := podInfo(t, s, api.MakePod(fmt.Sprint("p", i)).Labels("app", fmt.Sprint(i%3)).Obj())
				kept.Seek(scheduling.Position{})
				plain.Seek(scheduling.Position{})
				want, wanted := plain.Schedule(s, pod)
				if got, err := kept.Schedule(s, pod); got.Node != want.Node || (err == nil) != (wanted == nil) {
					t.Fatalf("decision %d: %q, %v, want %q, %v", i, got.Node, err, want.Node, wanted)
				}
				if wanted != nil {
					refused++
				} else if i%3 == 0 || i%2 == 0 {
					put(s.AddPod(pod, want.Node))
				}
			}
			if refused == 0 || refused > 60 {
				t.Errorf("%d pods were refused", refused)
			}
		})
	}
}

// A picking plugin has nothing to do for the pods of some apps, and keeps the others off all nodes. Its key tells them apart.
type picking struct{ reads framework.Reads }

func (picking) Name() string { return "picking" }

func (p picking) Scope(*framework.PodInfo) framework.Scope { return framework.Scope{Reads: p.reads} }

func (picking) Idle(c *framework.Cycle) bool { return c.Pod.Pod.Labels["app"] != "2" }

func (picking) AppendClassKey(b []byte, _ *framework.Snapshot, p *framework.PodInfo) []byte {
	return append(b, p.Pod.Labels["app"]...)
}

func (picking) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 }

func (p picking) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if p.Idle(c) {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: p}, framework.Status{}
}

func (picking) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus("not this app")
}

// TestIdlersThatReadAll: that a plugin is idle for one pod says nothing of another one, if its key has no part in the class.
func TestIdlersThatReadAll(t *testing.T) {
	for _, reads := range []framework.Reads{framework.ReadsCluster, framework.ReadsDomain, framework.ReadsNode | framework.ReadsCluster} {
		s := framework.NewSnapshot(framework.Arrival)
		for i := range 12 {
			put(s.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Obj()))
		}
		sched := build(t, scheduling.Profile{Filter: []framework.Plugin{picking{reads}}})
		for i := range 30 {
			pod := podInfo(t, s, api.MakePod(fmt.Sprint("p", i)).Labels("app", fmt.Sprint(i%3)).Obj())
			if d, err := sched.Schedule(s, pod); (err != nil) != (i%3 == 2) {
				t.Errorf("reads %v, pod %d of app %d: %q, %v", reads, i, i%3, d.Node, err)
			}
		}
	}
}

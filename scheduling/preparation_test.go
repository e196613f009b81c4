package scheduling_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A plugin's findings before it sees a node, including whether to skip the pod, may
// change with the objects, the time and the pod. These tests change those between
// decisions for one class of pods.

// scoped is a plugin whose scope and actions a test sets.
type scoped struct {
	name      string
	scope     framework.Scope
	preFilter func(c *framework.Cycle) (framework.PreFiltered, framework.Status)
	preScore  func(c *framework.Cycle) (framework.NodeScorer, framework.Status)
}

func (s scoped) Name() string                             { return s.name }
func (s scoped) Scope(*framework.PodInfo) framework.Scope { return s.scope }
func (s scoped) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// onlyPreFilter and onlyPreScore are the two halves of a scoped plugin.
type onlyPreFilter struct{ scoped }

func (p onlyPreFilter) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return p.preFilter(c)
}

type onlyPreScore struct{ scoped }

func (p onlyPreScore) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.preScore(c)
}

// notOn rejects one node.
type notOn string

func (n notOn) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if node.Name() == string(n) {
		return framework.UnschedulableStatus("not there")
	}
	return framework.Status{}
}

// fond gives one node the highest score.
type fond string

func (f fond) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if node.Name() == string(f) {
		return 100
	}
	return 0
}

// setting returns the label of the namespace "setting": the word that the plugins of
// these tests obey, "" if there is none.
func setting(s *framework.Snapshot) string {
	if n := framework.Lookup[api.Namespace](s, "setting"); n != nil {
		return n.Labels["is"]
	}
	return ""
}

func set(t *testing.T, s *framework.Snapshot, to string) {
	t.Helper()
	n := &api.Namespace{}
	n.Name, n.Labels = "setting", map[string]string{"is": to}
	if err := framework.Put(s, n); err != nil {
		t.Fatal(err)
	}
}

func filterBySetting(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	switch word := setting(c.Snapshot); {
	case word == "":
		return framework.PreFiltered{}, framework.SkipStatus()
	case word == "nobody":
		return framework.PreFiltered{}, framework.UnschedulableStatus("nobody may come")
	case word == "none":
		return framework.PreFiltered{}, framework.UnresolvableStatus("nobody will ever come")
	case strings.HasPrefix(word, "only "):
		return framework.PreFiltered{NodeNames: []string{word[len("only "):]}}, framework.Status{}
	default:
		return framework.PreFiltered{Filter: notOn(word)}, framework.Status{}
	}
}

func scoreBySetting(c *framework.Cycle) (framework.NodeScorer, framework.Status) {
	switch word := setting(c.Snapshot); word {
	case "":
		return nil, framework.SkipStatus()
	case "fails":
		return nil, framework.AsStatus(errors.New("cannot prepare"))
	default:
		return fond(word), framework.Status{}
	}
}

func fondOfTheHour(c *framework.Cycle) (framework.NodeScorer, framework.Status) {
	return fond("abc"[c.Now().Hour()%3:][:1]), framework.Status{}
}

// steady is a scorer that never skips, so that pods are scored.
type steady struct{}

func (steady) Name() string                                        { return "steady" }
func (steady) Scope(*framework.PodInfo) framework.Scope            { return framework.Scope{} }
func (steady) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 1 }

func TestPreparationFollows(t *testing.T) {
	objects := framework.Scope{Reads: framework.ReadsObjects}
	feasible := func(r framework.Reads) framework.Scope { return framework.Scope{Reads: framework.ReadsFeasible | r} }
	words := []string{"", "", "a", "a", "", "b", "only c", "only c", "", "nobody", "nobody", "b", "none", "none", "c", "only a", "", "fails", "", "fails", "a"}
	filters := func(p framework.Plugin) scheduling.Profile {
		return scheduling.Profile{Filter: []framework.Plugin{p}, Score: []scheduling.Weighted{{Plugin: steady{}}}}
	}
	scores := func(p framework.Plugin) scheduling.Profile {
		return scheduling.Profile{Score: []scheduling.Weighted{{Plugin: steady{}}, {Plugin: p}}}
	}
	for _, tt := range []struct {
		name    string
		profile scheduling.Profile
		pod     func(i int) *api.Pod // of decision i; nil for equal pods
		known   bool                 // the incremental path makes most decisions
	}{
		{"a filter that reads objects", filters(onlyPreFilter{scoped{name: "p", scope: objects, preFilter: filterBySetting}}), nil, false},
		{"a scorer that reads objects", scores(onlyPreScore{scoped{name: "p", scope: objects, preScore: scoreBySetting}}), nil, false},
		{"a scorer of feasible nodes that reads objects", scores(onlyPreScore{scoped{name: "p", scope: feasible(framework.ReadsObjects), preScore: scoreBySetting}}), nil, true},
		{"a scorer of feasible nodes that reads the time", scores(onlyPreScore{scoped{name: "p", scope: feasible(framework.ReadsTime), preScore: fondOfTheHour}}), nil, true},
		{"a PreFilter alone, with a scope", scheduling.Profile{
			PreFilter: []framework.Plugin{onlyPreFilter{scoped{name: "p", scope: objects, preFilter: filterBySetting}}},
			Filter:    []framework.Plugin{scoped{name: "f"}}, Score: []scheduling.Weighted{{Plugin: steady{}}},
		}, nil, false},
		{"a PreFilter alone, without one", scheduling.Profile{
			PreFilter: []framework.Plugin{bare{onlyPreFilter{scoped{name: "p", preFilter: filterBySetting}}}},
			Filter:    []framework.Plugin{scoped{name: "f"}}, Score: []scheduling.Weighted{{Plugin: steady{}}},
		}, nil, false},
		{"a PreScore alone, with a scope", scheduling.Profile{
			PreScore: []framework.Plugin{onlyPreScore{scoped{name: "p", scope: objects, preScore: scoreBySetting}}},
			Score:    []scheduling.Weighted{{Plugin: steady{}}},
		}, nil, false},
		{"a PreScore alone, without one", scheduling.Profile{
			PreScore: []framework.Plugin{bare{onlyPreScore{scoped{name: "p", preScore: scoreBySetting}}}},
			Score:    []scheduling.Weighted{{Plugin: steady{}}},
		}, nil, true},
		{"a PreFilter alone that reads the pod", scheduling.Profile{
			PreFilter: []framework.Plugin{onlyPreFilter{scoped{name: "p", scope: framework.Scope{Pod: framework.FieldLabels}, preFilter: func(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
				if c.Pod.Pod.Labels["bad"] != "" {
					return framework.PreFiltered{}, framework.UnresolvableStatus("a bad pod")
				}
				return framework.PreFiltered{}, framework.SkipStatus()
			}}}},
			Filter: []framework.Plugin{scoped{name: "f"}}, Score: []scheduling.Weighted{{Plugin: steady{}}},
		}, func(i int) *api.Pod {
			p := api.MakePod(fmt.Sprint("p", i))
			if i%5 == 4 {
				p = p.Labels("bad", "yes")
			}
			return p.Obj()
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.profile
			p.Cache.Verify = true
			sched := build(t, p)
			s := framework.NewSnapshot(framework.Arrival)
			for _, name := range []string{"a", "b", "c"} {
				if err := s.AddNode(api.MakeNode(name, "4", "4Gi").Obj()); err != nil {
					t.Fatal(err)
				}
			}
			s.SetNow(time.Unix(0, 0))
			i := 0
			for _, word := range words {
				set(t, s, word)
				s.SetNow(s.Now().Add(time.Hour))
				for range 4 {
					pod := api.MakePod(fmt.Sprint("p", i)).Obj()
					if tt.pod != nil {
						pod = tt.pod(i)
					}
					_, err := sched.Schedule(s, podInfo(t, s, pod))
					var different *scheduling.DifferenceError
					if errors.As(err, &different) {
						t.Errorf("decision %d, after %q: %v", i, word, err)
					}
					i++
				}
			}
			if stats := sched.Stats(); stats.Hits == 0 || tt.known && stats.Hits < stats.Bypassed {
				t.Errorf("the incremental path decided too seldom: %+v", stats)
			}
		})
	}
}

// bare hides a plugin's scope.
type bare struct{ p framework.Plugin }

func (b bare) Name() string { return b.p.Name() }
func (b bare) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return b.p.(onlyPreFilter).PreFilter(c)
}

func (b bare) PreScore(c *framework.Cycle, nodes []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return b.p.(onlyPreScore).PreScore(c, nodes)
}

// TestVolumeZoneFollows: a claim without zones is skipped. When its volume gets a
// zone, the other zones are excluded, and later allowed again.
func TestVolumeZoneFollows(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for _, zone := range []string{"x", "y"} {
		if err := s.AddNode(api.MakeNode("node-"+zone, "4", "4Gi").Zone(zone).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "data"}}
	claim.Spec.VolumeName = "pv"
	if err := framework.Put(s, claim); err != nil {
		t.Fatal(err)
	}
	p := scheduling.Profile{Filter: []framework.Plugin{filter.VolumeZone{}}, Score: []scheduling.Weighted{{Plugin: steady{}}}}
	p.Cache.Verify = true
	sched := build(t, p)
	for i, zone := range []string{"", "x", "y", "", "y", "x"} {
		volume := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "pv"}}
		want := 2
		if zone != "" {
			volume.Labels = map[string]string{api.LabelTopologyZone: zone}
			want = 1
		}
		if err := framework.Put(s, volume); err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			pod := api.MakePod(fmt.Sprintf("p%d-%d", i, k)).Obj()
			pod.Spec.Volumes = []api.Volume{{Name: "v", VolumeSource: api.VolumeSource{
				PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
			}}}
			d, err := sched.Schedule(s, podInfo(t, s, pod))
			if err != nil {
				t.Fatal(err)
			}
			if d.Feasible != want || zone != "" && d.Node != "node-"+zone {
				t.Errorf("volume in zone %q: %d feasible nodes, chosen %s, want %d", zone, d.Feasible, d.Node, want)
			}
		}
	}
	if sched.Stats().Hits == 0 {
		t.Error("the incremental path never decided")
	}
}

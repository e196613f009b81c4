//go:build full

package scheduling_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scoring"
)

// Plugins that later releases dropped are made with the arguments of their time.
func TestRegistry118(t *testing.T) {
	byZone := []api.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: api.ScheduleAnyway}}
	for _, tt := range []struct {
		name, args string
		want       framework.Plugin
	}{
		{"ServiceAffinity", `{"affinityLabels": ["rack"], "antiAffinityLabelsPreference": ["zone", "row"]}`, scheduling.Combined{
			filter.ServiceAffinity{AffinityLabels: []string{"rack"}}, scoring.ServiceAffinity{AntiAffinityLabels: []string{"zone", "row"}},
		}},
		{"ServiceAffinity", `{}`, scheduling.Combined{filter.ServiceAffinity{}, scoring.ServiceAffinity{}}},
		{"PodTopologySpread", `{}`, scheduling.Combined{filter.PodTopologySpread{ListDefaulting: true}, scoring.EvenPodsSpread{}}},
		{"PodTopologySpread", `{"defaultConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]}`, scheduling.Combined{
			filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: byZone}, scoring.EvenPodsSpread{DefaultConstraints: byZone},
		}},
		{"DefaultPodTopologySpread", `{}`, scheduling.Combined{scoring.DefaultPodTopologySpread{}}},
	} {
		got, err := scheduling.Kubernetes118Registry().Make(tt.name, json.RawMessage(tt.args), nil)
		if err != nil {
			t.Errorf("Make(%s, %s): %v", tt.name, tt.args, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Make(%s, %s) (-want +got):\n%s", tt.name, tt.args, diff)
		}
	}
}

// By default, 1.18 follows the constraints of the pods themselves, hard and soft,
// and adds no default constraints.
func TestKubernetes118Spreads(t *testing.T) {
	web := api.MakePod("web").Labels("app", "web").Requests("1", "1Gi")
	snap := framework.NewSnapshot(framework.Arrival)
	for _, node := range []string{"a", "b"} { // b has less room left, so resource scores favour a
		size := map[string]string{"a": "64", "b": "8"}[node]
		if err := snap.AddNode(api.MakeNode(node, size, size+"Gi").Labels("zone", node).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"1", "2", "3", "4"} {
		old, err := snap.NewPodInfo(web.Name(name).Obj())
		if err != nil {
			t.Fatal(err)
		}
		if err := snap.AddPod(old, "a"); err != nil {
			t.Fatal(err)
		}
	}
	scheduler, err := scheduling.New(scheduling.Kubernetes118())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		pod  *api.Pod
		want string
	}{
		{"no constraint", web.Obj(), "a"},
		{"hard", web.Spread(1, "zone", api.DoNotSchedule, "app=web").Obj(), "b"},
		{"hard, with room", web.Spread(5, "zone", api.DoNotSchedule, "app=web").Obj(), "a"},
		{"soft", web.Spread(1, "zone", api.ScheduleAnyway, "app=web").Obj(), "b"},
	} {
		pod, err := snap.NewPodInfo(tt.pod)
		if err != nil {
			t.Fatal(err)
		}
		got, err := scheduler.Place(snap, pod)
		if err != nil || got.Node != tt.want {
			t.Errorf("%s: Place = %q, %v, want %q", tt.name, got.Node, err, tt.want)
		}
	}
}

// A configuration of 1.19 to 1.22 may name SelectorSpread; you must register it
// yourself.
func TestSelectorSpreadOfFile(t *testing.T) {
	file := []byte(`apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    preScore: {enabled: [{name: SelectorSpread}]}
    score: {enabled: [{name: SelectorSpread, weight: 3}]}
`)
	registry := scheduling.Kubernetes134Registry()
	if _, err := config.Load(file, config.LoadConfig{Registry: registry}); err == nil || !strings.Contains(err.Error(), `PreScorePlugin "SelectorSpread" does not exist`) {
		t.Errorf("Load = %v, want that there is no such plugin", err)
	}
	if err := registry.Register("SelectorSpread", scheduling.RegisterValue(scoring.SelectorSpread{})); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file, config.LoadConfig{Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	built, err := c.Build(config.BuildConfig{})
	if err != nil {
		t.Fatal(err)
	}
	want := scheduling.Weighted{Plugin: scoring.SelectorSpread{}, Weight: 3}
	if list := built.Profiles[0].Score; !slices.Contains(list, want) {
		t.Errorf("scorers %v, want SelectorSpread with weight 3 among them", list)
	}
}

// No resource is left to DynamicResources, which 1.18 does not have.
func TestKubernetes118CountsAllResources(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}, Spec: api.DeviceClassSpec{ExtendedResourceName: new("x.io/g")}}
	if err := framework.Put(s, class); err != nil {
		t.Fatal(err)
	}
	for _, n := range []*api.Node{api.MakeNode("a", "4", "8Gi").Obj(), api.MakeNode("b", "0", "8Gi").Resource("x.io/g", "1").Obj()} {
		if err := s.AddNode(n); err != nil {
			t.Fatal(err)
		}
	}
	sched, err := scheduling.New(scheduling.Kubernetes118())
	if err != nil {
		t.Fatal(err)
	}
	pod, err := s.NewPodInfo(api.MakePod("p").Requests("1", "1Gi").Request("x.io/g", "2").Obj())
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Schedule(s, pod)
	if err == nil || !strings.Contains(err.Error(), "2 Insufficient x.io/g") {
		t.Errorf("on %q, %v; want both nodes to lack x.io/g", d.Node, err)
	}
}

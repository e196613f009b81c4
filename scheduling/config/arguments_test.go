package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scoring"
)

// TestArgumentsDecide: every plugin argument in a file changes the plugin's verdicts
// or scores for two nodes. Node a has 2 CPUs and 4 GiB, node b twice as much CPU;
// each is a zone.
func TestArgumentsDecide(t *testing.T) {
	const gpu = resource.Name("example.com/gpu")
	pod := api.MakePod("new").Labels("app", "web").Requests("1", "1Gi")
	old := api.MakePod("old").Labels("app", "web").Node("a")
	web := &api.Service{ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"}, Spec: api.ServiceSpec{Selector: map[string]string{"app": "web"}}}
	spread := func(when string) string {
		return "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: " + when + "}]}"
	}
	for _, test := range []struct {
		name, plugin, args string
		old, pod           *api.Pod
		service            *api.Service
		without, with      string // of the plugin: a's and b's raw score, or "rejected", or "-" if it does not score
	}{
		{
			"addedAffinity, required", "NodeAffinity",
			"{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [b]}]}]}}}",
			nil, pod.Obj(), nil, "- -", "rejected -",
		},
		{
			"addedAffinity, preferred", "NodeAffinity",
			"{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [b]}]}}]}}",
			nil, pod.PreferNodes(2, "topology.kubernetes.io/zone=a").Obj(), nil, "2 0", "2 7",
		},
		{
			"ignoredResources", "NodeResourcesFit", "{ignoredResources: [example.com/gpu]}",
			nil, pod.Request(gpu, "1").Obj(), nil, "rejected rejected", "62 75", // a: (50+75)/2, b: (75+75)/2
		},
		{
			"ignoredResourceGroups", "NodeResourcesFit", "{ignoredResourceGroups: [example.com]}",
			nil, pod.Request(gpu, "1").Obj(), nil, "rejected rejected", "62 75",
		},
		{
			"scoringStrategy, type", "NodeResourcesFit", "{scoringStrategy: {type: MostAllocated}}",
			nil, pod.Obj(), nil, "62 75", "37 25",
		},
		{
			"scoringStrategy, resources", "NodeResourcesFit", "{scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 3}]}}",
			nil, pod.Obj(), nil, "62 75", "68 75", // a: (50+3*75)/4
		},
		{
			"requestedToCapacityRatio", "NodeResourcesFit",
			"{scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 1}], requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}}",
			nil, pod.Obj(), nil, "62 75", "50 25",
		},
		{
			"resources", "NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 1}]}", // one resource is always balanced
			nil, pod.Obj(), nil, "68 75", "75 75", // a: 75 minus half of the 12.5 by which 0.5 and 0.25 differ
		},
		{
			"defaultConstraints, DoNotSchedule", "PodTopologySpread", spread("DoNotSchedule"),
			old.Obj(), pod.Obj(), web, "9 6", "rejected -", // a: ln(2+2) of its host and of its zone, and 2+4 of their maxSkew
		},
		{
			"defaultConstraints, ScheduleAnyway", "PodTopologySpread", spread("ScheduleAnyway"),
			old.Obj(), pod.Obj(), web, "9 6", "1 0", // a: ln(2+2) of its zone
		},
		{
			"hardPodAffinityWeight", "InterPodAffinity", "{hardPodAffinityWeight: 9}",
			old.PodAffinity(api.LabelTopologyZone, "app=web").Obj(), pod.Obj(), nil, "1 0", "9 0",
		},
		{
			"hardPodAffinityWeight of 0", "InterPodAffinity", "{hardPodAffinityWeight: 0}",
			old.PodAffinity(api.LabelTopologyZone, "app=web").Obj(), pod.Obj(), nil, "1 0", "- -",
		},
		{
			"ignorePreferredTermsOfExistingPods", "InterPodAffinity", "{ignorePreferredTermsOfExistingPods: true}",
			old.PreferPodAffinity(4, api.LabelTopologyZone, "app=web").Obj(), pod.Obj(), nil, "4 0", "- -",
		},
	} {
		t.Run(test.plugin+" "+test.name, func(t *testing.T) {
			snap := framework.NewSnapshot(framework.Arrival)
			for _, n := range []*api.Node{
				api.MakeNode("a", "2", "4Gi").Zone("a").Labels(api.LabelHostname, "a").Obj(),
				api.MakeNode("b", "4", "4Gi").Zone("b").Labels(api.LabelHostname, "b").Obj(),
			} {
				if err := snap.AddNode(n); err != nil {
					t.Fatal(err)
				}
			}
			if test.old != nil {
				info, err := snap.NewPodInfo(test.old)
				if err != nil {
					t.Fatal(err)
				}
				if err := snap.AddPod(info, "a"); err != nil {
					t.Fatal(err)
				}
			}
			if test.service != nil {
				if err := framework.Put(snap, test.service); err != nil {
					t.Fatal(err)
				}
			}
			file := head + "profiles:\n- pluginConfig:\n  - name: " + test.plugin + "\n    args: " + test.args + "\n"
			if got := saysOf(t, snap, test.pod, test.plugin, head); got != test.without {
				t.Errorf("without arguments %s says %q, want %q", test.plugin, got, test.without)
			}
			if got := saysOf(t, snap, test.pod, test.plugin, file); got != test.with {
				t.Errorf("with %s %s says %q, want %q", test.args, test.plugin, got, test.with)
			}
		})
	}
}

// saysOf returns a plugin's verdict or score for each node, by the profile of a
// file.
func saysOf(t *testing.T, snap *framework.Snapshot, pod *api.Pod, plugin, file string) string {
	t.Helper()
	scheduler, err := scheduling.New(build(t, file, config.LoadConfig{}).Profiles[0])
	if err != nil {
		t.Fatal(err)
	}
	info, err := snap.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, n := range scheduler.Explain(snap, info).Nodes {
		says := "-"
		if n.Verdict == scheduling.VerdictRejected && n.Plugin == plugin {
			says = "rejected"
		}
		for _, s := range n.Scores {
			if s.Plugin == plugin {
				says = fmt.Sprint(s.Raw)
			}
		}
		all = append(all, says)
	}
	return strings.Join(all, " ")
}

// TestArgumentsAreHandedOn covers plugins whose effect does not show on two nodes
// without volumes.
func TestArgumentsAreHandedOn(t *testing.T) {
	profile := build(t, head+`profiles:
- pluginConfig:
  - {name: DefaultPreemption, args: {minCandidateNodesPercentage: 31, minCandidateNodesAbsolute: 7}}
  - {name: VolumeBinding, args: {shape: [{utilization: 0, score: 1}, {utilization: 60, score: 9}]}}
`, config.LoadConfig{}).Profiles[0]
	devices := filter.DynamicResources{BindingTimeout: 10 * time.Minute, MaxSteps: 5_000_000}
	want := []framework.Plugin{devices, preemption.DefaultPreemption{MinCandidateNodesPercentage: new(int32(31)), MinCandidateNodesAbsolute: new(int32(7))}}
	if diff := cmp.Diff(want, profile.PostFilter); diff != "" {
		t.Errorf("PostFilter (-want +got):\n%s", diff)
	}
	for _, w := range profile.Score {
		if w.Plugin.Name() == "VolumeBinding" {
			if diff := cmp.Diff(framework.Plugin(scoring.VolumeBinding{Shape: scoring.Shape{{Utilization: 0, Score: 1}, {Utilization: 60, Score: 9}}}), w.Plugin); diff != "" {
				t.Errorf("scorer (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Error("VolumeBinding does not score")
}

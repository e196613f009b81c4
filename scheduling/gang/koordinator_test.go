package gang_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// Every annotation of Koordinator comes to what Koordinator makes of it.
func TestKoordinatorSettings(t *testing.T) {
	const prefix = "gang.scheduling.koordinator.sh/"
	s := racks(1)
	layers := []gang.KoordinatorLayer{{"block", block}, {"rack", rack}}
	type levels = []gang.Level
	spec := func(list string) string { return `{"gatherStrategy":[` + list + `]}` }
	for _, tt := range []struct {
		key, value string
		right      func(k *gang.KoordinatorGang) bool
	}{
		{"mode", "Strict", func(k *gang.KoordinatorGang) bool {
			return !k.NonStrict && k.Total == 2 && k.Waiting == 10*time.Minute && k.Policy == gang.OnceSatisfied && slices.Equal(k.Groups, []string{"ai/g"})
		}},
		{"mode", "NonStrict", func(k *gang.KoordinatorGang) bool { return k.NonStrict }},
		{"total-number", "5", func(k *gang.KoordinatorGang) bool { return k.Total == 5 }},
		{"total-number", "1", func(k *gang.KoordinatorGang) bool { return k.Total == 2 }},
		{"waiting-time", "30s", func(k *gang.KoordinatorGang) bool { return k.Waiting == 30*time.Second }},
		{"groups", `["ai/z","ai/a"]`, func(k *gang.KoordinatorGang) bool { return slices.Equal(k.Groups, []string{"ai/a", "ai/g", "ai/z"}) }},
		{"network-topology-spec", spec(`{"layer":"rack","strategy":"PreferGather"},{"layer":"block","strategy":"MustGather","podCountMultiple":2}`), func(k *gang.KoordinatorGang) bool {
			return slices.Equal(k.Levels, levels{{Key: block, Slice: 2}, {Key: rack, Mode: gang.Preferred}})
		}},
		{"match-policy", "once-satisfied", func(k *gang.KoordinatorGang) bool {
			bound := len(k.Group(false).Present) == 1 && k.Group(false).Min == 1 && k.Ready() // it has satisfied the gang
			k.Min, k.Present = 3, nil
			return bound && k.Group(false).Min == 3 && k.Group(true).Min == 1 && !k.Ready()
		}},
		{"match-policy", "waiting-and-running", func(k *gang.KoordinatorGang) bool {
			return len(k.Group(false).Present) == 1 && k.Group(true).Min == 2
		}},
		{"match-policy", "only-waiting", func(k *gang.KoordinatorGang) bool {
			return len(k.Group(false).Present) == 0 && k.Group(true).Min == 2
		}},
		{"network-topology-index", "7", func(k *gang.KoordinatorGang) bool { // those with an index come first
			return k.Pods[0].Pod.Name == "z" && k.Pods[1].Pod.Name == "a"
		}},
		{"network-topology-index", "-1", func(k *gang.KoordinatorGang) bool { // stands for none
			return k.Pods[0].Pod.Name == "a" && k.Pods[1].Pod.Name == "z"
		}},
	} {
		z := info(s, api.MakePod("z").Namespace("ai").Annotations(prefix+"name", "g", prefix+"min-available", "2", prefix+tt.key, tt.value).Obj())
		a := info(s, api.MakePod("a").Namespace("ai").Annotations(prefix+"name", "g").Obj())
		old := info(s, api.MakePod("old").Namespace("ai").Annotations(prefix+"name", "g").Node("r0-0").Obj())
		list, err := gang.KoordinatorGangs([]*framework.PodInfo{a, z, old}, nil, layers)
		if err != nil || len(list) != 1 || !tt.right(list[0]) {
			t.Errorf("%s %q: %+v, %v", tt.key, tt.value, list, err)
		}
	}
}

// If a PodGroup describes a gang, annotations of its pods do not, whatever they say.
func TestKoordinatorPodGroup(t *testing.T) {
	seconds := int32(45)
	s := racks(1)
	pod := info(s, api.MakePod("p").Namespace("ai").Labels("pod-group.scheduling.sigs.k8s.io", "h").Annotations("gang.scheduling.koordinator.sh/min-available", "many").Obj())
	object := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "ai", Name: "h"}, Spec: api.PodGroupSpec{MinMember: 4, ScheduleTimeoutSeconds: &seconds}}
	list, err := gang.KoordinatorGangs([]*framework.PodInfo{pod}, []*api.PodGroup{nil, object}, nil)
	if err != nil || len(list) != 1 || list[0].Min != 4 || list[0].Total != 4 || list[0].Waiting != 45*time.Second {
		t.Errorf("KoordinatorGangs = %+v, %v", list, err)
	}
}

// Pods of a gang that is not strict may be anywhere.
func TestPlaceSomeIgnoresLevels(t *testing.T) {
	s := racks(1, 1)
	g := &gang.Group{Name: "g", Pods: workers(s, 6, "1"), Topology: []gang.Level{{Key: rack}}}
	out, err := placer(gang.Rules{}).PlaceSome(s, g)
	if err != nil || out.Status != gang.Placed || len(counts(out)) != 2 {
		t.Errorf("PlaceSome = %+v, %v, want 6 pods in two racks", out, err)
	}
}

// That a group is not unconstrained says nothing.
func TestKueueUnconstrainedFalse(t *testing.T) {
	levels, _, err := gang.KueueLevels(map[string]string{
		"kueue.x-k8s.io/podset-unconstrained-topology": "false", "kueue.x-k8s.io/podset-required-topology": rack,
	}, []string{rack})
	if err != nil || !slices.Equal(levels, []gang.Level{{Key: rack}}) {
		t.Errorf("KueueLevels = %v, %v, want the rack", levels, err)
	}
}

// TestKoordinatorLayers: layers come in the order of the topology, whatever the order of the rules, and
// each of these gangs is placed.
func TestKoordinatorLayers(t *testing.T) {
	const must, prefer = "MustGather", "PreferGather"
	for _, tt := range []struct {
		blocks, racks string // strategies
		want          []gang.Level
	}{
		{must, must, []gang.Level{{Key: block}, {Key: rack}}},
		{prefer, must, []gang.Level{{Key: block}, {Key: rack}}}, // a rack is in one block
		{must, prefer, []gang.Level{{Key: block}, {Key: rack, Mode: gang.Preferred}}},
		{prefer, prefer, []gang.Level{{Key: block, Mode: gang.Preferred}, {Key: rack, Mode: gang.Preferred}}},
	} {
		rules := []string{`{"layer":"b","strategy":"` + tt.blocks + `"}`, `{"layer":"r","strategy":"` + tt.racks + `"}`}
		for _, text := range []string{rules[0] + "," + rules[1], rules[1] + "," + rules[0]} {
			s := framework.NewSnapshot(framework.Arrival)
			var pods []*framework.PodInfo
			for i := range 8 {
				if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "2", "32Gi").Labels(block, fmt.Sprint("b", i/4), rack, fmt.Sprint("r", i/2)).Obj()); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 4 {
				pods = append(pods, info(s, api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Annotations(
					koordinatorName, "g", koordinatorMin, "4", "gang.scheduling.koordinator.sh/network-topology-spec", `{"gatherStrategy":[`+text+`]}`).Obj()))
			}
			list, err := gang.KoordinatorGangs(pods, nil, []gang.KoordinatorLayer{{Name: "b", Label: block}, {Name: "r", Label: rack}})
			if err != nil {
				t.Fatal(err)
			}
			out, err := placer(gang.Rules{Choice: gang.BestFit}).Place(s, list[0].Group(false))
			if err != nil || out.Status != gang.Placed || !slices.Equal(list[0].Levels, tt.want) {
				t.Errorf("%s: levels %v, %+v, %v; want %v", text, list[0].Levels, out, err, tt.want)
			}
		}
	}
}

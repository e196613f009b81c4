package scheduling_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scoring"
)

// The plugins that later releases dropped are made with the arguments of their
// time.
func TestRegistry118(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		want       framework.Plugin
	}{
		{"ServiceAffinity", `{"affinityLabels": ["rack"], "antiAffinityLabelsPreference": ["zone", "row"]}`, scheduling.Parts{
			filter.ServiceAffinity{AffinityLabels: []string{"rack"}}, scoring.ServiceAffinity{AntiAffinityLabels: []string{"zone", "row"}},
		}},
		{"ServiceAffinity", `{}`, scheduling.Parts{filter.ServiceAffinity{}, scoring.ServiceAffinity{}}},
		{"DefaultPodTopologySpread", `{}`, scheduling.Parts{scoring.DefaultPodTopologySpread{}}},
	} {
		got, err := scheduling.Registry118().Make(tt.name, json.RawMessage(tt.args), nil)
		if err != nil {
			t.Errorf("Make(%s, %s): %v", tt.name, tt.args, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Make(%s, %s) (-want +got):\n%s", tt.name, tt.args, diff)
		}
	}
}

// A configuration of 1.19 to 1.22 may name SelectorSpread, which one registers
// oneself.
func TestSelectorSpreadOfFile(t *testing.T) {
	file := []byte(`apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    preScore: {enabled: [{name: SelectorSpread}]}
    score: {enabled: [{name: SelectorSpread, weight: 3}]}
`)
	registry := scheduling.Registry134()
	if _, err := config.Load(file, config.Options{Registry: registry}); err == nil || !strings.Contains(err.Error(), `PreScorePlugin "SelectorSpread" does not exist`) {
		t.Errorf("Load = %v, want that there is no such plugin", err)
	}
	if err := registry.Register("SelectorSpread", scheduling.Fixed(scoring.SelectorSpread{})); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file, config.Options{Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	built, err := c.Build(config.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := scheduling.Weighted{Plugin: scoring.SelectorSpread{}, Weight: 3}
	if list := built.Profiles[0].Score; !slices.Contains(list, want) {
		t.Errorf("scorers %v, want SelectorSpread with weight 3 among them", list)
	}
}

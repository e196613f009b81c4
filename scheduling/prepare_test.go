package scheduling_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// A plugin that is disabled in Filter or Score still prepares. It may reject a pod
// or fail, on both paths, for each pod by that pod's requests.
func TestPluginsThatOnlyPrepare(t *testing.T) {
	named := func(node string) *api.NodeAffinity {
		return &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{
			NodeSelectorTerms: []api.NodeSelectorTerm{{MatchFields: []api.NodeSelectorRequirement{
				{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{node}},
			}}},
		}}
	}
	malformed := &api.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{
		{Weight: 1, Preference: api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{{Key: "a", Operator: "Odd"}}}},
	}}
	for _, off := range []bool{true, false} {
		sched := build(t, scheduling.Profile{
			PreFilter: []framework.Plugin{filter.NodeAffinity{}}, Filter: []framework.Plugin{filter.NodeName{}},
			PreScore: []framework.Plugin{scoring.NodeAffinity{}}, Score: []scheduling.Weighted{{Plugin: byName{}}},
			TieRule: scheduling.First, Cache: scheduling.CacheConfig{Off: off},
		})
		s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj())
		for _, tt := range []struct {
			name     string
			affinity *api.NodeAffinity
			want     string // the node, or a part of the error
		}{
			{"nothing", nil, "a"},
			{"nothing, again", nil, "a"},
			{"a node", named("b"), "b"},
			{"a malformed preference", malformed, `running PreScore plugin "NodeAffinity": [0].matchExpressions[0].operator`},
			{"nothing, once more", nil, "b"}, // the search for one node has moved the start
		} {
			pod := api.MakePod("p").Obj()
			if tt.affinity != nil {
				pod.Spec.Affinity = &api.Affinity{NodeAffinity: tt.affinity}
			}
			d, err := sched.Schedule(s, podInfo(t, s, pod))
			got := d.Node
			if err != nil {
				got = err.Error()
			}
			if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
				t.Errorf("reference path only: %t: %s: Schedule = %s, want %s", off, tt.name, got, tt.want)
			}
		}
	}
}

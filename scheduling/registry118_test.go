package scheduling_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
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

package scoring_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/scoring"
)

func TestServiceAffinityPart(t *testing.T) {
	for _, tt := range []struct {
		count, total int64
		labels       int
		want         float64
	}{
		{0, 0, 1, 100},
		{0, 0, 4, 25},
		{1, 4, 1, 75},
		{1, 4, 3, 25},
		{4, 4, 1, 0},
		{1, 2, 0, 0},
	} {
		if got := scoring.ServiceAffinityPart(tt.count, tt.total, tt.labels); got != tt.want {
			t.Errorf("ServiceAffinityPart(%d, %d, %d) = %v, want %v", tt.count, tt.total, tt.labels, got, tt.want)
		}
	}
}

// TestServiceAffinityOracle compares the plugin with a direct transcription.
func TestServiceAffinityOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawSpreadCluster(t)
		labels := rapid.SampledFrom([][]string{nil, {"rack"}, {"rack", "row"}, {"rack", "row", api.LabelTopologyZone}}).Draw(t, "preferred labels")
		var selectors []map[string]string
		for _, service := range c.services { // sorted by name, each in one namespace
			if service.Spec.Selector != nil && service.Namespace == c.pod.Namespace &&
				oracle.SelectsLabels(&api.LabelSelector{MatchLabels: service.Spec.Selector}, c.pod.Labels) {
				selectors = append(selectors, service.Spec.Selector)
				break
			}
		}
		raw, normalized := scoreAll(t, scoring.ServiceAffinity{AntiAffinityLabels: labels}, c.snapshot(t), c.pod)
		want := c.like(selectors)
		if len(labels) == 0 {
			want = make([]int64, len(c.nodes))
		}
		if !slices.Equal(raw, want) {
			t.Errorf("raw scores = %v, want %v", raw, want)
		}
		if diff := cmp.Diff(oracle.ServiceAffinity(c.nodes, want, labels), normalized); diff != "" {
			t.Errorf("normalized scores of %v (-want +got):\n%s", raw, diff)
		}
	})
}

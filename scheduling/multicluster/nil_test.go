package multicluster_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// TestNil: plugins called with nil return an error and no score.
func TestNil(t *testing.T) {
	filters := append(multicluster.DefaultFilters(), multicluster.AffinityToWorkloads{}, multicluster.AntiAffinityToWorkloads{})
	for _, f := range filters {
		for want, status := range map[string]framework.Status{
			"Error: workload: \"null\": is nil": f.Filter(nil, &api.Cluster{}),
			"Error: cluster: \"null\": is nil":  f.Filter(&multicluster.Workload{}, nil),
		} {
			if got := status.String(); got != want {
				t.Errorf("%s = %s, want %s", f.Name(), got, want)
			}
		}
	}
	for _, s := range multicluster.DefaultScorers() {
		if a, b := s.Score(nil, &api.Cluster{}), s.Score(&multicluster.Workload{}, nil); a != 0 || b != 0 {
			t.Errorf("%s = %d and %d, want 0", s.Name(), a, b)
		}
	}
}

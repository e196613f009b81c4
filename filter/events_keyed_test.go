//go:build full

package filter

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestReadsOtherBehindClassKeys: what a plugin reads through its class key only counts as
// read when a waiting pod changes.
func TestReadsOtherBehindClassKeys(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	info := func(change func(p *api.Pod)) *framework.PodInfo {
		p := api.MakePod("web").Requests("1", "1Gi").Labels("app", "web").Obj()
		change(p)
		i, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	near := func(p *api.Pod) {
		p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{
			{TopologyKey: "zone", LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "db"}}},
		}}}
	}
	spread := func(p *api.Pod) {
		p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: api.DoNotSchedule}}
	}
	other := func(p *api.Pod) { p.Labels = map[string]string{"app": "api"} }
	larger := func(p *api.Pod) {
		p.Spec.Containers[0].Resources = api.MakePod("x").Requests("2", "1Gi").Obj().Spec.Containers[0].Resources
	}
	claims := func(p *api.Pod) { p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu"}} }
	made := func(p *api.Pod) { p.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "gpu"}} }
	for _, tt := range []struct {
		name   string
		plugin framework.Scoper
		change func(p *api.Pod)
		want   bool
	}{
		{"terms", InterPodAffinity{}, near, true},
		{"labels, for terms", InterPodAffinity{}, other, true},
		{"constraints", PodTopologySpread{}, spread, true},
		{"constraints, for terms that are not there", PodTopologySpread{}, near, true}, // more than must be
		{"requests, for terms", InterPodAffinity{}, larger, false},
		{"requests", LoadAware{}, larger, true},
		{"terms, for the load", LoadAware{}, near, false},
		{"claims", DynamicResources{}, claims, true},
		{"claims that were made", DynamicResources{}, made, true},
		{"requests, for devices", DynamicResources{}, larger, true}, // of extended resources, too
		{"terms, for devices", DynamicResources{}, near, false},
	} {
		if got := readsOther(tt.plugin, info(func(*api.Pod) {}), info(tt.change)); got != tt.want {
			t.Errorf("%s: readsOther(%T) = %t, want %t", tt.name, tt.plugin, got, tt.want)
		}
	}
}

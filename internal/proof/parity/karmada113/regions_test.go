package karmada

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// If there are many small regions and few large ones, both make the same choice,
// which needs the large ones.
func TestManySmallRegions(t *testing.T) {
	live.Quiet()
	var theirs []*clusterv1.Cluster
	var ours []*api.Cluster
	add := func(name, region string) {
		c := json.RawMessage(fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"region":%q},"status":{"apiEnablements":[{"groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment"}]}],"resourceSummary":{"allocatable":{"pods":"5"}}}}`, name, region))
		theirs = append(theirs, live.Convert[*clusterv1.Cluster](c))
		ours = append(ours, live.Convert[*api.Cluster](c))
	}
	for i := range 20 {
		add(fmt.Sprintf("s%02d", i), fmt.Sprintf("small%02d", i))
	}
	for i := range 20 {
		add(fmt.Sprintf("b%02d", i), fmt.Sprintf("big%d", i/4))
	}
	spec := live.Convert[*workv1.ResourceBindingSpec](json.RawMessage(`{"resource":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"},"replicas":40,"placement":{"spreadConstraints":[{"spreadByField":"region","minGroups":1,"maxGroups":10},{"spreadByField":"cluster","minGroups":25,"maxGroups":60}],"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Weighted","weightPreference":{"dynamicWeight":"AvailableReplicas"}}}}`))
	a := ask(theirs, spec, &workv1.ResourceBindingStatus{})
	d, err := multicluster.Karmada113().Schedule(ours, &multicluster.Workload{
		APIVersion: "apps/v1", Kind: "Deployment", Replicas: 40, Placement: live.Convert[multicluster.Placement](spec.Placement),
	})
	if a.panicked != nil || a.err != nil || err != nil {
		t.Fatalf("Karmada: %v, panicked %v; berth: %v", a.err, a.panicked, err)
	}
	if want, got := names(a.targets), names(d.Targets); len(want) < 25 || !slices.Equal(got, want) {
		t.Errorf("clusters %v, want those of Karmada: %v", got, want)
	}
}

func names(targets []multicluster.Target) []string {
	var out []string
	for _, t := range targets {
		out = append(out, t.Name)
	}
	return out
}

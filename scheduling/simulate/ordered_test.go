//go:build full

package simulate_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// simulateSet runs a StatefulSet of 5 pods of so many CPU on a node of 4, for as long as it takes.
func simulateSet(t *testing.T, policy api.PodManagementPolicyType, cpu string, scaler *simulate.Autoscaler) *simulate.Result {
	t.Helper()
	set := &api.StatefulSet{ObjectMeta: api.ObjectMeta{Name: "db", Namespace: "default"}}
	set.Spec.Replicas, set.Spec.PodManagementPolicy = new(int32(5)), policy
	set.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	p := api.MakePod("x").Labels("a", "b").Requests(cpu, "1Gi").Obj()
	set.Spec.Template.Labels, set.Spec.Template.Spec = p.Labels, p.Spec
	trace, err := simulate.FromObjects(&api.Objects{Nodes: []*api.Node{api.MakeNode("n", "4", "64Gi").Obj()}, StatefulSets: []*api.StatefulSet{set}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace, Autoscaler: scaler})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPodsInOrder: a pod of a StatefulSet comes once the one before it runs, unless all come at once.
func TestPodsInOrder(t *testing.T) {
	for policy, want := range map[api.PodManagementPolicyType]int{"": 3, api.OrderedReadyPodManagement: 3, api.ParallelPodManagement: 5} {
		if r := simulateSet(t, policy, "2", nil); len(r.Pods) != want || r.Waiting != want-2 {
			t.Errorf("%q, room for 2: %d pods have come, and %d wait; want %d and %d", policy, len(r.Pods), r.Waiting, want, want-2)
		}
	}
	scaler := &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "t", Node: api.MakeNode("t", "4", "64Gi").Obj()}}, Delay: 5 * time.Minute}
	r := simulateSet(t, "", "4", scaler)
	if len(r.Pods) != 5 || r.NodesAdded != 4 {
		t.Fatalf("%d pods have come, and %d nodes; want 5 and 4", len(r.Pods), r.NodesAdded)
	}
	for i, p := range r.Pods {
		if p.Pod != fmt.Sprint("default/db-", i) || p.Bound == nil {
			t.Errorf("pod %d is %+v", i, p)
		} else if i > 0 && p.Arrived != *r.Pods[i-1].Bound+1 {
			t.Errorf("%s came at %v s, one second after %v wanted", p.Pod, p.Arrived, *r.Pods[i-1].Bound)
		}
	}
}

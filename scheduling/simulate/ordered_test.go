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

// orderedSet is a StatefulSet of pods of one CPU.
func orderedSet(replicas int) string {
	return workload("StatefulSet", "apps/v1", "db", fmt.Sprintf(`"replicas": %d,`, replicas), "1", "")
}

func cpuNode(name, cpu string) string {
	return fmt.Sprintf(`{"kind": "Node", "metadata": {"name": %q}, "status": {"allocatable": {"cpu": %q, "memory": "8Gi", "pods": "110"}}}`, name, cpu)
}

// TestLostPodComesBeforeLaterOnes: a pod that is lost is made again although one that comes after it waits.
func TestLostPodComesBeforeLaterOnes(t *testing.T) {
	high := `{"kind": "Pod", "metadata": {"name": "high", "namespace": "default", "annotations": {"berth-sched.github.io/arrival": "600s"}},
		"spec": {"priority": 10, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}`
	r := run(config(decode(`{"kind": "List", "items": [` + cpuNode("a", "2") + "," + orderedSet(3) + "," + high + `]}`)))
	if r.Waiting != 2 {
		t.Errorf("%d pods wait, want the one that was evicted, made again, and the last one: %+v", r.Waiting, r.Pods)
	}
}

// TestSetShrinksInOrder: no pod that is too much goes while one before it waits.
func TestSetShrinksInOrder(t *testing.T) {
	c := config(decode(`{"kind": "List", "items": [` + cpuNode("a", "1") + "," + orderedSet(3) + `]}`))
	at := func(when time.Duration, items string) {
		c.Trace.Events = append(c.Trace.Events, simulate.Event{At: when, Apply: decode(`{"kind": "List", "items": [` + items + `]}`)})
	}
	at(10*time.Second, cpuNode("b", "2"))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: 10 * time.Minute, Delete: simulate.Ref{Kind: "Node", Name: "a"}})
	at(20*time.Minute, orderedSet(2))
	r := run(c)
	if r.Waiting != 1 {
		t.Errorf("%d pods wait, want the one that lost its node", r.Waiting)
	}
	at(30*time.Minute, cpuNode("c", "1"))
	r = run(c)
	for _, p := range r.Pods {
		if gone := p.Ended != nil; r.Waiting != 0 || gone != (p.Pod == "default/db-2" || p.Pod == "x/db-2" || p.Evictions > 0) {
			t.Errorf("with room for it: %+v, %d wait", p, r.Waiting)
		}
	}
}

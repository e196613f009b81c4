package whatif_test

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// A pod that Consolidate moves twice is evicted twice, so its budget counts both.
func TestConsolidateCountsEachEviction(t *testing.T) {
	for allowed, want := range []int{0, 1, 2} {
		s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "8Gi"), api.MakeNode("b", "3", "8Gi"), api.MakeNode("c", "8", "64Gi").Taint("k=v:PreferNoSchedule")})
		b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Name: "b", Namespace: "default"}}
		b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		b.Status.DisruptionsAllowed = int32(allowed)
		put(s, b)
		for _, p := range []*api.Pod{
			api.MakePod("web").UID("u").Labels("app", "web").Owner("ReplicaSet", "web").Requests("1", "1Gi").Node("a").Phase(api.PodRunning).Obj(),
			api.MakePod("x").UID("x").Labels("app", "x").Owner("ReplicaSet", "x").Requests("1", "1Gi").Node("b").Phase(api.PodRunning).Obj(),
		} {
			if err := s.AddPod(pod(s, p), p.Spec.NodeName); err != nil {
				t.Fatal(err)
			}
		}
		c, err := planner(s).Consolidate("a", "b")
		if err != nil {
			t.Fatal(err)
		}
		removedWeb := 0 // nodes that web has left
		for _, name := range c.Removed {
			if name == "a" || allowed > 0 && name == "b" && len(c.Removed) == 2 {
				removedWeb++
			}
		}
		if removedWeb > want || allowed == 2 && len(c.Removed) != 2 {
			t.Errorf("%d disruptions allowed: %+v; web leaves %d nodes", allowed, c, removedWeb)
		}
	}
}

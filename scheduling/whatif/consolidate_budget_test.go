package whatif_test

import (
	"slices"
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

// What a node that must stay would have taken from a budget is there for the next node.
func TestConsolidateGivesBudgetsBack(t *testing.T) {
	s := cluster([]api.NodeBuilder{
		api.MakeNode("a", "4", "8Gi").Labels("only", "a"), api.MakeNode("b", "4", "8Gi"), api.MakeNode("c", "16", "64Gi"),
	})
	b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Name: "b", Namespace: "default"}}
	b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	b.Status.DisruptionsAllowed = 1
	put(s, b)
	running := func(name, app, node string) api.PodBuilder {
		return api.MakePod(name).UID(api.UID(name)).Labels("app", app).Owner("ReplicaSet", app).Requests("1", "1Gi").Node(node).Phase(api.PodRunning)
	}
	for _, p := range []api.PodBuilder{
		running("web-1", "web", "a"), running("stays", "x", "a").NodeSelector("only", "a"),
		running("web-2", "web", "b"), running("y", "x", "b"), running("z", "x", "b"),
	} {
		if err := s.AddPod(pod(s, p.Obj()), p.Obj().Spec.NodeName); err != nil {
			t.Fatal(err)
		}
	}
	c, err := planner(s).Consolidate("a", "b")
	if err != nil || !slices.Equal(c.Removed, []string{"b"}) || len(c.Kept) != 1 || c.Kept[0].Pod != "default/stays" {
		t.Errorf("%+v, %v, want that b goes, and a stays because of one pod", c, err)
	}
}

package scoring_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

func evenScores(t failer, s *framework.Snapshot, p scoring.EvenPodsSpread, pod *api.Pod) []int64 {
	t.Helper()
	scorer, status := p.PreScore(&framework.Cycle{Snapshot: s, Pod: podInfo(t, s, pod)}, nodesOf(s))
	if !status.IsSuccess() {
		t.Fatal("PreScore: ", status)
	}
	nodes := nodesOf(s)
	scores := make([]int64, len(nodes))
	for i, n := range nodes {
		scores[i] = scorer.Score(nil, n)
	}
	if n, ok := scorer.(framework.ScoreNormalizer); ok {
		n.NormalizeScores(nodes, scores)
	}
	return scores
}

func TestEvenPodsSpread(t *testing.T) {
	web := api.MakePod("web").Labels("app", "web")
	node := func(name, zone string) *api.Node {
		n := api.MakeNode(name, "4", "8Gi")
		if zone != "" {
			n = n.Labels("zone", zone)
		}
		return n.Obj()
	}
	three := []*api.Node{node("a", "x"), node("b", "y"), node("c", "z"), node("none", "")}
	byZone := web.Spread(1, "zone", api.ScheduleAnyway, "app=web").Obj()
	on := func(nodes ...string) (pods []*api.Pod) {
		for i, n := range nodes {
			pods = append(pods, web.Name(fmt.Sprint("old", i)).Node(n).Obj())
		}
		return pods
	}
	listed := scoring.EvenPodsSpread{DefaultConstraints: []api.TopologySpreadConstraint{
		{MaxSkew: 7, TopologyKey: "zone", WhenUnsatisfiable: api.ScheduleAnyway},
	}}
	for _, test := range []struct {
		name   string
		plugin scoring.EvenPodsSpread
		nodes  []*api.Node
		pods   []*api.Pod
		pod    *api.Pod
		want   []int64
	}{
		{"total less own, of total less the smallest", scoring.EvenPodsSpread{}, three, on("a", "a", "a", "b"), byZone, []int64{25, 75, 100, 0}},
		{"two pods of zone x, one of y, one of z: of 4-1", scoring.EvenPodsSpread{}, three, on("a", "a", "b", "c"), byZone, []int64{66, 100, 100, 0}},
		{"the pod that lacks the zone does not count", scoring.EvenPodsSpread{}, three, on("a", "b", "none", "none"), byZone, []int64{50, 50, 100, 0}},
		{"no pod: the node without a zone, too", scoring.EvenPodsSpread{}, three, nil, byZone, []int64{100, 100, 100, 100}},
		{"one node with a zone", scoring.EvenPodsSpread{}, three[2:], on("c", "c"), byZone, []int64{100, 100}},
		{"none with a zone", scoring.EvenPodsSpread{}, three[3:], on("none"), byZone, []int64{0}},
		{"no constraint", scoring.EvenPodsSpread{}, three, on("a"), web.Obj(), []int64{0, 0, 0, 0}},
		{"hard only", listed, three, on("a"), web.Spread(1, "zone", api.DoNotSchedule, "app=web").Obj(), []int64{0, 0, 0, 0}},
		{"a default belongs to no service", listed, three, on("a"), web.Obj(), []int64{0, 0, 0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := evenScores(t, snapshotOf(t, test.nodes, test.pods...), test.plugin, test.pod)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("defaults over the pods of a service", func(t *testing.T) {
		s := snapshotOf(t, three, on("a", "a", "b")...)
		service := &api.Service{ObjectMeta: api.ObjectMeta{Name: "s", Namespace: web.Obj().Namespace}, Spec: api.ServiceSpec{Selector: map[string]string{"app": "web"}}}
		if err := framework.Put(s, service); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{33, 66, 100, 0}, evenScores(t, s, listed, web.Obj())); diff != "" {
			t.Errorf("scores (-want +got):\n%s", diff)
		}
	})
}

// TestEvenPodsSpreadAgainstFormula recounts the pods of each node from the objects.
func TestEvenPodsSpreadAgainstFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []*api.Node
		for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
			b := api.MakeNode(fmt.Sprint("n", i), "4", "8Gi")
			for _, key := range []string{"zone", "rack"} {
				if value := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, key); value != "" {
					b = b.Labels(key, value)
				}
			}
			nodes = append(nodes, b.Obj())
		}
		var pods []*api.Pod
		for i := range rapid.IntRange(0, 12).Draw(t, "pods") {
			b := api.MakePod(fmt.Sprint("p", i)).Labels("app", rapid.SampledFrom([]string{"web", "db"}).Draw(t, "app"))
			if rapid.IntRange(0, 5).Draw(t, "terminating") == 0 {
				b = b.Deleted(time.Unix(1, 0))
			}
			pods = append(pods, b.Node(rapid.SampledFrom(nodes).Draw(t, "node").Name).Obj())
		}
		keys := rapid.SampledFrom([][]string{{"zone"}, {"rack"}, {"zone", "rack"}}).Draw(t, "keys")
		b := api.MakePod("new").Labels("app", "web")
		for _, key := range keys {
			b = b.Spread(int32(rapid.IntRange(1, 4).Draw(t, "skew")), key, api.ScheduleAnyway, "app=web")
		}
		got := evenScores(t, snapshotOf(t, nodes, pods...), scoring.EvenPodsSpread{}, b.Obj())
		if diff := cmp.Diff(evenFormula(nodes, pods, keys), got); diff != "" {
			t.Errorf("scores (-want +got):\n%s", diff)
		}
	})
}

func evenFormula(nodes []*api.Node, pods []*api.Pod, keys []string) []int64 {
	byName := map[string]*api.Node{}
	for _, n := range nodes {
		byName[n.Name] = n
	}
	labelled := func(n *api.Node) bool {
		for _, key := range keys {
			if n.Labels[key] == "" {
				return false
			}
		}
		return true
	}
	raw := map[string]int64{}
	var total int64
	var scored []int64
	for _, n := range nodes {
		if !labelled(n) {
			continue
		}
		for _, p := range pods {
			at := byName[p.Spec.NodeName]
			if !labelled(at) || p.Labels["app"] != "web" || p.DeletionTimestamp != nil {
				continue
			}
			for _, key := range keys {
				if at.Labels[key] == n.Labels[key] {
					raw[n.Name]++
				}
			}
		}
		total += raw[n.Name]
		scored = append(scored, raw[n.Name])
	}
	least := int64(-1)
	for _, r := range scored {
		if least < 0 || r < least {
			least = r
		}
	}
	scores := make([]int64, len(nodes))
	for i, n := range nodes {
		switch {
		case len(scored) > 0 && total == least:
			scores[i] = 100
		case labelled(n):
			scores[i] = int64(float64(100) * (float64(total-raw[n.Name]) / float64(total-least)))
		}
	}
	return scores
}

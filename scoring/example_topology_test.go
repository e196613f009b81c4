package scoring_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

// showNeighbours prints a plugin's raw and normalized scores for three nodes: two in
// zone a, one in zone b. The other pods run on the first node.
func showNeighbours(p framework.PreScorePlugin, normalize func(raw, smallest, largest int64) int64, pod api.PodBuilder, others ...api.PodBuilder) {
	nodes := []*api.Node{
		api.MakeNode("n1", "4", "8Gi").Zone("a").Obj(),
		api.MakeNode("n2", "4", "8Gi").Zone("a").Obj(),
		api.MakeNode("n3", "4", "8Gi").Zone("b").Obj(),
	}
	var running []*api.Pod
	for _, o := range others {
		running = append(running, o.Node("n1").Obj())
	}
	s := snapshotOf(exampleFailer{}, nodes, running...)
	scores, status := scoresOf(exampleFailer{}, s, p, pod.Obj())
	if !status.IsSuccess() {
		fmt.Println(status)
		return
	}
	smallest, largest := scores[0], scores[0]
	for _, raw := range scores {
		smallest, largest = min(smallest, raw), max(largest, raw)
	}
	for i, raw := range scores {
		fmt.Printf("%s: %d, normalized %d\n", nodes[i].Name, raw, normalize(raw, smallest, largest))
	}
}

// Zone a has two matching pods already, and node n1 has them both.
func ExamplePodTopologySpread() {
	web := api.MakePod("web").Labels("app", "web").
		Spread(1, api.LabelTopologyZone, api.ScheduleAnyway, "app=web").
		Spread(1, api.LabelHostname, api.ScheduleAnyway, "app=web")
	showNeighbours(scoring.PodTopologySpread{}, scoring.SpreadNormalizeScore, web, web.Name("web-1"), web.Name("web-2"))
	// Output:
	// n1: 6, normalized 0
	// n2: 3, normalized 50
	// n3: 0, normalized 100
}

// The cache attracts with weight 10 in its zone, the batch job repels with
// weight 3 from its node.
func ExampleInterPodAffinity() {
	web := api.MakePod("web").
		PreferPodAffinity(10, api.LabelTopologyZone, "app=cache").
		PreferPodAntiAffinity(3, api.LabelHostname, "app=batch")
	showNeighbours(scoring.InterPodAffinity{}, scoring.InterPodAffinityScore, web,
		api.MakePod("cache").Labels("app", "cache"), api.MakePod("batch").Labels("app", "batch"))
	// Output:
	// n1: 7, normalized 70
	// n2: 10, normalized 100
	// n3: 0, normalized 0
}

func ExampleInterPodAffinityScore() {
	for _, raw := range []int64{-10, 0, 30} {
		fmt.Println(scoring.InterPodAffinityScore(raw, -10, 30))
	}
	// Output:
	// 0
	// 25
	// 100
}

// What a soft spread constraint adds to a node's raw score: 5 pods are in its
// domain, one of three.
func ExampleSpreadScore() {
	weight := scoring.SpreadWeight(3)
	fmt.Printf("%.3f %.3f\n", weight, scoring.SpreadScore(5, 1, weight))
	fmt.Println(scoring.SpreadNormalizeScore(8, 3, 8), scoring.SpreadNormalizeScore(3, 3, 8))
	// Output:
	// 1.609 8.047
	// 37 100
}

// In 1.18 a node's share of the pods counted, whatever the constraint's maxSkew.
func ExampleEvenPodsSpread() {
	web := api.MakePod("web").Labels("app", "web")
	s := framework.NewSnapshot(framework.Arrival)
	for _, zone := range []string{"x", "y", "z"} {
		fmt.Println(s.AddNode(api.MakeNode(zone, "4", "8Gi").Labels("zone", zone).Obj()))
	}
	for i, node := range []string{"x", "x", "x", "y"} {
		old, err := s.NewPodInfo(web.Name(fmt.Sprint("old", i)).Obj())
		if err != nil || s.AddPod(old, node) != nil {
			return
		}
	}
	pod, err := s.NewPodInfo(web.Spread(2, "zone", api.ScheduleAnyway, "app=web").Obj())
	if err != nil {
		return
	}
	var nodes []*framework.NodeInfo
	var scores []int64
	for _, n := range s.All() {
		nodes = append(nodes, n)
	}
	scorer, _ := scoring.EvenPodsSpread{}.PreScore(&framework.Cycle{Snapshot: s, Pod: pod}, nodes)
	for _, n := range nodes {
		scores = append(scores, scorer.Score(pod, n))
	}
	fmt.Println(scores)
	scorer.(framework.ScoreNormalizer).NormalizeScores(nodes, scores)
	fmt.Println(scores)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// [3 1 0]
	// [25 75 100]
}

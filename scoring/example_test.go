package scoring_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

// A plugin scores a pod in two steps: PreScore prepares the pod, and the scorer it
// returns scores nodes. Package scheduling does that for whole profiles.
func ExampleNodeResourcesFit() {
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []api.NodeBuilder{
		api.MakeNode("small", "4", "8Gi"), api.MakeNode("large", "16", "64Gi"),
	} {
		if err := s.AddNode(n.Obj()); err != nil {
			fmt.Println(err)
			return
		}
	}
	pod, err := s.NewPodInfo(api.MakePod("web").Requests("2", "2Gi").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, strategy := range []scoring.Strategy{scoring.LeastAllocated, scoring.MostAllocated} {
		var c framework.Cycle
		c.Reset(pod, s, 0, 0)
		scorer, status := scoring.NodeResourcesFit{Strategy: strategy}.PreScore(&c, nil)
		if !status.IsSuccess() {
			fmt.Println(status)
			return
		}
		for _, n := range s.All() {
			fmt.Println(strategy, n.Name(), scorer.Score(pod, n))
		}
	}
	// Output:
	// LeastAllocated small 62
	// LeastAllocated large 91
	// MostAllocated small 37
	// MostAllocated large 7
}

// Nodes that a GPU pod would fill up to 80 percent win over emptier and fuller ones;
// CPU and memory count less.
func ExampleNodeResourcesFit_requestedToCapacityRatio() {
	packed := scoring.NodeResourcesFit{
		Strategy: scoring.RequestedToCapacityRatio,
		Shape:    scoring.Shape{{Utilization: 0, Score: 0}, {Utilization: 80, Score: 10}, {Utilization: 100, Score: 6}},
		Resources: []scoring.ResourceSpec{
			{Name: "example.com/gpu", Weight: 5}, {Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1},
		},
	}
	show(packed, api.MakePod("train").Requests("4", "16Gi").Request("example.com/gpu", "4").Obj(),
		api.MakeNode("4 GPUs", "8", "64Gi").Resource("example.com/gpu", "4").Obj(),
		api.MakeNode("5 GPUs", "8", "64Gi").Resource("example.com/gpu", "5").Obj(),
		api.MakeNode("8 GPUs", "8", "64Gi").Resource("example.com/gpu", "8").Obj())
	// Output:
	// 4 GPUs: 56
	// 5 GPUs: 85
	// 8 GPUs: 58
}

func ExampleNodeResourcesBalancedAllocation() {
	pod := api.MakePod("cache").Requests("1", "12Gi").Obj()
	show(scoring.NodeResourcesBalancedAllocation{}, pod,
		api.MakeNode("much CPU", "16", "16Gi").Obj(), api.MakeNode("much memory", "4", "64Gi").Obj())
	show(scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes134}, pod,
		api.MakeNode("much CPU", "16", "16Gi").Obj(), api.MakeNode("much memory", "4", "64Gi").Obj())
	// Output:
	// much CPU: 57
	// much memory: 73
	// much CPU: 65
	// much memory: 96
}

func ExampleTaintToleration() {
	show(scoring.TaintToleration{}, api.MakePod("web").Tolerates("spot:PreferNoSchedule").Obj(),
		api.MakeNode("spot", "4", "8Gi").Taint("spot:PreferNoSchedule").Obj(),
		api.MakeNode("old", "4", "8Gi").Taint("old:PreferNoSchedule").Obj())
	// Output:
	// spot: 0, normalized 100
	// old: 1, normalized 0
}

func ExampleNodeAffinity() {
	show(scoring.NodeAffinity{}, api.MakePod("db").PreferNodes(30, "disk=ssd").PreferNodes(10, "zone=a").Obj(),
		api.MakeNode("n1", "4", "8Gi").Labels("disk", "ssd", "zone", "a").Obj(),
		api.MakeNode("n2", "4", "8Gi").Labels("disk", "ssd").Obj(),
		api.MakeNode("n3", "4", "8Gi").Obj())
	// Output:
	// n1: 40, normalized 100
	// n2: 30, normalized 75
	// n3: 0, normalized 0
}

// In 1.18 the containers of a pod shared 1000 MiB.
func ExampleRules_images() {
	pod := api.MakePod("web").Image("example.com/web:2").Container("sidecar").Image("example.com/proxy:1").Obj()
	node := api.MakeNode("n", "4", "8Gi").Image("500Mi", "example.com/web:2").Obj()
	for _, rules := range []scoring.Rules{scoring.Kubernetes118, scoring.Kubernetes137} {
		show(scoring.ImageLocality{Rules: rules}, pod, node)
	}
	// Output:
	// n: 48
	// n: 24
}

func ExampleImageLocality() {
	show(scoring.ImageLocality{}, api.MakePod("web").Image("example.com/web:2").Obj(),
		api.MakeNode("has it", "4", "8Gi").Image("900Mi", "example.com/web:2").Obj(),
		api.MakeNode("has another", "4", "8Gi").Image("900Mi", "example.com/web:1").Obj())
	// Output:
	// has it: 43
	// has another: 0
}

func ExampleShape() {
	full := scoring.Shape{{Utilization: 0, Score: 0}, {Utilization: 80, Score: 100}, {Utilization: 100, Score: 50}}
	fmt.Println(full.At(40), full.At(80), full.At(90))
	// Output: 50 100 75
}

// The strategies place the same pod on opposite nodes.
func ExampleStrategy() {
	for _, strategy := range []scoring.Strategy{scoring.LeastAllocated, scoring.MostAllocated} {
		fmt.Println(strategy)
		show(scoring.NodeResourcesFit{Strategy: strategy}, api.MakePod("web").Requests("1", "2Gi").Obj(),
			api.MakeNode("small", "2", "4Gi").Obj(), api.MakeNode("large", "8", "16Gi").Obj())
	}
	// Output:
	// LeastAllocated
	// small: 50
	// large: 87
	// MostAllocated
	// small: 50
	// large: 12
}

// By the rules of 1.18 a resource that a node does not have counts as 0.
func ExampleRules_fit() {
	for _, rules := range []scoring.Rules{scoring.Kubernetes137, scoring.Kubernetes118} {
		fmt.Println(rules)
		show(scoring.NodeResourcesFit{Rules: rules}, api.MakePod("web").Requests("1", "").Obj(),
			api.MakeNode("no memory", "4", "").Obj())
	}
	// Output:
	// 1.37
	// no memory: 75
	// 1.18
	// no memory: 37
}

func ExampleRules() {
	for _, rules := range []scoring.Rules{scoring.Kubernetes137, scoring.Kubernetes134, scoring.Kubernetes118} {
		fmt.Println(rules)
		show(scoring.NodeResourcesBalancedAllocation{Rules: rules}, api.MakePod("web").Requests("3", "5Gi").Obj(),
			api.MakeNode("n1", "4", "10Gi").Obj())
	}
	// Output:
	// 1.37
	// n1: 68
	// 1.34
	// n1: 87
	// 1.18
	// n1: 75
}

func ExampleResourceSpec() {
	gpuFirst := scoring.NodeResourcesFit{Resources: []scoring.ResourceSpec{{Name: "example.com/gpu", Weight: 9}, {Name: "cpu", Weight: 1}}}
	show(gpuFirst, api.MakePod("train").Requests("4", "8Gi").Request("example.com/gpu", "1").Obj(),
		api.MakeNode("2 GPUs", "16", "64Gi").Resource("example.com/gpu", "2").Obj(),
		api.MakeNode("4 GPUs", "8", "64Gi").Resource("example.com/gpu", "4").Obj())
	// Output:
	// 2 GPUs: 52
	// 4 GPUs: 72
}

// Full nodes are best, and scores are linear between two points.
func ExampleShapePoint() {
	packed := scoring.NodeResourcesRequestedToCapacityRatio{Shape: scoring.Shape{
		scoring.ShapePoint{Utilization: 0, Score: 0}, scoring.ShapePoint{Utilization: 100, Score: 10},
	}}
	show(packed, api.MakePod("web").Requests("1", "2Gi").Obj(),
		api.MakeNode("small", "2", "4Gi").Obj(), api.MakeNode("large", "8", "16Gi").Obj())
	// Output:
	// small: 50
	// large: 13
}

func ExampleNodeResourcesRequestedToCapacityRatio() {
	idle := scoring.NodeResourcesRequestedToCapacityRatio{Shape: scoring.Shape{{Utilization: 0, Score: 10}, {Utilization: 100, Score: 0}}}
	show(idle, api.MakePod("web").Requests("1", "2Gi").Obj(),
		api.MakeNode("small", "2", "4Gi").Obj(), api.MakeNode("large", "8", "16Gi").Obj())
	// Output:
	// small: 50
	// large: 87
}

func ExampleNodeResourcesLeastAllocated() {
	show(scoring.NodeResourcesLeastAllocated{}, api.MakePod("web").Requests("1", "2Gi").Obj(),
		api.MakeNode("small", "2", "4Gi").Obj(), api.MakeNode("large", "8", "16Gi").Obj())
	// Output:
	// small: 50
	// large: 87
}

func ExampleNodeResourcesMostAllocated() {
	show(scoring.NodeResourcesMostAllocated{}, api.MakePod("web").Requests("1", "2Gi").Obj(),
		api.MakeNode("small", "2", "4Gi").Obj(), api.MakeNode("large", "8", "16Gi").Obj())
	// Output:
	// small: 50
	// large: 12
}

func ExampleLeastAllocatedScore() {
	// 3 of 4 cores are requested, in thousandths.
	fmt.Println(scoring.LeastAllocatedScore(3000, 4000), scoring.MostAllocatedScore(3000, 4000))
	// Output: 25 75
}

func ExampleBalancedAllocationScore() {
	allocatable := []int64{4000, 8 << 30} // 4 cores, 8 GiB
	requested := []int64{3000, 2 << 30}
	memoryOnly := []int64{0, 4 << 30}
	fmt.Println(scoring.BalancedAllocationScore(requested, memoryOnly, allocatable))
	// Output: 87
}

func ExampleDefaultNormalizeScore() {
	for _, raw := range []int64{0, 1, 3} {
		fmt.Println(scoring.DefaultNormalizeScore(raw, 3, false), scoring.DefaultNormalizeScore(raw, 3, true))
	}
	// Output:
	// 0 100
	// 33 67
	// 100 0
}

func ExampleImageLocalityScore() {
	const mebi = 1 << 20
	size := scoring.ScaledImageSize(900*mebi, 5, 10) // on 5 of 10 nodes
	fmt.Println(scoring.ImageLocalityScore(size, 1))
	// Output: 43
}

// show prints the scores that a plugin gives a pod on the nodes.
func show(p framework.Plugin, pod *api.Pod, nodes ...*api.Node) {
	s := snapshotOf(exampleFailer{}, nodes)
	scores, status := scoresOf(exampleFailer{}, s, p, pod)
	if !status.IsSuccess() {
		fmt.Println(status)
		return
	}
	largest := int64(0)
	for _, score := range scores {
		largest = max(largest, score)
	}
	for i, n := range nodes {
		fmt.Printf("%s: %d", n.Name, scores[i])
		if by, ok := p.(framework.RangeNormalizer); ok {
			fmt.Printf(", normalized %d", by.NormalizeScore(scores[i], 0, largest))
		}
		fmt.Println()
	}
}

// exampleFailer lets examples use the test helpers.
type exampleFailer struct{}

func (exampleFailer) Helper() {}

func (exampleFailer) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

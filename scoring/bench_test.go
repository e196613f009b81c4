//go:build full

package scoring_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

const benchNodes = 5000

// benchCluster returns nodes of 4 CPU, 32 GiB and 110 pods in 10 zones, two
// pods on each, as a snapshot and a list.
func benchCluster(tb testing.TB, change func(i int, n *api.Node)) (*framework.Snapshot, []*framework.NodeInfo) {
	tb.Helper()
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for i := range benchNodes {
		n := &api.Node{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("node-%05d", i), Labels: map[string]string{
			api.LabelTopologyZone: fmt.Sprintf("zone-%d", i%10),
		}}}
		n.Status.Allocatable = list("cpu", "4", "memory", "32Gi", "pods", "110")
		change(i, n)
		if err := s.AddNode(n); err != nil {
			tb.Fatal(err)
		}
	}
	for i := range 2 * benchNodes {
		if err := s.AddPod(podInfo(tb, s, benchPod(fmt.Sprintf("init-%06d", i))), fmt.Sprintf("node-%05d", i%benchNodes)); err != nil {
			tb.Fatal(err)
		}
	}
	var nodes []*framework.NodeInfo
	for _, n := range s.All() {
		nodes = append(nodes, n)
	}
	return s, nodes
}

// benchPod returns a pod of 100 milli-CPU and 500 MiB.
func benchPod(name string) *api.Pod {
	p := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default"}}
	p.Spec.Containers = []api.Container{{
		Name: "main", Image: "registry.k8s.io/pause:3.10",
		Resources: api.ResourceRequirements{Requests: list("cpu", "100m", "memory", "500Mi")},
	}}
	return p
}

// benchScore measures PreScore and Score over all nodes.
func benchScore(b *testing.B, p framework.Plugin, change func(i int, n *api.Node), pod *api.Pod) {
	s, nodes := benchCluster(b, change)
	info := podInfo(b, s, pod)
	var c framework.Cycle
	var sum int64
	b.ReportAllocs()
	for b.Loop() {
		c.Reset(info, s, 0, 0)
		var scorer framework.NodeScorer
		if pre, ok := p.(framework.PreScorePlugin); ok {
			scorer, _ = pre.PreScore(&c, nodes)
		} else {
			scorer = p.(framework.ScorePlugin)
		}
		for _, n := range nodes {
			sum += scorer.Score(info, n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchNodes, "ns/node")
	sink = sum
}

var sink int64

func plainNodes(int, *api.Node) {}

func withImages(i int, n *api.Node) {
	if i%2 == 0 {
		n.Status.Images = []api.ContainerImage{{Names: []string{"registry.k8s.io/pause:3.10"}, SizeBytes: 300 << 20}}
	}
}

func withTaints(i int, n *api.Node) {
	n.Spec.Taints = []api.Taint{{Key: "spot", Effect: api.TaintEffectPreferNoSchedule}}
}

func withGPU(i int, n *api.Node) {
	n.Status.Allocatable["example.com/gpu"] = resource.MustParse("8")
}

func preferring(zone string) *api.Pod {
	p := benchPod("p")
	p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{{
			Weight: 10,
			Preference: api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{{
				Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{zone},
			}}},
		}},
	}}
	return p
}

func wantingGPU() *api.Pod {
	p := benchPod("p")
	p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
	return p
}

func BenchmarkScore(b *testing.B) {
	gpu := []scoring.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}, {Name: "example.com/gpu", Weight: 3}}
	shape := scoring.Shape{{Utilization: 0, Score: 0}, {Utilization: 70, Score: 10}, {Utilization: 100, Score: 3}}
	for _, bench := range []struct {
		name   string
		plugin framework.Plugin
		nodes  func(int, *api.Node)
		pod    *api.Pod
	}{
		{"LeastAllocated", scoring.NodeResourcesFit{}, plainNodes, benchPod("p")},
		{"MostAllocated", scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}, plainNodes, benchPod("p")},
		{"RequestedToCapacityRatio", scoring.NodeResourcesFit{Strategy: scoring.RequestedToCapacityRatio, Shape: shape}, plainNodes, benchPod("p")},
		{"LeastAllocated/gpu", scoring.NodeResourcesFit{Resources: gpu}, withGPU, wantingGPU()},
		{"Balanced/delta", scoring.NodeResourcesBalancedAllocation{}, plainNodes, benchPod("p")},
		{"Balanced/std", scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes134}, plainNodes, benchPod("p")},
		{"Balanced/v1.18", scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118}, plainNodes, benchPod("p")},
		{"Balanced/gpu", scoring.NodeResourcesBalancedAllocation{Resources: []scoring.ResourceSpec{{Name: "cpu"}, {Name: "memory"}, {Name: "example.com/gpu"}}}, withGPU, wantingGPU()},
		{"TaintToleration", scoring.TaintToleration{}, plainNodes, benchPod("p")},
		{"TaintToleration/tainted", scoring.TaintToleration{}, withTaints, benchPod("p")},
		{"NodeAffinity", scoring.NodeAffinity{}, plainNodes, preferring("zone-3")},
		{"ImageLocality", scoring.ImageLocality{}, plainNodes, benchPod("p")},
		{"ImageLocality/there", scoring.ImageLocality{}, withImages, benchPod("p")},
	} {
		b.Run(bench.name, func(b *testing.B) { benchScore(b, bench.plugin, bench.nodes, bench.pod) })
	}
}

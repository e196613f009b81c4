//go:build full

package filter_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
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
		p := benchPod(fmt.Sprintf("init-%06d", i))
		p.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: int32(8000 + i/benchNodes)}}
		if err := s.AddPod(podInfo(tb, s, p), fmt.Sprintf("node-%05d", i%benchNodes)); err != nil {
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

func plainNodes(int, *api.Node) {}

func withTaints(_ int, n *api.Node) {
	n.Spec.Taints = []api.Taint{{Key: "dedicated", Value: "batch", Effect: api.TaintEffectNoSchedule}}
}

func benchPodWith(change func(*api.Pod)) *api.Pod {
	p := benchPod("p")
	change(p)
	return p
}

func BenchmarkFilter(b *testing.B) {
	tolerating := benchPodWith(func(p *api.Pod) {
		p.Spec.Tolerations = []api.Toleration{
			{Key: "node.kubernetes.io/not-ready", Operator: api.TolerationOpExists, Effect: api.TaintEffectNoExecute},
			{Key: "dedicated", Value: "batch", Effect: api.TaintEffectNoSchedule},
		}
	})
	selecting := benchPodWith(func(p *api.Pod) {
		p.Spec.NodeSelector = map[string]string{api.LabelTopologyZone: "zone-3"}
	})
	listening := benchPodWith(func(p *api.Pod) {
		p.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: 443}, {HostPort: 80}}
	})
	large := benchPodWith(func(p *api.Pod) { p.Spec.Containers[0].Resources.Requests = list("cpu", "5", "memory", "1Ti") })
	for _, bench := range []struct {
		name   string
		plugin framework.Plugin
		nodes  func(int, *api.Node)
		pod    *api.Pod
	}{
		{"NodeUnschedulable", filter.NodeUnschedulable{}, plainNodes, benchPod("p")},
		{"TaintToleration", filter.TaintToleration{}, plainNodes, benchPod("p")},
		{"TaintToleration/tolerated", filter.TaintToleration{}, withTaints, tolerating},
		{"NodeResourcesFit", filter.NodeResourcesFit{}, plainNodes, benchPod("p")},
		{"NodeResourcesFit/reject", filter.NodeResourcesFit{}, plainNodes, large},
		{"NodeAffinity/selector", filter.NodeAffinity{}, plainNodes, selecting},
		{"NodePorts", filter.NodePorts{}, plainNodes, listening},
	} {
		b.Run(bench.name, func(b *testing.B) { benchFilter(b, bench.plugin, bench.nodes, bench.pod) })
	}
}

// benchFilter measures PreFilter and Filter over all nodes.
func benchFilter(b *testing.B, p framework.Plugin, change func(i int, n *api.Node), pod *api.Pod) {
	s, nodes := benchCluster(b, change)
	info := podInfo(b, s, pod)
	var c framework.Cycle
	passed := 0
	b.ReportAllocs()
	for b.Loop() {
		c.Reset(info, s, 0, 0)
		var bound framework.PreFiltered
		if pre, ok := p.(framework.PreFilterPlugin); ok {
			bound, _ = pre.PreFilter(&c)
		} else {
			bound.Filter = p.(framework.FilterPlugin)
		}
		for _, n := range nodes {
			if s := bound.Filter.Filter(info, n); s.IsSuccess() {
				passed++
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchNodes, "ns/node")
	sink = passed
}

var sink int

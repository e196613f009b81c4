package filter_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/resource"
)

const gpu = "example.com/gpu"

func TestNodeResourcesFit(t *testing.T) {
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("empty", "4", "4Gi").Resource(gpu, "2").Resource("ephemeral-storage", "10Gi").Obj(),
		api.MakeNode("used", "4", "4Gi").Resource(gpu, "2").Resource("ephemeral-storage", "10Gi").Obj(),
		api.MakeNode("no slot", "4", "4Gi").Resource("pods", "0").Obj(),
	},
		api.MakePod("a").Requests("3", "3Gi").Request(gpu, "1").Request("ephemeral-storage", "5Gi").Node("used").Obj(),
	)
	const (
		bad    = "Unschedulable: "
		worse  = "UnschedulableAndUnresolvable: "
		slot   = "Too many pods"
		cpu    = "Insufficient cpu"
		memory = "Insufficient memory"
		disk   = "Insufficient ephemeral-storage"
		gpus   = "Insufficient " + gpu
	)
	pod := func(cpu, memory string) api.PodBuilder { return api.MakePod("p").Requests(cpu, memory) }
	tests := []struct {
		name   string
		plugin filter.NodeResourcesFit
		pod    api.PodBuilder
		want   []string
	}{
		{"nothing", filter.NodeResourcesFit{}, pod("", ""), []string{"Success", "Success", bad + slot}},
		{"what is left", filter.NodeResourcesFit{}, pod("1", "1Gi"), []string{"Success", "Success", bad + slot}},
		{"a little more cpu", filter.NodeResourcesFit{}, pod("1001m", "1Gi"), []string{"Success", bad + cpu, bad + slot}},
		{"a little more memory", filter.NodeResourcesFit{}, pod("1", "1073741825"), []string{"Success", bad + memory, bad + slot}},
		{"exactly all of it", filter.NodeResourcesFit{}, pod("4", "4Gi"), []string{"Success", bad + cpu + ", " + memory, bad + slot}},
		{"more than all of it", filter.NodeResourcesFit{}, pod("4001m", "4Gi"), []string{worse + cpu, worse + cpu + ", " + memory, worse + slot + ", " + cpu}},
		{"zeros", filter.NodeResourcesFit{}, pod("0", "0").Request(gpu, "0"), []string{"Success", "Success", bad + slot}},
		{"storage", filter.NodeResourcesFit{}, pod("", "").Request("ephemeral-storage", "6Gi"), []string{"Success", bad + disk, worse + slot + ", " + disk}},
		{"others by name", filter.NodeResourcesFit{}, pod("2", "").Request("z.io/z", "1").Request(gpu, "2").Request("hugepages-2Mi", "2Mi"), []string{
			worse + "Insufficient hugepages-2Mi, Insufficient z.io/z",
			worse + cpu + ", " + gpus + ", Insufficient hugepages-2Mi, Insufficient z.io/z",
			worse + slot + ", " + gpus + ", Insufficient hugepages-2Mi, Insufficient z.io/z",
		}},
		{"names that schedulers do not know", filter.NodeResourcesFit{}, pod("1", "").Request("unknown", "1").Request("pods", "9"), []string{"Success", "Success", bad + slot}},
		{"ignored by name", filter.NodeResourcesFit{IgnoredResources: []resource.Name{gpu, "cpu", "hugepages-2Mi"}}, pod("2", "").Request(gpu, "9").Request("hugepages-2Mi", "2Mi"), []string{
			worse + "Insufficient hugepages-2Mi", worse + cpu + ", Insufficient hugepages-2Mi", worse + slot + ", Insufficient hugepages-2Mi",
		}},
		{"ignored by group", filter.NodeResourcesFit{IgnoredResourceGroups: []string{"example.com"}}, pod("1", "").Request(gpu, "9").Request("example.org/x", "1"), []string{
			worse + "Insufficient example.org/x", worse + "Insufficient example.org/x", worse + slot + ", Insufficient example.org/x",
		}},
		{"of the pod as a whole", filter.NodeResourcesFit{}, pod("1", "1Gi").PodRequest("cpu", "2"), []string{"Success", bad + cpu, bad + slot}},
		{"overhead", filter.NodeResourcesFit{}, pod("1", "1Gi").Overhead("memory", "1"), []string{"Success", bad + memory, bad + slot}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantVerdicts(t, s, test.plugin, test.pod.Obj(), test.want...) })
	}
}

// TestNodeResourcesFitManyResources exceeds the number of bits in a detail word.
func TestNodeResourcesFitManyResources(t *testing.T) {
	const count = 80
	name := func(i int) resource.Name { return resource.Name(fmt.Sprintf("example.com/r%02d", i)) }
	nodes := []*api.Node{
		api.MakeNode("all", "4", "4Gi").Obj(), api.MakeNode("none", "4", "4Gi").Obj(), api.MakeNode("last", "4", "4Gi").Obj(), api.MakeNode("none again", "4", "4Gi").Obj(),
	}
	pod := api.MakePod("p").Requests("5", "").Obj()
	var wantNone []string
	for i := range count {
		nodes[0].Status.Allocatable[name(i)] = resource.MustParse("1")
		pod.Spec.Containers[0].Resources.Requests[name(i)] = resource.MustParse("1")
		if i < count-1 {
			nodes[2].Status.Allocatable[name(i)] = resource.MustParse("1")
		}
		wantNone = append(wantNone, "Insufficient "+string(name(i)))
	}
	s := snapshotOf(t, nodes)
	var c framework.Cycle
	c.Reset(podInfo(t, s, pod), s, 0, 0)
	got, _, _ := verdicts(&c, filter.NodeResourcesFit{})
	for i, want := range [][]string{{"Insufficient cpu"}, slices.Concat([]string{"Insufficient cpu"}, wantNone), {"Insufficient cpu", wantNone[count-1]}} {
		if diff := cmp.Diff(want, got[i].Reasons()); diff != "" || got[i].Code() != framework.UnschedulableAndUnresolvable {
			t.Errorf("verdict on %q: %v (-want +got):\n%s", nodes[i].Name, got[i].Code(), diff)
		}
	}
	if !got[1].Same(got[3]) {
		t.Error("two nodes without the same resources have different statuses")
	}
}

// TestNodeResourcesFitSameStatus checks that nodes with equal shortages are counted
// together, also across cycles.
func TestNodeResourcesFitSameStatus(t *testing.T) {
	s := snapshotOf(t, []*api.Node{api.MakeNode("a", "1", "4Gi").Obj(), api.MakeNode("b", "2", "4Gi").Obj(), api.MakeNode("c", "1", "1Gi").Obj()})
	pod := podInfo(t, s, api.MakePod("p").Requests("3", "2Gi").Obj())
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	first, _, _ := verdicts(&c, filter.NodeResourcesFit{})
	c.Reset(pod, s, 1, 0)
	second, _, _ := verdicts(&c, filter.NodeResourcesFit{})
	if !first[0].Same(first[1]) || !first[0].Same(second[1]) {
		t.Errorf("statuses %v and %v are different", first[0], first[1])
	}
	if first[0].Same(first[2]) {
		t.Errorf("statuses %v and %v are the same", first[0], first[2])
	}
}

func TestNodeResourcesFitAgainstOracle(t *testing.T) {
	names := []resource.Name{"cpu", "memory", "ephemeral-storage", gpu, "example.com/x", "hugepages-2Mi", "unknown"}
	var c framework.Cycle // shared by all, so that its memory is reused
	rapid.Check(t, func(t *rapid.T) {
		quantities := func(label string) resource.List {
			l := resource.List{}
			for _, name := range names {
				if rapid.Bool().Draw(t, label+" has "+string(name)) {
					l[name] = resource.New(rapid.Int64Range(0, 6).Draw(t, string(name)), resource.DecimalSI)
				}
			}
			return l
		}
		drawPod := func(name string) *api.Pod {
			p := api.MakePod(name).Obj()
			p.Spec.Containers[0].Resources.Requests = quantities("container")
			if rapid.Bool().Draw(t, "pod level") {
				p.Spec.Resources = &api.ResourceRequirements{Requests: quantities("pod")}
			}
			return p
		}
		n := api.MakeNode("n", "", "").Obj()
		n.Status.Allocatable = quantities("node")
		n.Status.Allocatable["pods"] = resource.New(rapid.Int64Range(0, 4).Draw(t, "slots"), resource.DecimalSI)
		var pods []*api.Pod
		for i := range rapid.IntRange(0, 3).Draw(t, "pods") {
			p := drawPod(fmt.Sprintf("p%d", i))
			p.Spec.NodeName = "n"
			pods = append(pods, p)
		}
		pod := drawPod("p")
		var plugin filter.NodeResourcesFit
		var ignored []string
		switch rapid.IntRange(0, 2).Draw(t, "ignore") {
		case 1:
			plugin.IgnoredResources, ignored = []resource.Name{gpu, "hugepages-2Mi"}, []string{gpu, "hugepages-2Mi"}
		case 2:
			plugin.IgnoredResourceGroups, ignored = []string{"example.com"}, []string{"example.com"}
		}

		s := snapshotOf(t, []*api.Node{n}, pods...)
		c.Reset(podInfo(t, s, pod), s, 0, 0)
		got, _, _ := verdicts(&c, plugin)
		reasons, forGood := oracle.Fit(pod, n, pods, ignored...)
		code := framework.Success
		if len(reasons) > 0 {
			code = framework.Unschedulable
		}
		if forGood {
			code = framework.UnschedulableAndUnresolvable
		}
		if diff := cmp.Diff(reasons, got[0].Reasons()); diff != "" || got[0].Code() != code {
			t.Errorf("verdict %v, want %v (-want +got):\n%s", got[0].Code(), code, diff)
		}
	})
}

// TestNodeResourcesFitManyNodes compares batch verdicts with single verdicts: for
// nodes with as much as the pod wants, with less, and without a free pod slot, and
// for vectors of all lengths.
func TestNodeResourcesFitManyNodes(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	var nodes []*framework.NodeInfo
	for _, allocatable := range []resource.Vector{nil, {1000}, {1000, 1000}, {1000, 1000, 1000}, {999, 1000}, {1000, 999}} {
		for _, requested := range []resource.Vector{nil, {1}, {0, 1}, {0, 0}, {700, 0}, {0, 0, 600}} {
			for allowed := range int64(3) {
				nodes = append(nodes, &framework.NodeInfo{
					Allocatable: allocatable, Requested: requested, AllowedPods: allowed, Pods: make([]*framework.PodInfo, 1),
				})
			}
		}
	}
	for _, requests := range [][2]string{{"0", "0"}, {"1", "0"}, {"0", "1k"}, {"1", "1k"}, {"300m", "999"}} {
		pod, err := s.NewPodInfo(api.MakePod("p").Requests(requests[0], requests[1]).Obj())
		if err != nil {
			t.Fatal(err)
		}
		var c framework.Cycle
		c.Reset(pod, s, 0, 0)
		pre, _ := filter.NodeResourcesFit{}.PreFilter(&c)
		var want []int
		for i, n := range nodes {
			if !pre.Filter.Filter(pod, n).IsSuccess() {
				want = append(want, i)
			}
		}
		got := pre.Filter.(incremental.BatchFilter).FilterNodes(pod, nodes, nil)
		if len(want) == 0 || len(want) == len(nodes) {
			t.Errorf("a pod of %v: %d of %d nodes rejected, which tests nothing", requests, len(want), len(nodes))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("FilterNodes for a pod of %v (-want +got)\n%s", requests, diff)
		}
	}
}

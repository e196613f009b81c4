package scoring_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

const gpu = "example.com/gpu"

func TestNodeResourcesFit(t *testing.T) {
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("small", "4", "4Gi").Obj(),
		api.MakeNode("large", "8", "16Gi").Resource(gpu, "4").Resource("ephemeral-storage", "10Gi").Obj(),
		api.MakeNode("no memory", "10", "").Obj(),
		api.MakeNode("nothing", "", "").Obj(),
	},
		api.MakePod("a").Requests("1", "1Gi").Node("small").Obj(),
		api.MakePod("b").Requests("", "").Node("large").Obj(), // 100m and 200 MiB
		api.MakePod("c").Requests("1900m", "3896Mi").Request(gpu, "1").Node("large").Obj(),
	)
	pod := api.MakePod("p").Requests("1", "1Gi").Request(gpu, "1").Obj()
	shape := scoring.Shape{{0, 0}, {50, 10}, {100, 5}}
	all := []scoring.ResourceSpec{{Name: "cpu", Weight: 3}, {Name: "memory"}, {Name: gpu, Weight: 5}, {Name: "ephemeral-storage", Weight: 2}, {Name: "pods"}, {Name: "unheard.of/name"}}
	tests := []struct {
		name   string
		plugin scoring.NodeResourcesFit
		want   []int64
	}{
		// small: cpu 2/4, memory 2/4; large: cpu 3/8, memory 5/16 GiB, gpu 2/4, storage 0/10.
		{"zero value", scoring.NodeResourcesFit{}, []int64{50, (62 + 68) / 2, 90, 0}},
		{"least", scoring.NodeResourcesFit{Strategy: scoring.LeastAllocated}, []int64{50, 65, 90, 0}},
		{"most", scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}, []int64{50, (37 + 31) / 2, 10, 0}},
		{"ratio", scoring.NodeResourcesFit{Strategy: scoring.RequestedToCapacityRatio, Shape: shape}, []int64{100, 68, 20, 0}}, // cpu 74, memory 62
		{"least of more", scoring.NodeResourcesFit{Resources: all}, []int64{50, (3*62 + 68 + 5*50 + 2*100) / 11, 90, 0}},
		{"most of more", scoring.NodeResourcesFit{Strategy: scoring.MostAllocated, Resources: all}, []int64{50, (3*37 + 31 + 5*50 + 2*0) / 11, 10, 0}},
		{"ratio of more", scoring.NodeResourcesFit{Strategy: scoring.RequestedToCapacityRatio, Shape: shape, Resources: all}, []int64{100, 87, 20, 0}}, // (3*74+62+5*100)/9 = 87.1; the storage scores 0
		{"one resource", scoring.NodeResourcesFit{Resources: []scoring.ResourceSpec{{Name: gpu, Weight: 100}}}, []int64{0, 50, 0, 0}},
		{"least, 1.18", scoring.NodeResourcesFit{Rules: scoring.Kubernetes118}, []int64{50, 65, 45, 0}},
		{"most, 1.18", scoring.NodeResourcesFit{Rules: scoring.Kubernetes118, Strategy: scoring.MostAllocated, Resources: all}, []int64{50, 34, 5, 0}},
		{"ratio, 1.18", scoring.NodeResourcesFit{Rules: scoring.Kubernetes118, Strategy: scoring.RequestedToCapacityRatio, Shape: shape}, []int64{100, 70, 35, 50}}, // cpu 38% 76, memory 32% 64
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantScores(t, s, test.plugin, pod, test.want, nil) })
	}
}

// TestNodeResourcesFitRequests checks what counts as requested, on an empty
// node of 4 CPU and 4 GiB.
func TestNodeResourcesFitRequests(t *testing.T) {
	s := snapshotOf(t, []*api.Node{api.MakeNode("n", "4", "4Gi").Obj()})
	tests := []struct {
		name        string
		pod         *api.Pod
		least, most int64
	}{
		{"of the container", api.MakePod("p").Requests("2", "2Gi").Obj(), 50, 50},
		{"of the pod as a whole does not", api.MakePod("p").PodRequest("cpu", "2").PodRequest("memory", "2Gi").Obj(), 96, 3},
		{"of the container, not of the pod as a whole", api.MakePod("p").Requests("1", "1Gi").PodRequest("cpu", "2").Obj(), 75, 25},
		{"the default of cpu", api.MakePod("p").Requests("", "2Gi").Obj(), 73, 26},
		{"an explicit 0", api.MakePod("p").Requests("0", "2Gi").Obj(), 75, 25},
		{"overhead", api.MakePod("p").Requests("1", "1Gi").Overhead("cpu", "1").Overhead("memory", "1Gi").Obj(), 50, 50},
		{"more than there is", api.MakePod("p").Requests("5", "2Gi").Obj(), 25, 75},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantScores(t, s, scoring.NodeResourcesFit{}, test.pod, []int64{test.least}, nil)
			wantScores(t, s, scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}, test.pod, []int64{test.most}, nil)
		})
	}
	pod := api.MakePod("p").Requests("5", "2Gi").Obj()
	wantScores(t, s, scoring.NodeResourcesFit{Rules: scoring.Kubernetes118, Strategy: scoring.MostAllocated}, pod, []int64{25}, nil)
}

func TestNodeResourcesFitValidate(t *testing.T) {
	ratio := func(s ...scoring.ShapePoint) scoring.NodeResourcesFit {
		return scoring.NodeResourcesFit{Strategy: scoring.RequestedToCapacityRatio, Shape: s}
	}
	tests := []struct {
		name   string
		plugin scoring.NodeResourcesFit
		want   string
	}{
		{"zero value", scoring.NodeResourcesFit{}, ""},
		{"shape", ratio(scoring.ShapePoint{Utilization: 0, Score: 10}, scoring.ShapePoint{Utilization: 100}), ""},
		{"strategy", scoring.NodeResourcesFit{Strategy: "Best"}, `NodeResourcesFit: strategy: unknown strategy "Best"`},
		{"version", scoring.NodeResourcesFit{Rules: "v1"}, `NodeResourcesFit: rules: unknown rules "v1"; leave the field empty, or take "1.37", "1.34" or "1.18"`},
		{"weight", scoring.NodeResourcesFit{Resources: []scoring.ResourceSpec{{Name: "cpu"}, {Name: gpu, Weight: 101}}}, `NodeResourcesFit: resources[1]: weight 101 of example.com/gpu is not from 0 to 100`},
		{"negative weight", scoring.NodeResourcesFit{Resources: []scoring.ResourceSpec{{Name: "cpu", Weight: -1}}}, `NodeResourcesFit: resources[0]: weight -1 of cpu is not from 0 to 100`},
		{"no shape", ratio(), `NodeResourcesFit: shape: at least one point must be specified`},
		{"utilization", ratio(scoring.ShapePoint{Utilization: 101}), `NodeResourcesFit: shape[0]: utilization 101 is not from 0 to 100`},
		{"order", ratio(scoring.ShapePoint{Utilization: 5}, scoring.ShapePoint{Utilization: 5}), `NodeResourcesFit: shape[1]: utilization 5 is not above that of the point before, 5`},
		{"score", ratio(scoring.ShapePoint{Score: 11}), `NodeResourcesFit: shape[0]: score 11 is not from 0 to 10`},
	}
	s := snapshotOf(t, []*api.Node{api.MakeNode("n", "4", "4Gi").Obj()})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := test.plugin.Validate(); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("Validate = %q, want %q", got, test.want)
			}
			_, status := scoresOf(t, s, test.plugin, api.MakePod("p").Obj())
			if status.Message() != test.want || (status.Code() == framework.Error) != (test.want != "") {
				t.Errorf("PreScore = %v, want %q", status, test.want)
			}
		})
	}
}

// drawCluster draws from few values, so that nodes fill up.
func drawCluster(t *rapid.T) (*framework.Snapshot, *api.Pod, []*api.Pod) {
	quantities := func(label string) resource.List {
		l := resource.List{}
		for _, name := range []resource.Name{"cpu", "memory", "ephemeral-storage", gpu, "hugepages-2Mi"} {
			if rapid.Bool().Draw(t, label+" has "+string(name)) {
				l[name] = resource.New(rapid.Int64Range(0, 8).Draw(t, string(name)), resource.DecimalSI)
			}
		}
		return l
	}
	drawPod := func(name string) *api.Pod {
		p := api.MakePod(name).Obj()
		p.Spec.Containers[0].Resources.Requests = quantities("pod")
		if rapid.Bool().Draw(t, "sidecar") {
			p.Spec.InitContainers = api.MakePod("x").Sidecar("s").Obj().Spec.InitContainers
			p.Spec.InitContainers[0].Resources.Requests = quantities("sidecar")
		}
		return p
	}
	var nodes []*api.Node
	var pods []*api.Pod
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		n := api.MakeNode(fmt.Sprintf("n%d", i), "", "").Obj()
		n.Status.Allocatable = quantities("node")
		nodes = append(nodes, n)
		for range rapid.IntRange(0, 3).Draw(t, "pods") {
			p := drawPod(fmt.Sprintf("p%d", len(pods)))
			p.Spec.NodeName = n.Name
			pods = append(pods, p)
		}
	}
	return snapshotOf(t, nodes, pods...), drawPod("p"), pods
}

// amountsOf computes, from the objects, a node's amount of the named resource and
// the requests of its pods and of the pod to place.
func amountsOf(name resource.Name, n *api.Node, pod *api.Pod, pods []*api.Pod, nonZero bool) (used, more, allocatable int64) {
	amount := func(l resource.List) int64 {
		q := l[name]
		if name == "cpu" {
			return q.MilliValue()
		}
		return q.Value()
	}
	defaults := nonZero && (name == "cpu" || name == "memory")
	for _, p := range pods {
		if p.Spec.NodeName == n.Name {
			used += amount(api.PodRequests(p, api.RequestOptions{PodLevel: true, Status: true, NonZero: defaults}))
		}
	}
	more = amount(api.PodRequests(pod, api.RequestOptions{PodLevel: !nonZero, Status: !nonZero, NonZero: defaults}))
	return used, more, amount(n.Status.Allocatable)
}

func TestNodeResourcesFitAgainstOracle(t *testing.T) {
	var c framework.Cycle // shared by all, so that its memory is reused
	rapid.Check(t, func(t *rapid.T) {
		s, pod, pods := drawCluster(t)
		plugin := scoring.NodeResourcesFit{Strategy: rapid.SampledFrom([]scoring.Strategy{"", scoring.LeastAllocated, scoring.MostAllocated, scoring.RequestedToCapacityRatio}).Draw(t, "strategy")}
		for _, name := range []resource.Name{"cpu", "memory", "ephemeral-storage", gpu, "hugepages-2Mi", "absent.io/x", "pods"} {
			if rapid.Bool().Draw(t, "score "+string(name)) {
				plugin.Resources = append(plugin.Resources, scoring.ResourceSpec{Name: name, Weight: rapid.Int64Range(0, 100).Draw(t, "weight")})
			}
		}
		points := []oracle.Point{}
		for u := int64(0); u <= 100; u += rapid.Int64Range(1, 60).Draw(t, "step") {
			score := rapid.Int64Range(0, 10).Draw(t, "score")
			plugin.Shape = append(plugin.Shape, scoring.ShapePoint{Utilization: u, Score: score})
			points = append(points, oracle.Point{X: u, Y: 10 * score})
		}
		c.Reset(podInfo(t, s, pod), s, 0, 0)
		got, status := rawScores(&c, plugin)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		resources := plugin.Resources
		if resources == nil {
			resources = []scoring.ResourceSpec{{Name: "cpu"}, {Name: "memory"}}
		}
		var want []int64
		for _, n := range nodesOf(s) {
			var scores []oracle.Weighted
			for _, r := range resources {
				used, more, allocatable := amountsOf(r.Name, n.Node, pod, pods, true)
				if allocatable == 0 || more == 0 && r.Name.IsScalar() || r.Name == "pods" {
					continue
				}
				score := oracle.LeastAllocated(used+more, allocatable)
				switch plugin.Strategy {
				case scoring.MostAllocated:
					score = oracle.MostAllocated(used+more, allocatable)
				case scoring.RequestedToCapacityRatio:
					score = oracle.CapacityRatio(points, used+more, allocatable)
				}
				scores = append(scores, oracle.Weighted{Score: score, Weight: max(r.Weight, 1)})
			}
			if plugin.Strategy == scoring.RequestedToCapacityRatio {
				want = append(want, oracle.RoundedMean(scores))
			} else {
				want = append(want, oracle.Mean(scores))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("scores of %+v (-want +got):\n%s", plugin, diff)
		}
	})
}

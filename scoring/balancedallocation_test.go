package scoring_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

func TestNodeResourcesBalancedAllocation(t *testing.T) {
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("empty", "4", "10Gi").Obj(),
		api.MakeNode("half", "10", "20Gi").Resource(gpu, "8").Obj(),
		api.MakeNode("no memory", "4", "").Obj(),
	},
		api.MakePod("a").Requests("6", "5Gi").Node("half").Obj(),
		api.MakePod("b").Requests("", "").Node("half").Obj(),
	)
	pod := api.MakePod("p").Requests("3", "5Gi").Request(gpu, "8").Obj()
	three := []scoring.ResourceSpec{{Name: "cpu"}, {Name: "memory", Weight: 1}, {Name: gpu}}
	tests := []struct {
		name   string
		plugin scoring.NodeResourcesBalancedAllocation
		want   []int64
	}{
		// empty: .75/.5 from 0/0; half: .9/.5 from .6/.25.
		{"zero value", scoring.NodeResourcesBalancedAllocation{}, []int64{50 + (50+87-100)/2, 50 + (50+80-82)/2, 75}},
		{"delta", scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes137}, []int64{68, 74, 75}},
		{"std", scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes134}, []int64{87, 80, 100}},
		// with the defaults: half .91 of cpu and 10.195 of 20 GiB.
		{"1.18", scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118}, []int64{75, 59, 0}},
		// half, three: .9/.5/1 from .6/.25/0, std .2160 and .2460.
		{"three", scoring.NodeResourcesBalancedAllocation{Resources: three}, []int64{68, 50 + (50+78-75)/2, 75}},
		{"three, std", scoring.NodeResourcesBalancedAllocation{Resources: three, Rules: scoring.Kubernetes134}, []int64{87, 78, 100}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantScores(t, s, test.plugin, pod, test.want, nil) })
	}
}

func TestNodeResourcesBalancedAllocationSkips(t *testing.T) {
	s := snapshotOf(t, []*api.Node{api.MakeNode("n", "4", "4Gi").Resource(gpu, "1").Obj()})
	nothing := api.MakePod("p").Obj()
	zeros := api.MakePod("p").Requests("0", "0").Request(gpu, "1").Obj()
	of := func(names ...resource.Name) (p scoring.NodeResourcesBalancedAllocation) {
		for _, name := range names {
			p.Resources = append(p.Resources, scoring.ResourceSpec{Name: name})
		}
		return p
	}
	wantSkip(t, s, of(), nothing)
	wantSkip(t, s, of("cpu", "memory"), zeros)
	wantSkip(t, s, of("pods", "unheard.of/name"), api.MakePod("p").Requests("1", "1Gi").Obj())
	wantSkip(t, s, scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes134}, nothing)
	wantScores(t, s, of("cpu", gpu), zeros, []int64{50}, nil)
	wantScores(t, s, of(), api.MakePod("p").PodRequest("cpu", "4").Obj(), []int64{50}, nil)
	// 1.18 counts 100m of 4 and 200 MiB of 4 GiB.
	wantScores(t, s, scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118}, nothing, []int64{97}, nil)
}

func TestNodeResourcesBalancedAllocationValidate(t *testing.T) {
	tests := []struct {
		name   string
		plugin scoring.NodeResourcesBalancedAllocation
		want   string
	}{
		{"version", scoring.NodeResourcesBalancedAllocation{Rules: "1.2"}, `NodeResourcesBalancedAllocation: rules: unknown rules "1.2"; leave the field empty, or take "1.37", "1.34" or "1.18"`},
		{"weight", scoring.NodeResourcesBalancedAllocation{Resources: []scoring.ResourceSpec{{Name: "cpu", Weight: 2}}}, `NodeResourcesBalancedAllocation: resources[0]: weight 2 of cpu is not from 0 to 1`},
		{"twice", scoring.NodeResourcesBalancedAllocation{Resources: []scoring.ResourceSpec{{Name: "cpu"}, {Name: "cpu"}}}, `NodeResourcesBalancedAllocation: resources[1]: cpu is there already`},
	}
	s := snapshotOf(t, []*api.Node{api.MakeNode("n", "4", "4Gi").Obj()})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := test.plugin.Validate(); err == nil || err.Error() != test.want {
				t.Errorf("Validate = %v, want %s", err, test.want)
			}
			if _, status := scoresOf(t, s, test.plugin, api.MakePod("p").Obj()); status.Code() != framework.Error || status.Message() != test.want {
				t.Errorf("PreScore = %v, want Error: %s", status, test.want)
			}
		})
	}
	if err := (scoring.NodeResourcesBalancedAllocation{}).Validate(); err != nil {
		t.Errorf("Validate of the zero value = %v", err)
	}
}

func TestNodeResourcesBalancedAllocationAgainstOracle(t *testing.T) {
	var c framework.Cycle
	rapid.Check(t, func(t *rapid.T) {
		s, pod, pods := drawCluster(t)
		plugin := scoring.NodeResourcesBalancedAllocation{Rules: rapid.SampledFrom([]scoring.Rules{"", scoring.Kubernetes134, scoring.Kubernetes118}).Draw(t, "version")}
		names := []resource.Name{"cpu", "memory"}
		if plugin.Rules != scoring.Kubernetes118 && rapid.Bool().Draw(t, "more") {
			names = rapid.SliceOfNDistinct(rapid.SampledFrom([]resource.Name{"cpu", "memory", "ephemeral-storage", gpu, "hugepages-2Mi", "absent.io/x"}), 1, -1, rapid.ID).Draw(t, "names")
			for _, name := range names {
				plugin.Resources = append(plugin.Resources, scoring.ResourceSpec{Name: name})
			}
		}
		c.Reset(podInfo(t, s, pod), s, 0, 0)
		got, status := rawScores(&c, plugin)

		var want []int64
		requests := int64(0)
		for _, n := range nodesOf(s) {
			var used, with, more, allocatable []int64
			for _, name := range names {
				u, m, a := amountsOf(name, n.Node, pod, pods, plugin.Rules == scoring.Kubernetes118)
				requests += m
				if m == 0 && name.IsScalar() {
					a = 0
				}
				used, with, more, allocatable = append(used, u), append(with, u+m), append(more, m), append(allocatable, a)
			}
			switch plugin.Rules {
			case scoring.Kubernetes118:
				want = append(want, oracle.BalancedAllocationV118(with[0], allocatable[0], with[1], allocatable[1]))
			case scoring.Kubernetes134:
				want = append(want, oracle.Balance(with, allocatable))
			default:
				want = append(want, oracle.BalancedAllocation(used, more, allocatable))
			}
		}
		if requests == 0 && plugin.Rules != scoring.Kubernetes118 {
			if !status.IsSkip() {
				t.Errorf("PreScore = %v, want Skip", status)
			}
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("scores of %+v (-want +got):\n%s", plugin, diff)
		}
	})
}

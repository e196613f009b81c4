package capacity_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A tester is the common part of *testing.T and *rapid.T.
type tester interface {
	Helper()
	Fatal(...any)
}

func snapshotOf(t tester, nodes ...*api.Node) *framework.Snapshot {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range nodes {
		if err := s.AddNode(n); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func addPod(t tester, s *framework.Snapshot, pod *api.Pod, node string) {
	t.Helper()
	p, err := s.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddPod(p, node); err != nil {
		t.Fatal(err)
	}
}

func TestSummarize(t *testing.T) {
	s := snapshotOf(
		t,
		api.MakeNode("n1", "4", "16Gi").Resource("nvidia.com/gpu", "2").Condition(api.NodeReady, api.ConditionTrue).Obj(),
		api.MakeNode("full", "8", "32Gi").Allocatable(resource.Pods, "1").Obj(),
		api.MakeNode("n2", "2", "8Gi").Unschedulable().Obj(),
		api.MakeNode("over", "1", "1Gi").Obj(),
	)
	addPod(t, s, api.MakePod("a").Requests("500m", "1Gi").Request("nvidia.com/gpu", "1").Obj(), "n1")
	addPod(t, s, api.MakePod("b").Requests("1", "1Gi").Obj(), "full")
	addPod(t, s, api.MakePod("c").Requests("1500m", "1Gi").Obj(), "over")
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	c.Spec.ResourceModels = capacity.DefaultModels()
	got, err := capacity.Summarize(c, s, []*api.Pod{api.MakePod("d").Requests("250m", "").Obj()})
	if err != nil {
		t.Fatal(err)
	}
	// Node "full" admits no more pods and node "over" has negative free CPU:
	// neither counts, but the nodes after them do.
	want := `{"nodeSummary":{"totalNum":4,"readyNum":1},"resourceSummary":{` +
		`"allocatable":{"cpu":"15","memory":"57Gi","nvidia.com/gpu":"2","pods":"331"},` +
		`"allocating":{"cpu":"250m","pods":"1"},` +
		`"allocated":{"cpu":"3","memory":"3Gi","nvidia.com/gpu":"1","pods":"3"},` +
		`"allocatableModelings":[{"grade":0,"count":0},{"grade":1,"count":2},{"grade":2,"count":0},{"grade":3,"count":0},` +
		`{"grade":4,"count":0},{"grade":5,"count":0},{"grade":6,"count":0},{"grade":7,"count":0},{"grade":8,"count":0}]}}`
	data, err := json.Marshal(got.Status)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("status differs (-want +got):\n%s", diff)
	}
	if c.Status.ResourceSummary != nil {
		t.Error("Summarize changed its argument")
	}
}

// TestSummarizeManyNames: what pending pods request of resources that no node has is left out, and
// uses up no names that nodes may still need.
func TestSummarizeManyNames(t *testing.T) {
	s := snapshotOf(t, api.MakeNode("n", "4", "8Gi").Resource("example.com/r7", "0").Obj())
	names := s.Schema().Len()
	var pending []*api.Pod
	for i := range resource.MaxNames + 10 {
		name := resource.Name(fmt.Sprintf("example.com/r%d", i))
		pending = append(pending, api.MakePod("p").Requests("1m", "").Request(name, "2").Request("shoes", "1").Obj())
	}
	got, err := capacity.Summarize(&api.Cluster{}, s, pending)
	if err != nil {
		t.Fatal(err)
	}
	want := resource.List{
		resource.CPU: resource.Milli(resource.MaxNames + 10), "example.com/r7": resource.New(2, resource.DecimalSI),
		resource.Pods: resource.New(resource.MaxNames+10, resource.DecimalSI),
	}
	if diff := cmp.Diff(want, got.Status.ResourceSummary.Allocating); diff != "" {
		t.Errorf("Allocating (-want +got):\n%s", diff)
	}
	if got := s.Schema().Len(); got != names {
		t.Errorf("the snapshot knows %d resource names after Summarize, want %d as before", got, names)
	}
	if err := s.AddNode(api.MakeNode("m", "4", "8Gi").Resource("example.com/new", "1").Obj()); err != nil {
		t.Errorf("AddNode after Summarize: %v", err)
	}
}

// TestEstimateIgnoresNamesOfNoNode: estimates do not look at what pods without a node request of
// resources that no node has. They look at all else.
func TestEstimateIgnoresNamesOfNoNode(t *testing.T) {
	cluster := func(names int, more resource.List) *api.Cluster {
		c := withSummary(list("cpu", "10", "memory", "64Gi", "pods", "20"), nil)
		c.Status.ResourceSummary.Allocating = more.Add(list("cpu", "2", "pods", "1"))
		for i := range names {
			c.Status.ResourceSummary.Allocating[resource.Name(fmt.Sprintf("example.com/r%d", i))] = resource.New(1, resource.DecimalSI)
		}
		return c
	}
	one := resource.List{resource.CPU: resource.MustParse("1")}
	flying := capacity.General{Assumed: map[string][]capacity.Assumed{"m": {{Components: []capacity.Component{{Replicas: 3, Request: one}}}}}}
	for _, tt := range []struct {
		name string
		more resource.List
		want string
	}{
		{"nothing else", nil, "<nil>"},
		{"a name of no node", list("example.com/x", "-1"), "<nil>"},
		{"a name of nodes", list("example.com/x", "-1", "memory", "-1"), `cluster m: status.resourceSummary.allocating[memory]: "-1": must not be negative`},
		{"pods", list("pods", "-2"), `cluster m: status.resourceSummary.allocating[pods]: "-1": must not be negative`},
	} {
		got, err := flying.Estimate(cluster(0, tt.more), &capacity.Replica{Request: one})
		if fmt.Sprint(err) != tt.want || err == nil && got.Replicas != 5 {
			t.Errorf("%s: Estimate = %d, %v; want 5, %s", tt.name, got.Replicas, err, tt.want)
		}
	}
	allocs := func(names int) float64 {
		c := cluster(names, nil)
		return testing.AllocsPerRun(10, func() {
			if got, err := flying.Estimate(c, &capacity.Replica{Request: one}); err != nil || got.Replicas != 5 {
				t.Errorf("%d names: Estimate = %d, %v; want 5", names, got.Replicas, err)
			}
		})
	}
	if few, many := allocs(1), allocs(10_000); many > few {
		t.Errorf("%v allocations if pending pods request 10,000 names, want %v as for one", many, few)
	}
}

func TestSummarizeRefusesModels(t *testing.T) {
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	c.Spec.ResourceModels = []api.ResourceModel{model(0)}
	_, err := capacity.Summarize(c, framework.NewSnapshot(framework.Arrival), nil)
	if want := `cluster m: spec.resourceModels[0].ranges: "0 resources": a model must name at least one resource`; fmt.Sprint(err) != want {
		t.Errorf("Summarize: %v, want %s", err, want)
	}
}

func TestSummarizeRefuses(t *testing.T) {
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	s := framework.NewSnapshot(framework.Arrival)
	debtor := api.MakePod("d").Obj()
	debtor.Spec.Containers = []api.Container{{Resources: api.ResourceRequirements{Requests: list("cpu", "-250m")}}}
	for _, x := range []struct {
		name     string
		cluster  *api.Cluster
		snapshot *framework.Snapshot
		pending  []*api.Pod
		want     string
	}{
		{"no cluster", nil, s, nil, `cluster: "null": is nil`},
		{"no snapshot", c, nil, nil, `cluster m: snapshot: "null": is nil`},
		{"no pod", c, s, []*api.Pod{api.MakePod("a").Obj(), nil}, `cluster m: pending[1]: "null": is nil`},
		{"a pod that gives", c, s, []*api.Pod{debtor}, `cluster m: pending[0].requests[cpu]: "-250m": must not be negative`},
	} {
		t.Run(x.name, func(t *testing.T) {
			if _, err := capacity.Summarize(x.cluster, x.snapshot, x.pending); fmt.Sprint(err) != x.want {
				t.Errorf("Summarize: %v, want %s", err, x.want)
			}
		})
	}
}

func TestOnNode(t *testing.T) {
	s := snapshotOf(t, api.MakeNode("n", "4", "8Gi").Allocatable(resource.Pods, "5").Obj())
	addPod(t, s, api.MakePod("a").Requests("1", "1Gi").Obj(), "n")
	for _, c := range []struct {
		pod   api.PodBuilder
		want  int64
		limit resource.Name
	}{
		{api.MakePod("p").Requests("1", "1Gi"), 3, "cpu"},
		{api.MakePod("p").Requests("1", "3Gi"), 2, "memory"},
		{api.MakePod("p").Requests("100m", "100Mi"), 4, "pods"},
		{api.MakePod("p"), 4, "pods"},
		{api.MakePod("p").Request("nvidia.com/gpu", "1"), 0, "nvidia.com/gpu"},
		{api.MakePod("p").Request("storage", "1"), 4, "pods"}, // schedulers do not account for it
		{api.MakePod("p").Requests("5", "1Gi"), 0, "cpu"},
	} {
		p, err := s.NewPodInfo(c.pod.Obj())
		if err != nil {
			t.Fatal(err)
		}
		if got, limit := capacity.OnNode(p, s.Node("n")); got != c.want || limit != c.limit {
			t.Errorf("OnNode(%v) = %d, %s, want %d, %s", p.Requests, got, limit, c.want, c.limit)
		}
	}
}

// The capacity of the nodes bounds the estimates from their description:
//
//	first fit, min covers <= accurate <= summary
//
// if each node admits enough pods and every requested resource has a model.
func TestEstimatesBoundEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		for i := range rapid.IntRange(0, 8).Draw(t, "nodes") {
			name := fmt.Sprint("n", i)
			node := api.MakeNode(name, fmt.Sprint(rapid.IntRange(0, 40).Draw(t, "cpu")), fmt.Sprintf("%dGi", rapid.IntRange(0, 200).Draw(t, "memory")))
			if err := s.AddNode(node.Allocatable(resource.Pods, "100000").Obj()); err != nil {
				t.Fatal(err)
			}
			for k := range rapid.IntRange(0, 3).Draw(t, "pods") {
				pod := api.MakePod(fmt.Sprint(name, k)).Requests(fmt.Sprintf("%dm", rapid.IntRange(0, 4000).Draw(t, "used cpu")), fmt.Sprintf("%dMi", rapid.IntRange(0, 9000).Draw(t, "used memory")))
				addPod(t, s, pod.Obj(), name)
			}
		}
		pod := api.MakePod("p").Requests(fmt.Sprintf("%dm", rapid.IntRange(1, 9000).Draw(t, "request cpu")), fmt.Sprintf("%dMi", rapid.IntRange(1, 40000).Draw(t, "request memory"))).Obj()
		p, err := s.NewPodInfo(pod)
		if err != nil {
			t.Fatal(err)
		}
		var accurate int64
		overcommitted := false
		for _, n := range s.All() {
			fits, _ := capacity.OnNode(p, n)
			accurate += fits
			for i := range n.Requested {
				overcommitted = overcommitted || n.Requested.At(i) > n.Allocatable.At(i)
			}
		}
		c := &api.Cluster{}
		c.Spec.ResourceModels = capacity.DefaultModels()
		if rapid.Bool().Draw(t, "other models") {
			c.Spec.ResourceModels = drawModels(t)
		}
		described, err := capacity.Summarize(c, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		by := func(g capacity.General) int64 {
			e, err := g.Estimate(described, capacity.ReplicaOf(pod))
			if err != nil {
				t.Fatal(err)
			}
			return e.Replicas
		}
		// An overcommitted node takes free resources of other nodes from the sum.
		if summary := by(capacity.General{IgnoreModels: true}); !overcommitted && accurate > summary {
			t.Fatalf("accurate %d > summary %d", accurate, summary)
		}
		if s.Len() == 0 {
			return
		}
		if covers := by(capacity.General{Rules: capacity.Karmada113}); covers > accurate {
			t.Fatalf("Karmada113 %d > accurate %d", covers, accurate)
		}
		if fit := by(capacity.General{Rules: capacity.Karmada118}); fit > accurate {
			t.Fatalf("Karmada118 %d > accurate %d", fit, accurate)
		}
	})
}

// Karmada118 in one step equals placing replicas one by one.
func TestFirstFitIsPlacingOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
		c.Spec.ResourceModels = drawModels(t)
		c.Status.ResourceSummary = &api.ResourceSummary{Allocatable: list("pods", "1000000")}
		type room struct{ cpu, memory, pods int64 }
		var nodes []room
		for _, m := range c.Spec.ResourceModels {
			n := rapid.IntRange(0, 4).Draw(t, "count")
			c.Status.ResourceSummary.AllocatableModelings = append(c.Status.ResourceSummary.AllocatableModelings, api.AllocatableModeling{Grade: m.Grade, Count: n})
			for range n {
				nodes = append(nodes, room{m.Ranges[0].Min.MilliValue(), m.Ranges[1].Min.Value(), 110})
			}
		}
		cpu, memory := rapid.Int64Range(0, 3000).Draw(t, "request cpu"), rapid.Int64Range(0, 20).Draw(t, "request memory")
		var want int64
	placing:
		for {
			for i := range nodes {
				if n := &nodes[i]; n.pods > 0 && n.cpu >= cpu && n.memory >= memory {
					n.pods--
					n.cpu -= cpu
					n.memory -= memory
					want++
					continue placing
				}
			}
			break
		}
		request := resource.List{"cpu": resource.Milli(cpu), "memory": resource.New(memory, resource.BinarySI)}
		got, err := capacity.General{}.Estimate(c, &capacity.Replica{Request: request})
		if err != nil {
			t.Fatal(err)
		}
		if got.Replicas != want {
			t.Fatalf("Estimate = %d, want %d", got.Replicas, want)
		}
		// One component with one replica is the same question.
		sets, err := capacity.General{}.EstimateSets(withPlenty(c), []capacity.Component{{Replicas: 1, Request: request}})
		if err != nil {
			t.Fatal(err)
		}
		if sets.Replicas != want {
			t.Fatalf("EstimateSets = %d, want %d", sets.Replicas, want)
		}
	})
}

// withPlenty gives the cluster sums that bound nothing.
func withPlenty(c *api.Cluster) *api.Cluster {
	c.Status.ResourceSummary.Allocatable = list("pods", "1000000", "cpu", "1000000", "memory", "1Ei")
	return c
}

// The parts of Karmada's Cluster object that berth reads are written back
// unchanged.
func TestClusterJSON(t *testing.T) {
	const data = `{"kind":"Cluster","apiVersion":"cluster.karmada.io/v1alpha1","metadata":{"name":"member1"},` +
		`"spec":{"syncMode":"Push","provider":"p","region":"r","zones":["z"],"resourceModels":[` +
		`{"grade":0,"ranges":[{"name":"cpu","min":"0","max":"1"},{"name":"memory","min":"0","max":"4Gi"}]},` +
		`{"grade":1,"ranges":[{"name":"cpu","min":"1","max":"9223372036854775807"},{"name":"memory","min":"4Gi","max":"9223372036854775807"}]}]},` +
		`"status":{"kubernetesVersion":"v1.31.0","nodeSummary":{"totalNum":2,"readyNum":2},"resourceSummary":{` +
		`"allocatable":{"cpu":"8","memory":"16Gi","pods":"220"},"allocated":{"cpu":"950m","memory":"290Mi","pods":"11"},` +
		`"allocatableModelings":[{"grade":0,"count":0},{"grade":1,"count":2}]}}}`
	c, err := api.DecodeObject[api.Cluster]([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	e, err := capacity.General{}.Estimate(c, &capacity.Replica{Request: list("cpu", "500m")})
	if err != nil || e.Replicas != 4 {
		t.Errorf("Estimate = %v, %v, want 4", e, err)
	}
	again, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(data, string(again)); diff != "" {
		t.Errorf("JSON differs (-want +got):\n%s", diff)
	}
}

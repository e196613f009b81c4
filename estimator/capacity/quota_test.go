package capacity_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func quotaOf(hard, used resource.List, change ...func(*api.ResourceQuotaSpec)) *api.ResourceQuota {
	q := &api.ResourceQuota{ObjectMeta: api.ObjectMeta{Name: "q", Namespace: "n"}}
	q.Status.Hard, q.Status.Used = hard, used
	for _, f := range change {
		f(&q.Spec)
	}
	return q
}

func scoped(e api.ScopedResourceSelectorRequirement) func(*api.ResourceQuotaSpec) {
	return func(s *api.ResourceQuotaSpec) {
		s.ScopeSelector = &api.ScopeSelector{MatchExpressions: []api.ScopedResourceSelectorRequirement{e}}
	}
}

func TestQuota(t *testing.T) {
	const none = -1
	pod := func(namespace, class string) *api.Pod {
		p := api.MakePod("p").Namespace(namespace).Obj()
		p.Spec.PriorityClassName = class
		return p
	}
	cpu := quotaOf(list("cpu", "10"), list("cpu", "3500m"))
	class := func(op api.ScopeSelectorOperator, values ...string) *api.ResourceQuota {
		return quotaOf(list("cpu", "4"), list("cpu", "0"), scoped(api.ScopedResourceSelectorRequirement{ScopeName: "PriorityClass", Operator: op, Values: values}))
	}
	scope := func(s api.ResourceQuotaScope) *api.ResourceQuota {
		return quotaOf(list("cpu", "4"), list("cpu", "0"), func(spec *api.ResourceQuotaSpec) { spec.Scopes = append(spec.Scopes, s) })
	}
	for _, c := range []struct {
		name    string
		quotas  []*api.ResourceQuota
		pod     *api.Pod
		request resource.List
		want    int64
	}{
		{"no quota", nil, pod("n", ""), list("cpu", "1"), none},
		{"another namespace", []*api.ResourceQuota{cpu}, pod("o", ""), list("cpu", "1"), none},
		{"no pod", []*api.ResourceQuota{cpu}, nil, list("cpu", "1"), none},
		{"rest of the quota", []*api.ResourceQuota{cpu}, pod("n", ""), list("cpu", "1"), 6},
		{"not requested", []*api.ResourceQuota{cpu}, pod("n", ""), list("memory", "1"), none},
		{"not in use", []*api.ResourceQuota{quotaOf(list("cpu", "10"), nil)}, pod("n", ""), list("cpu", "1"), none},
		{"requests.", []*api.ResourceQuota{quotaOf(list("requests.nvidia.com/gpu", "8"), list("requests.nvidia.com/gpu", "1"))}, pod("n", ""), list("nvidia.com/gpu", "2"), 3},
		{"both names", []*api.ResourceQuota{quotaOf(list("cpu", "2", "requests.cpu", "9"), list("cpu", "0", "requests.cpu", "0"))}, pod("n", ""), list("cpu", "1"), 2},
		{"limits", []*api.ResourceQuota{quotaOf(list("limits.cpu", "1"), list("limits.cpu", "1"))}, pod("n", ""), list("cpu", "1"), none},
		{"pods", []*api.ResourceQuota{quotaOf(list("pods", "1"), list("pods", "1"))}, pod("n", ""), list("cpu", "1", "pods", "1"), none},
		{"overdrawn", []*api.ResourceQuota{quotaOf(list("cpu", "1"), list("cpu", "30"))}, pod("n", ""), list("cpu", "1"), 0},
		{"the smallest", []*api.ResourceQuota{cpu, quotaOf(list("memory", "5Gi"), list("memory", "1Gi"))}, pod("n", ""), list("cpu", "1", "memory", "2Gi"), 2},
		{"more than anyone wants", []*api.ResourceQuota{quotaOf(list("memory", "4Ei"), list("memory", "0"))}, pod("n", ""), list("memory", "1"), none},
		{"In", []*api.ResourceQuota{class("In", "high")}, pod("n", "high"), list("cpu", "1"), 4},
		{"not In", []*api.ResourceQuota{class("In", "high")}, pod("n", "low"), list("cpu", "1"), none},
		{"NotIn without a class", []*api.ResourceQuota{class("NotIn", "high")}, pod("n", ""), list("cpu", "1"), 4},
		{"Exists", []*api.ResourceQuota{class("Exists")}, pod("n", ""), list("cpu", "1"), none},
		{"DoesNotExist", []*api.ResourceQuota{class("DoesNotExist")}, pod("n", ""), list("cpu", "1"), 4},
		{"scope PriorityClass", []*api.ResourceQuota{scope("PriorityClass")}, pod("n", "low"), list("cpu", "1"), 4},
		{"another scope", []*api.ResourceQuota{scope("BestEffort")}, pod("n", "low"), list("cpu", "1"), none},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := capacity.Quota{Quotas: map[string][]*api.ResourceQuota{"m": c.quotas}}
			got, err := q.Estimate(withSummary(nil, nil), &capacity.Replica{Request: c.request, Pod: c.pod})
			want := capacity.Estimate{Replicas: max(0, c.want), NoOpinion: c.want == none}
			if err != nil || got != want {
				t.Errorf("Estimate = %+v, %v, want %+v", got, err, want)
			}
		})
	}
	q := capacity.Quota{
		Quotas: map[string][]*api.ResourceQuota{"m": {cpu, class("In", "high")}},
		Assumed: map[string][]capacity.Assumed{"m": {
			{Namespace: "n", Components: []capacity.Component{{Replicas: 2, Request: list("cpu", "250m")}}},
			{Namespace: "o", Components: []capacity.Component{{Replicas: 2, Request: list("cpu", "5")}}},
		}},
	}
	set := []capacity.Component{
		{Replicas: 2, Request: list("cpu", "1"), Pod: pod("n", "")}, {Replicas: 1, Request: list("cpu", "1"), Pod: pod("n", "high")},
	}
	// 6 CPUs for a set with 3, and 4 for the one component of high priority.
	if got, err := q.EstimateSets(withSummary(nil, nil), set); err != nil || got != (capacity.Estimate{Replicas: 2}) {
		t.Errorf("EstimateSets = %+v, %v, want 2", got, err)
	}
}

func TestQuotaRefuses(t *testing.T) {
	in := func(op api.ScopeSelectorOperator, values ...string) *api.ResourceQuota {
		return quotaOf(nil, nil, scoped(api.ScopedResourceSelectorRequirement{ScopeName: "PriorityClass", Operator: op, Values: values}))
	}
	replica := &capacity.Replica{Pod: api.MakePod("p").Namespace("n").Obj()}
	for _, c := range []struct {
		quota *api.ResourceQuota
		want  string
	}{
		{nil, `cluster m: quotas[0]: "null": is nil`},
		{in("Near"), `cluster m: quota n/q: spec.scopeSelector.matchExpressions[0].operator: "Near": is not a valid scope selector operator`},
		{in("In"), `cluster m: quota n/q: spec.scopeSelector.matchExpressions[0].values: "[]": the operator needs values`},
		{in("Exists", "x"), `cluster m: quota n/q: spec.scopeSelector.matchExpressions[0].values: "[x]": the operator takes no values`},
	} {
		q := capacity.Quota{Quotas: map[string][]*api.ResourceQuota{"m": {c.quota}}}
		if _, err := q.Estimate(withSummary(nil, nil), replica); fmt.Sprint(err) != c.want {
			t.Errorf("Estimate: %v, want %s", err, c.want)
		}
	}
	if _, err := (capacity.Quota{}).Estimate(nil, replica); fmt.Sprint(err) != `cluster: "null": is nil` {
		t.Errorf("Estimate of nil: %v", err)
	}
}

// Sets are placed on known nodes, replica by replica.
func TestSetsOnNodes(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for i, cpu := range []string{"3", "2", "4"} {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), cpu, "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	kind := func(replicas int64, cpu string, may ...bool) capacity.NodeComponent {
		info, err := s.NewPodInfo(api.MakePod("p").Requests(cpu, "1Gi").Obj())
		if err != nil {
			t.Fatal(err)
		}
		return capacity.NodeComponent{Replicas: replicas, Pod: info, May: may}
	}
	for _, c := range []struct {
		name   string
		set    []capacity.NodeComponent
		others [][]capacity.NodeComponent
		want   int64
	}{
		{"nothing", nil, nil, 7},
		{"no pod", []capacity.NodeComponent{{Replicas: 200}}, nil, 1}, // 330 pods
		{"two of 2", []capacity.NodeComponent{kind(2, "2")}, nil, 2},
		{"1 and 2", []capacity.NodeComponent{kind(1, "1"), kind(1, "2")}, nil, 3},
		{"2 on the last node", []capacity.NodeComponent{kind(1, "2", false, false, true)}, nil, 2},
		{"none may run", []capacity.NodeComponent{kind(1, "2", false)}, nil, 0},
		{"beside 3 of 1", []capacity.NodeComponent{kind(1, "2")}, [][]capacity.NodeComponent{{kind(3, "1")}}, 3},
		{"beside what does not fit", []capacity.NodeComponent{kind(1, "4")}, [][]capacity.NodeComponent{{kind(2, "4"), kind(1, "1")}}, 0},
		{"no replicas", []capacity.NodeComponent{kind(-3, "9")}, nil, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := capacity.SetsOnNodes(s, c.set, c.others, 7); got != c.want {
				t.Errorf("SetsOnNodes = %d, want %d", got, c.want)
			}
		})
	}
	if got := capacity.SetsOnNodes(nil, []capacity.NodeComponent{kind(1, "1")}, nil, 7); got != 0 {
		t.Errorf("SetsOnNodes of no snapshot = %d, want 0", got)
	}
}

// TestSetsAskOnlyAboutNodesWithRoom: whether a pod may run on a node is asked if the node has room.
func TestSetsAskOnlyAboutNodesWithRoom(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for i, cpu := range []string{"3", "8", "5", "4"} {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), cpu, "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	info, err := s.NewPodInfo(api.MakePod("p").Requests("4", "1Gi").Obj())
	if err != nil {
		t.Fatal(err)
	}
	var asked []int
	other := capacity.NodeComponent{Replicas: 1, Pod: info, Ask: func(node int) bool {
		asked = append(asked, node)
		return node > 1
	}}
	if diff := cmp.Diff([]int64{0, 2, 0, 1}, capacity.ReplicasOnNodes(s, info, [][]capacity.NodeComponent{{other}})); diff != "" {
		t.Errorf("ReplicasOnNodes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 2}, asked); diff != "" {
		t.Errorf("nodes that are asked about (-want +got):\n%s", diff)
	}
}

// TestQuotaOfOthers: a quota that cannot be read ends no estimate of another namespace, although a
// workload of its own is in flight.
func TestQuotaOfOthers(t *testing.T) {
	bad := &api.ResourceQuota{ObjectMeta: api.ObjectMeta{Name: "q", Namespace: "x"}}
	bad.Spec.ScopeSelector = &api.ScopeSelector{MatchExpressions: []api.ScopedResourceSelectorRequirement{{ScopeName: "PriorityClass", Operator: "Like"}}}
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "c"}}
	inFlight := capacity.Assumed{Namespace: "x", Components: []capacity.Component{{Replicas: 1, Request: resource.List{resource.CPU: resource.MustParse("1")}}}}
	q := capacity.Quota{
		Quotas:  map[string][]*api.ResourceQuota{"c": {bad}},
		Assumed: map[string][]capacity.Assumed{"c": {inFlight}},
	}
	for namespace, fails := range map[string]bool{"x": true, "y": false} {
		_, err := q.Estimate(c, capacity.ReplicaOf(api.MakePod("p").Namespace(namespace).Requests("1", "1Gi").Obj()))
		if (err != nil) != fails {
			t.Errorf("namespace %s: error %v", namespace, err)
		}
	}
}

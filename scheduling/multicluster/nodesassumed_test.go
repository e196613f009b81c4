package multicluster

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// zoneOnly rejects nodes of another zone than the pod asks for, fails or panics for pods on the
// node that they name, and counts how often it is asked.
type zoneOnly struct{ calls *int }

func (zoneOnly) Name() string { return "ZoneOnly" }

func (o zoneOnly) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	*o.calls++
	switch node.Name() {
	case pod.Pod.Labels["fails-on"]:
		return framework.AsStatus(errors.New("failed"))
	case pod.Pod.Labels["panics-on"]:
		panic("failed")
	}
	if want := pod.Pod.Labels["zone"]; want != "" && want != node.Node.Labels["zone"] {
		return framework.UnschedulableStatus("another zone")
	}
	return framework.Status{}
}

// zoned returns a snapshot of nodes with 8 CPUs in zones.
func zoned(t interface{ Fatal(...any) }, zones ...int) *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	for i, zone := range zones {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "8", "32Gi").Labels("zone", fmt.Sprint(zone)).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func zonedComponent(replicas int64, cpu string, zone int) capacity.Component {
	p := api.MakePod("p").Requests(cpu, "1Mi")
	if zone > 0 {
		p = p.Labels("zone", fmt.Sprint(zone))
	}
	return capacity.ComponentOf("c", replicas, p.Obj())
}

// TestAssumedPodsAreAskedAboutFewNodes: the filters are asked about the nodes that an assumed pod comes
// to, not about all.
func TestAssumedPodsAreAskedAboutFewNodes(t *testing.T) {
	const nodes, components = 100, 300
	calls := 0
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	n := Nodes{Snapshots: map[string]*framework.Snapshot{"m": zoned(t, make([]int, nodes)...)}, Filter: []framework.Plugin{zoneOnly{&calls}}}
	one := zonedComponent(1, "1", 0)
	estimate := func() int64 {
		calls = 0
		e, err := n.Estimate(c, &capacity.Replica{Request: one.Request, Pod: one.Pod})
		if err != nil {
			t.Fatal(err)
		}
		return e.Replicas
	}
	if got := estimate(); got != 8*nodes {
		t.Fatalf("%d replicas fit, want %d", got, 8*nodes)
	}
	alone := calls
	var assumed []capacity.Component
	for range components {
		assumed = append(assumed, zonedComponent(1, "2", 0))
	}
	n.Assumed = map[string][]capacity.Assumed{"m": {{Components: assumed}}}
	if got, want := estimate(), int64(8*nodes-2*components); got != want {
		t.Errorf("%d replicas fit, want %d", got, want)
	}
	if calls-alone > 2*components {
		t.Errorf("filters are asked %d times about %d assumed pods, want twice for each at most", calls-alone, components)
	}
}

// TestFilterFailsForAssumedPod: a filter that fails for an assumed pod ends no estimate. The pod and
// those after it take no room, unless it found a node before.
func TestFilterFailsForAssumedPod(t *testing.T) {
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	for _, tt := range []struct {
		label, node string
		want        int64
	}{{"fails-on", "n0", 16}, {"panics-on", "n0", 16}, {"fails-on", "n1", 16 - 3 - 4}, {"panics-on", "n1", 16 - 3 - 4}} {
		bad := zonedComponent(1, "3", 0)
		bad.Pod.Labels = map[string]string{tt.label: tt.node}
		n := Nodes{
			Snapshots: map[string]*framework.Snapshot{"m": zoned(t, 0, 0)}, Filter: []framework.Plugin{zoneOnly{new(int)}},
			Assumed: map[string][]capacity.Assumed{"m": {{Components: []capacity.Component{bad, zonedComponent(1, "4", 0)}}}},
		}
		one := zonedComponent(1, "1", 0)
		if e, err := n.Estimate(c, &capacity.Replica{Request: one.Request, Pod: one.Pod}); err != nil || e.Replicas != tt.want {
			t.Errorf("%s %s: Estimate = %d, %v; want %d", tt.label, tt.node, e.Replicas, err, tt.want)
		}
	}
}

// TestAssumedPodsAskedAboutAllNodes: estimates are the same if the filters judge all assumed pods on all
// nodes first.
func TestAssumedPodsAskedAboutAllNodes(t *testing.T) {
	beside := 0
	rapid.Check(t, func(t *rapid.T) {
		calls := 0
		zone := rapid.IntRange(0, 3)
		snapshot := zoned(t, rapid.SliceOfN(zone, 1, 9).Draw(t, "zones")...)
		component := rapid.Custom(func(t *rapid.T) capacity.Component {
			cpu := rapid.SampledFrom([]string{"1", "2500m", "3", "-1", "9"}).Draw(t, "cpu")
			return zonedComponent(rapid.Int64Range(0, 4).Draw(t, "replicas"), cpu, zone.Draw(t, "zone"))
		})
		components := rapid.SliceOfN(component, 1, 4)
		n := Nodes{Snapshots: map[string]*framework.Snapshot{"m": snapshot}, Filter: append(scheduling.Kubernetes137().Filter, zoneOnly{&calls})}
		var assumed []capacity.Assumed
		var judged [][]capacity.NodeComponent
		for range rapid.IntRange(0, 3).Draw(t, "workloads") {
			a := capacity.Assumed{Components: components.Draw(t, "assumed")}
			assumed = append(assumed, a)
			set, _ := n.onNodes(snapshot, a.Components)
			judged = append(judged, set)
		}
		n.Assumed = map[string][]capacity.Assumed{"m": assumed}
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
		set := []capacity.Component{zonedComponent(1, "1", zone.Draw(t, "zone")), zonedComponent(1, "500m", 0)}
		kinds, err := n.onNodes(snapshot, set)
		if err != nil {
			t.Fatal(err)
		}
		want := capacity.SetsOnNodes(snapshot, kinds, judged, capacity.MaxReplicas)
		if got, err := n.EstimateSets(c, set); err != nil || got.Replicas != want {
			t.Fatalf("EstimateSets = %d, %v; want %d", got.Replicas, err, want)
		}
		want = 0
		for i, room := range capacity.ReplicasOnNodes(snapshot, kinds[0].Pod, judged) {
			if kinds[0].May[i] {
				want += room
			}
		}
		got, err := n.Estimate(c, &capacity.Replica{Request: set[0].Request, Pod: set[0].Pod})
		if err != nil || got.Replicas != want {
			t.Fatalf("Estimate = %d, %v; want %d", got.Replicas, err, want)
		}
		if alone := capacity.SetsOnNodes(snapshot, kinds, nil, capacity.MaxReplicas); alone != capacity.SetsOnNodes(snapshot, kinds, judged, capacity.MaxReplicas) {
			beside++
		}
	})
	if beside == 0 {
		t.Error("no assumed workload took room")
	}
}

// TestAssumedWorkIsBounded: what Nodes does for assumed workloads has a bound in decisions, and each cluster
// has a share. Workloads beyond it take no room, and no decision fails.
func TestAssumedWorkIsBounded(t *testing.T) {
	const clusters, nodes = 3, 50
	zones := make([]int, nodes)
	zones[nodes-1] = 1 // all others reject the assumed pods
	n := Nodes{Snapshots: map[string]*framework.Snapshot{}, Assumed: map[string][]capacity.Assumed{}, Filter: []framework.Plugin{zoneOnly{new(int)}}}
	var list []*api.Cluster
	for i := range clusters {
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("m", i)}}
		n.Snapshots[c.Name] = zoned(t, zones...)
		list = append(list, c)
	}
	flying := []capacity.Assumed{{Components: []capacity.Component{zonedComponent(1, "3", 1), zonedComponent(1, "4", 1)}}}
	n.Assumed["m0"], n.Assumed["m2"] = flying, flying
	work := 2 * (nodes + stepsOfAssumed(&flying[0].Components[0]))
	one := zonedComponent(1, "1", 1)
	w := &Workload{Name: "a/b", Replicas: 1, Replica: &capacity.Replica{Request: one.Request, Pod: one.Pod}, Placement: Placement{
		ReplicaScheduling: &ReplicaScheduling{ReplicaSchedulingType: TypeDivided, ReplicaDivisionPreference: PreferAggregated},
	}}
	for name, estimator := range map[string]func() capacity.ClusterEstimator{
		"a value":            func() capacity.ClusterEstimator { return n },
		"a pointer":          func() capacity.ClusterEstimator { return &n },
		"one that remembers": func() capacity.ClusterEstimator { return remembering([]capacity.ClusterEstimator{n})[0] },
	} {
		for _, tt := range []struct {
			most, taken int64
			want        [clusters]int64 // CPUs left in zone 1
		}{
			{maxWork, 2 * work, [clusters]int64{1, 8, 1}},
			{3 * work, 2 * work, [clusters]int64{1, 8, 1}},
			{3*work - 30, 2*work - 10, [clusters]int64{5, 8, 1}}, // what m1 leaves comes to m2
			{10, 10, [clusters]int64{8, 8, 8}},
		} {
			common, x := &shared{budget: budget{most: maxWork}, assumed: budget{most: tt.most}}, &Explanation{}
			_, err := Scheduler{Estimators: []capacity.ClusterEstimator{estimator()}}.decideWith(list, w, x, common)
			if err != nil {
				t.Fatal(err)
			}
			var got, explained [clusters]int64
			for i := range x.Clusters {
				got[i], explained[i] = x.Clusters[i].Available, x.Clusters[i].Estimates[0].Replicas
			}
			if got != tt.want || explained != tt.want || common.assumed.taken != tt.taken {
				t.Errorf("%s, %d steps: %d and %d replicas fit, in %d steps; want %d in %d", name, tt.most, got, explained, common.assumed.taken, tt.want, tt.taken)
			}
		}
	}
}

package multicluster_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// TestPlaceKeepsToOneAffinity: of several affinities one has all replicas, also if its clusters take fewer than
// they were expected to. Here a host port lets each node take one.
func TestPlaceKeepsToOneAffinity(t *testing.T) {
	for _, strategy := range []*multicluster.ReplicaScheduling{dynamic(), {ReplicaDivisionPreference: multicluster.PreferAggregated}} {
		for nodes, want := range map[int]string{6: "[{b 4}]", 3: "[{b 3}]", 1: "[{a 2}]"} {
			a := withNodes(t, "a", api.MakeNode("", "40", "160Gi"), api.MakeNode("", "20", "160Gi"))
			var list []api.NodeBuilder
			for range nodes {
				list = append(list, api.MakeNode("", "60", "160Gi"))
			}
			b := withNodes(t, "b", list...)
			pod := api.MakePod("").Requests("1", "1Gi").HostPort(80).Obj()
			p, err := federation(t, multicluster.Scheduler{}, b, a).Place(&multicluster.Workload{
				Name: "default/web", Replicas: 4, Replica: &capacity.Replica{Pod: pod, Request: capacity.ReplicaOf(pod).Request},
				Placement: multicluster.Placement{ReplicaScheduling: strategy, ClusterAffinities: []multicluster.ClusterAffinityTerm{
					{AffinityName: "A", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"a"}}},
					{AffinityName: "B", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"b"}}},
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(p.Targets); got != want || p.Unplaced != 4-int64(len(p.Pods)) {
				t.Errorf("%s, %d nodes in b: %s, %d pods, %d unplaced; want %s", strategy.ReplicaDivisionPreference, nodes, got, len(p.Pods), p.Unplaced, want)
			}
			held := 0
			for _, m := range []multicluster.Member{a, b} {
				for _, n := range m.Snapshot.All() {
					held += len(n.Pods)
				}
			}
			if held != len(p.Pods) {
				t.Errorf("%s, %d nodes in b: the nodes have %d pods, want %d", strategy.ReplicaDivisionPreference, nodes, held, len(p.Pods))
			}
		}
	}
}

// TestPlaceOfNone: a workload that is scaled to no replicas leaves every cluster.
func TestPlaceOfNone(t *testing.T) {
	for _, replicas := range []int64{2, 1, 0} {
		m := withNodes(t, "m", api.MakeNode("", "8", "64Gi"))
		w := &multicluster.Workload{
			Name: "x/p", Replicas: replicas, Clusters: []multicluster.Target{{Name: "gone", Replicas: 1}, {Name: "m", Replicas: 3}},
			Replica: capacity.ReplicaOf(api.MakePod("p").Requests("1", "1Gi").Obj()), Placement: multicluster.Placement{ReplicaScheduling: dynamic()},
		}
		p, err := federation(t, multicluster.Scheduler{}, m).Place(w)
		if want := fmt.Sprintf("[{gone 1} {m %d}]", 3-replicas); err != nil || fmt.Sprint(p.Removed) != want {
			t.Errorf("%d replicas: removed %+v, %v; want %s", replicas, p, err, want)
		}
	}
}

// TestPlaceAgain: a workload that is placed again, with where it is, stays there, although clusters are expected
// to take more than they do.
func TestPlaceAgain(t *testing.T) {
	pod := api.MakePod("web").Requests("1", "1Gi").HostPort(80).Obj()
	overflow := []multicluster.ClusterAffinityTerm{{
		AffinityName: "own", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"a"}},
		OverflowAffinities: []multicluster.OverflowClusterAffinity{{AffinityName: "cloud", ClusterAffinity: multicluster.ClusterAffinity{ClusterNames: []string{"b"}}}},
	}}
	for name, placement := range map[string]multicluster.Placement{
		"dynamic":    {ReplicaScheduling: dynamic()},
		"aggregated": {ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}},
		"static":     {ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferWeighted}},
		"overflow":   {ReplicaScheduling: dynamic(), ClusterAffinities: overflow},
	} {
		a := withNodes(t, "a", api.MakeNode("", "8", "64Gi"))
		b := withNodes(t, "b", api.MakeNode("", "8", "64Gi"), api.MakeNode("", "8", "64Gi"), api.MakeNode("", "8", "64Gi"))
		w := &multicluster.Workload{Name: "default/web", Replicas: 4, Replica: capacity.ReplicaOf(pod), Placement: placement}
		f := federation(t, multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{capacity.General{}}}, b, a)
		for i := range 3 {
			p, err := f.Place(w)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(p.Targets); got != "[{a 1} {b 3}]" || p.Unplaced > 0 || len(p.Removed) > 0 || (len(p.Pods) > 0) != (i == 0) {
				t.Errorf("%s, call %d: %s, %d pods, removed %v, %d unplaced", name, i, got, len(p.Pods), p.Removed, p.Unplaced)
			}
			w.Clusters = p.Targets
		}
		w.Placement = multicluster.Placement{ReplicaScheduling: placement.ReplicaScheduling, ClusterAffinity: &multicluster.ClusterAffinity{ClusterNames: []string{"a"}}}
		p, err := f.Place(w)
		if err != nil || fmt.Sprint(p.Removed) != "[{b 3}]" || p.Unplaced != 3 {
			t.Errorf("%s, b is not selected any more: %+v, %v", name, p, err)
		}
	}
}

// TestPlaceSetsAgain: a workload of components that has filled its cluster stays there.
func TestPlaceSetsAgain(t *testing.T) {
	part := func(name string, replicas int64) capacity.Component {
		return capacity.ComponentOf(name, replicas, api.MakePod("").Requests("1", "1Gi").Obj())
	}
	a, b := withNodes(t, "a", api.MakeNode("", "4", "64Gi")), withNodes(t, "b", api.MakeNode("", "4", "64Gi"))
	w := &multicluster.Workload{
		Name: "default/job", Components: []capacity.Component{part("lead", 1), part("worker", 3)},
		Placement: multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}, SpreadConstraints: []multicluster.SpreadConstraint{{SpreadByField: multicluster.SpreadByCluster, MinGroups: 1, MaxGroups: 1}}},
	}
	f := federation(t, multicluster.Scheduler{}, a, b)
	first := ""
	for i := range 3 {
		p, err := f.Place(w)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = fmt.Sprint(p.Targets)
		}
		if got := fmt.Sprint(p.Targets); got != first || len(p.Targets) != 1 || p.Unplaced > 0 || len(p.Removed) > 0 {
			t.Errorf("call %d: %s, removed %v, %d unplaced; want %s", i, got, p.Removed, p.Unplaced, first)
		}
		w.Clusters = p.Targets
	}
}

//go:build full

package multicluster_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

func job(managers, workers int64) []capacity.Component {
	return []capacity.Component{
		{Name: "manager", Replicas: managers, Request: resource.List{resource.CPU: resource.MustParse("1")}},
		{Name: "worker", Replicas: workers, Pod: api.MakePod("").Requests("1", "1Gi").HostPort(80).Obj()},
	}
}

func aggregatedOn(most int) multicluster.Placement {
	return multicluster.Placement{
		ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated},
		SpreadConstraints: []multicluster.SpreadConstraint{constraint("cluster", 1, most)},
	}
}

// A set goes to a cluster as a whole. The port keeps workers off each other's nodes,
// which estimates do not see.
func TestFederationPlacesSets(t *testing.T) {
	members := func() []multicluster.Member {
		return []multicluster.Member{
			withNodes(t, "a", api.MakeNode("", "16", "64Gi")),
			withNodes(t, "b", api.MakeNode("", "2", "8Gi"), api.MakeNode("", "2", "8Gi")),
			withNodes(t, "c", api.MakeNode("", "1", "8Gi"), api.MakeNode("", "2", "8Gi"), api.MakeNode("", "4", "8Gi")),
		}
	}
	all := multicluster.Placement{}
	for _, c := range []struct {
		name      string
		set       []capacity.Component
		placement multicluster.Placement
		has       []multicluster.Target
		want      []multicluster.Target
		pods      []int64 // in a, b and c
		unplaced  int64
		removed   []multicluster.Target
	}{
		{"on one cluster", job(1, 1), aggregatedOn(1), nil, targets("a", 0), []int64{2, 0, 0}, 0, nil},
		{"on one cluster, the first cannot", job(1, 2), aggregatedOn(1), nil, targets("c", 0), []int64{0, 0, 3}, 0, nil},
		{"on none", job(1, 4), aggregatedOn(1), nil, []multicluster.Target{}, []int64{0, 0, 0}, 1, nil},
		{"wherever there is room", job(1, 2), all, nil, targets("b", 0, "c", 0), []int64{0, 3, 3}, 1, nil},
		{"where it is", job(1, 1), aggregatedOn(1), targets("a", 0), targets("a", 0), []int64{0, 0, 0}, 0, nil},
		{
			"elsewhere",
			job(1, 1),
			multicluster.Placement{ClusterAffinity: &multicluster.ClusterAffinity{ClusterNames: []string{"b"}}},
			targets("a", 0), targets("b", 0),
			[]int64{0, 2, 0},
			0, targets("a", 0),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ms := members()
			p, err := federation(t, multicluster.Scheduler{}, ms...).Place(&multicluster.Workload{
				Name: "x/job", Components: c.set, Placement: c.placement, Clusters: c.has,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Targets); diff != "" || p.Unplaced != c.unplaced {
				t.Errorf("%d unplaced, want %d; Targets differ (-want +got):\n%s", p.Unplaced, c.unplaced, diff)
			}
			if diff := cmp.Diff(c.removed, p.Removed); diff != "" {
				t.Errorf("Removed differs (-want +got):\n%s", diff)
			}
			checkPlaced(t, p, ms)
			for i, m := range ms {
				if podsIn(m) != c.pods[i] {
					t.Errorf("%d pods in %s, want %d", podsIn(m), m.Cluster.Name, c.pods[i])
				}
			}
		})
	}
}

func TestFederationReportsSets(t *testing.T) {
	a := withNodes(t, "a", api.MakeNode("", "8", "32Gi"))
	b := withNodes(t, "b", api.MakeNode("", "2", "8Gi"), api.MakeNode("", "2", "8Gi"))
	p, err := federation(t, multicluster.Scheduler{}, a, b).Place(&multicluster.Workload{
		Name: "x/job", Components: job(1, 2), Placement: aggregatedOn(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.Rounds {
		for _, s := range r.Shares {
			got = append(got, fmt.Sprint(s.Cluster, " ", s.Estimated, " ", s.Given, " ", s.Placed, " ", r.TakenBack, " ", s.Reason))
		}
	}
	for _, x := range p.Pods {
		got = append(got, fmt.Sprint(x.Component, " ", x.Name))
	}
	want := []string{
		"a 2 1 0 true component worker: 0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
		"b 1 1 1 false ",
		"manager job-manager-b-0",
		"worker job-worker-b-1",
		"worker job-worker-b-2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report differs (-want +got):\n%s", diff)
	}
}

// A set is placed if nodes have room, even if the cluster reports none. If there is
// no room, that is not an error.
func TestFederationPlacesSetsThatFit(t *testing.T) {
	for name, e := range map[string]capacity.ClusterEstimator{
		"nodes": nil, "Karmada118": capacity.General{}, "Karmada111": capacity.General{Rules: capacity.Karmada111}, "a pointer": &capacity.General{Rules: capacity.Karmada113},
	} {
		for workers, unplaced := range map[int64]int64{1: 0, 2: 0, 3: 1} {
			t.Run(fmt.Sprintf("%s, %d workers", name, workers), func(t *testing.T) {
				m := withNodes(t, "m", api.MakeNode("", "3", "64Gi"), api.MakeNode("", "3", "64Gi"), api.MakeNode("", "3", "64Gi"))
				m.Cluster.Spec.ResourceModels = capacity.DefaultModels()
				s := multicluster.Scheduler{}
				if e != nil {
					s.Estimators = []capacity.ClusterEstimator{e}
				}
				three := resource.List{resource.CPU: resource.MustParse("3")}
				p, err := federation(t, s, m).Place(&multicluster.Workload{
					Name: "x/job", Placement: aggregatedOn(1),
					Components: []capacity.Component{{Name: "manager", Replicas: 1, Request: three}, {Name: "worker", Replicas: workers, Request: three}},
				})
				if err != nil {
					t.Fatal(err)
				}
				pods := (1 + workers) * (1 - unplaced)
				if p.Unplaced != unplaced || podsIn(m) != pods || int64(len(p.Targets)) != 1-unplaced {
					t.Errorf("%d unplaced, %d pods, in %v, want %d unplaced, %d pods", p.Unplaced, podsIn(m), p.Targets, unplaced, pods)
				}
				if (p.Reason != "") != (unplaced > 0) {
					t.Errorf("Reason = %q", p.Reason)
				}
			})
		}
	}
}

// Each cluster gets a whole set or nothing. If only resources limit, the accurate
// estimate says whether a set fits.
func TestFederationSetProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []multicluster.Member
		for i := range rapid.IntRange(1, 4).Draw(t, "clusters") {
			var nodes []api.NodeBuilder
			for range rapid.IntRange(0, 3).Draw(t, "nodes") {
				nodes = append(nodes, api.MakeNode("", fmt.Sprint(rapid.IntRange(1, 6).Draw(t, "cpu")), "64Gi"))
			}
			members = append(members, withNodes(t, fmt.Sprint("m", i), nodes...))
		}
		pod := api.MakePod("p").Requests(fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "request")), "1Gi")
		if rapid.Bool().Draw(t, "with a port") {
			pod = pod.HostPort(80)
		}
		set := []capacity.Component{
			{Name: "x", Replicas: rapid.Int64Range(0, 3).Draw(t, "x"), Pod: pod.Obj()},
			{Name: "y", Replicas: rapid.Int64Range(0, 3).Draw(t, "y"), Request: resource.List{resource.CPU: resource.MustParse("1")}},
		}
		w := &multicluster.Workload{Name: "n/job", Components: set}
		if most := rapid.IntRange(0, 3).Draw(t, "most"); most > 0 {
			w.Placement = aggregatedOn(most)
		}
		p, err := federation(t, multicluster.Scheduler{}, members...).Place(w)
		if err != nil {
			for _, m := range members {
				if podsIn(m) != 0 {
					t.Fatalf("%v, and %d pods in %s", err, podsIn(m), m.Cluster.Name)
				}
			}
			return
		}
		checkPlaced(t, p, members)
		holds := map[string]bool{}
		for _, x := range p.Targets {
			holds[x.Name] = true
		}
		for _, m := range members {
			want := int64(0)
			if holds[m.Cluster.Name] {
				want = set[0].Replicas + set[1].Replicas
			}
			if podsIn(m) != want {
				t.Fatalf("%d pods in %s, want %d", podsIn(m), m.Cluster.Name, want)
			}
		}
	})
}

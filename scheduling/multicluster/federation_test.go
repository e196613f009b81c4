package multicluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// A tester is the part that *testing.T and *rapid.T share.
type tester interface {
	Helper()
	Fatal(...any)
}

// withNodes returns a member with nodes.
func withNodes(t tester, name string, nodes ...api.NodeBuilder) multicluster.Member {
	t.Helper()
	m := multicluster.Member{Cluster: clusterOf(name), Snapshot: framework.NewSnapshot(framework.Arrival)}
	for i, n := range nodes {
		if err := m.Snapshot.AddNode(n.Name(fmt.Sprintf("%s-n%d", name, i)).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func profile() scheduling.Profile {
	return scheduling.Profile{
		Name:   "test",
		Filter: []framework.Plugin{filter.NodeUnschedulable{}, filter.TaintToleration{}, filter.NodeAffinity{}, filter.NodePorts{}, filter.NodeResourcesFit{}},
		Score:  []scheduling.Weighted{{Plugin: emptiest{}}},
	}
}

// emptiest prefers nodes with few pods.
type emptiest struct{}

func (emptiest) Name() string { return "Emptiest" }

func (emptiest) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return max(0, 100-int64(len(n.Pods)))
}

func federation(t tester, s multicluster.Scheduler, members ...multicluster.Member) *multicluster.Federation {
	t.Helper()
	f, err := multicluster.NewFederation(s, profile(), members)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func podsIn(m multicluster.Member) int64 {
	n := 0
	for _, node := range m.Snapshot.All() {
		n += len(node.Pods)
	}
	return int64(n)
}

func TestFederationPlaces(t *testing.T) {
	a := withNodes(t, "a", api.MakeNode("", "4", "16Gi"), api.MakeNode("", "2", "16Gi"))
	b := withNodes(t, "b", api.MakeNode("", "6", "16Gi"))
	web := &multicluster.Workload{
		Name: "default/web", Replicas: 8, Replica: capacity.ReplicaOf(api.MakePod("").Requests("1", "1Gi").Obj()),
		Placement: multicluster.Placement{ReplicaScheduling: dynamic()},
	}
	p, err := federation(t, multicluster.Scheduler{}, b, a).Place(web)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(targets("a", 4, "b", 4), p.Targets); diff != "" || p.Unplaced != 0 {
		t.Errorf("Targets differ (-want +got), %d unplaced:\n%s", p.Unplaced, diff)
	}
	if podsIn(a) != 4 || podsIn(b) != 4 || len(p.Pods) != 8 {
		t.Errorf("%d and %d pods in the snapshots, %d reported", podsIn(a), podsIn(b), len(p.Pods))
	}
	if first := p.Pods[0]; first.Name != "web-a-0" || first.Cluster != "a" || first.Pod == nil {
		t.Errorf("first pod %+v", first)
	}
	// Two more, beside the eight that are there.
	web.Clusters, web.Replicas = p.Targets, 10
	if p, err = federation(t, multicluster.Scheduler{}, a, b).Place(web); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(targets("a", 5, "b", 5), p.Targets); diff != "" || podsIn(a) != 5 {
		t.Errorf("Targets differ (-want +got), %d pods in a:\n%s", podsIn(a), diff)
	}
	// Down to three: nothing is placed, and the report says which replicas must
	// leave.
	web.Clusters, web.Replicas = p.Targets, 3
	if p, err = federation(t, multicluster.Scheduler{}, a, b).Place(web); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(targets("a", 3, "b", 4), p.Removed); diff != "" || len(p.Pods) != 0 || podsIn(a) != 5 {
		t.Errorf("Removed differs (-want +got):\n%s", diff)
	}
}

// Replicas that take a host port exclude each other, which the estimate does not
// see. Replicas that do not fit are divided again, until no more fit.
func TestFederationDividesAgain(t *testing.T) {
	members := func() []multicluster.Member {
		return []multicluster.Member{
			withNodes(t, "a", api.MakeNode("", "8", "32Gi")),
			withNodes(t, "b", api.MakeNode("", "2", "8Gi"), api.MakeNode("", "2", "8Gi"), api.MakeNode("", "2", "8Gi")),
			withNodes(t, "c", api.MakeNode("", "1", "8Gi"), api.MakeNode("", "1", "8Gi")),
		}
	}
	port := capacity.ReplicaOf(api.MakePod("web").Requests("500m", "1Gi").HostPort(80).Obj())
	for _, c := range []struct {
		name       string
		scheduling *multicluster.ReplicaScheduling
		replicas   int64
		want       []multicluster.Target
		unplaced   int64
	}{
		{"dynamic, all fit in the end", dynamic(), 6, targets("a", 1, "b", 3, "c", 2), 0},
		{"dynamic, not all fit", dynamic(), 9, targets("a", 1, "b", 3, "c", 2), 3},
		{"aggregated", &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}, 5, targets("a", 1, "b", 3, "c", 1), 0},
		{"static", &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferWeighted}, 6, targets("a", 1, "b", 3, "c", 2), 0},
		{"duplicated", nil, 2, targets("a", 1, "b", 2, "c", 2), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ms := members()
			p, err := federation(t, multicluster.Scheduler{}, ms...).Place(&multicluster.Workload{
				Name: "default/web", Replicas: c.replicas, Replica: port, Placement: multicluster.Placement{ReplicaScheduling: c.scheduling},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Targets); diff != "" || p.Unplaced != c.unplaced {
				t.Errorf("%d unplaced, want %d; Targets differ (-want +got):\n%s", p.Unplaced, c.unplaced, diff)
			}
			for _, m := range ms {
				i := slices.IndexFunc(p.Targets, func(x multicluster.Target) bool { return x.Name == m.Cluster.Name })
				if podsIn(m) != p.Targets[i].Replicas {
					t.Errorf("%d pods in %s, want %d", podsIn(m), m.Cluster.Name, p.Targets[i].Replicas)
				}
			}
		})
	}
}

// Spread constraints hold for the final placement, and not only for each round. A
// cluster with less room than expected is given up if necessary.
func TestFederationKeepsSpreadConstraints(t *testing.T) {
	port := capacity.ReplicaOf(api.MakePod("web").Requests("500m", "1Gi").HostPort(80).Obj())
	aggregated := &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}
	for _, c := range []struct {
		name       string
		replicas   int64
		scheduling *multicluster.ReplicaScheduling
		most       int
		want       []multicluster.Target
		unplaced   int64
	}{
		// The first choice is a, which takes one of the three.
		{"another cluster takes all", 3, aggregated, 1, targets("b", 3), 0},
		{"another cluster takes more", 5, aggregated, 1, targets("b", 3), 2},
		{"two clusters", 9, aggregated, 2, targets("b", 3, "c", 2), 4},
		{"two clusters, by weight", 5, dynamic(), 2, targets("b", 3, "c", 2), 0},
		{"any number", 9, aggregated, 3, targets("a", 1, "b", 3, "c", 2), 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			ms := []multicluster.Member{
				withNodes(t, "a", api.MakeNode("", "8", "32Gi")),
				withNodes(t, "b", api.MakeNode("", "1", "8Gi"), api.MakeNode("", "1", "8Gi"), api.MakeNode("", "1", "8Gi")),
				withNodes(t, "c", api.MakeNode("", "1", "8Gi"), api.MakeNode("", "1", "8Gi")),
			}
			p, err := federation(t, multicluster.Scheduler{}, ms...).Place(&multicluster.Workload{
				Name: "default/web", Replicas: c.replicas, Replica: port, Placement: multicluster.Placement{
					ReplicaScheduling: c.scheduling, SpreadConstraints: []multicluster.SpreadConstraint{constraint("cluster", 1, c.most)},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Targets); diff != "" || p.Unplaced != c.unplaced {
				t.Errorf("%d unplaced, want %d; Targets differ (-want +got):\n%s", p.Unplaced, c.unplaced, diff)
			}
			checkPlaced(t, p, ms)
			for i, r := range p.Rounds {
				if r.TakenBack != (i < len(p.Rounds)-1) {
					t.Errorf("round %d: TakenBack = %v", i+1, r.TakenBack)
				}
			}
		})
	}
}

// checkPlaced compares the report with the snapshots.
func checkPlaced(t tester, p *multicluster.Placed, members []multicluster.Member) {
	t.Helper()
	reported := map[string]int64{}
	for _, x := range p.Pods {
		reported[x.Cluster]++
	}
	for _, m := range members {
		if podsIn(m) != reported[m.Cluster.Name] {
			t.Fatal(fmt.Sprintf("%d pods in %s, %d reported", podsIn(m), m.Cluster.Name, reported[m.Cluster.Name]))
		}
	}
}

// A new pod that stays while others leave keeps its name.
func TestFederationNames(t *testing.T) {
	a := withNodes(t, "a", api.MakeNode("", "8", "32Gi"))
	w := &multicluster.Workload{
		Name: "default/web", Replicas: 4, Replica: capacity.ReplicaOf(api.MakePod("").Requests("1", "1Gi").Obj()),
		Placement: multicluster.Placement{ReplicaScheduling: dynamic()},
	}
	f := federation(t, multicluster.Scheduler{}, a)
	p, err := f.Place(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range p.Pods[:2] {
		if err := a.Snapshot.RemovePod(gone.Pod, gone.Node); err != nil {
			t.Fatal(err)
		}
	}
	w.Clusters = targets("a", 2)
	if p, err = f.Place(w); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, n := range a.Snapshot.All() {
		for _, q := range n.Pods {
			names[q.Pod.Name] = true
		}
	}
	if len(p.Pods) != 2 || len(names) != 4 {
		t.Errorf("%d pods placed, names %v, want 2 and four names", len(p.Pods), names)
	}
}

func TestFederationReport(t *testing.T) {
	p, err := federation(
		t, multicluster.Scheduler{}, withNodes(t, "a", api.MakeNode("", "2", "8Gi")), withNodes(t, "b", api.MakeNode("", "1", "8Gi")),
	).Place(&multicluster.Workload{
		Name: "default/web", Replicas: 2, Replica: capacity.ReplicaOf(api.MakePod("").Requests("500m", "1Gi").HostPort(80).Obj()),
		Placement: multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Rounds {
		p.Rounds[i].Decision = nil
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"targets":[{"name":"a","replicas":1},{"name":"b","replicas":1}],"unplaced":0,"rounds":[` +
		`{"shares":[{"cluster":"a","estimated":4,"given":2,"placed":1,"reason":"0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."}]},` +
		`{"shares":[{"cluster":"b","estimated":2,"given":1,"placed":1}]}],` +
		`"pods":[{"cluster":"a","node":"a-n0","name":"web-a-0"},{"cluster":"b","node":"b-n0","name":"web-b-0"}]}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("JSON differs (-want +got):\n%s", diff)
	}
}

// broken fails for one node.
type broken struct{ node string }

func (broken) Name() string { return "Broken" }

func (b broken) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if n.Name() == b.node && len(n.Pods) > 0 {
		return framework.AsStatus(errors.New("oh"))
	}
	return framework.Status{}
}

func TestFederationErrors(t *testing.T) {
	a, b := withNodes(t, "a", api.MakeNode("", "2", "8Gi")), withNodes(t, "b", api.MakeNode("", "2", "8Gi"))
	for _, c := range []struct {
		name    string
		members []multicluster.Member
		want    string
	}{
		{"no snapshot", []multicluster.Member{{Cluster: clusterOf("a")}}, `cluster a: snapshot: "null": is nil`},
		{"shared", []multicluster.Member{a, {Cluster: clusterOf("c"), Snapshot: a.Snapshot}}, `cluster c: snapshot: "of cluster a": belongs to another cluster too`},
		{"nil", []multicluster.Member{{}}, `cluster 0 of the list: "null": is nil`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := multicluster.NewFederation(multicluster.Scheduler{}, profile(), c.members); fmt.Sprint(err) != c.want {
				t.Errorf("NewFederation: %v, want %s", err, c.want)
			}
		})
	}
	f := federation(t, multicluster.Scheduler{}, a, b)
	if _, err := f.Place(nil); fmt.Sprint(err) != `workload: "null": is nil` {
		t.Errorf("Place(nil): %v", err)
	}
	many := &multicluster.Workload{
		Name: "x/y", Replicas: 9, Replica: capacity.ReplicaOf(api.MakePod("").Requests("1", "").Obj()), Placement: multicluster.Placement{ReplicaScheduling: dynamic()},
	}
	// A plugin that fails in the middle takes everything back.
	p := profile()
	p.Filter = append(p.Filter, broken{"b-n0"})
	f, err := multicluster.NewFederation(multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{capacity.General{}}}, p, []multicluster.Member{a, b})
	if err != nil {
		t.Fatal(err)
	}
	many.Replicas = 4
	if _, err := f.Place(many); err == nil || podsIn(a) != 0 || podsIn(b) != 0 {
		t.Errorf("Place with a broken plugin: %v, %d and %d pods", err, podsIn(a), podsIn(b))
	}
}

// Every replica reported as placed is in the snapshots. Nothing is given out beyond
// the request, and unplaced replicas fit nowhere.
func TestFederationProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []multicluster.Member
		for i := range rapid.IntRange(1, 4).Draw(t, "clusters") {
			var nodes []api.NodeBuilder
			for range rapid.IntRange(0, 4).Draw(t, "nodes") {
				nodes = append(nodes, api.MakeNode("", fmt.Sprint(rapid.IntRange(1, 6).Draw(t, "cpu")), "64Gi"))
			}
			m := withNodes(t, fmt.Sprint("m", i), nodes...)
			if rapid.Bool().Draw(t, "models") {
				m.Cluster.Spec.ResourceModels = capacity.DefaultModels()
			}
			members = append(members, m)
		}
		pod := api.MakePod("p").Requests(fmt.Sprint(rapid.IntRange(1, 2).Draw(t, "request")), "1Gi")
		if rapid.Bool().Draw(t, "with a port") {
			pod = pod.HostPort(80)
		}
		w := &multicluster.Workload{Name: "x/p", Replicas: rapid.Int64Range(1, 20).Draw(t, "replicas"), Replica: capacity.ReplicaOf(pod.Obj())}
		w.Placement.ReplicaScheduling = rapid.SampledFrom([]*multicluster.ReplicaScheduling{
			dynamic(),
			{ReplicaDivisionPreference: multicluster.PreferAggregated},
			{ReplicaDivisionPreference: multicluster.PreferWeighted},
		}).Draw(t, "scheduling")
		most := rapid.IntRange(0, 4).Draw(t, "most clusters")
		if most > 0 {
			w.Placement.SpreadConstraints = []multicluster.SpreadConstraint{constraint("cluster", 1, most)}
		}
		estimators := rapid.SampledFrom([][]capacity.ClusterEstimator{
			nil, {capacity.General{}}, {&capacity.General{Rules: capacity.Karmada113}}, {capacity.General{Rules: capacity.Karmada111}}, {capacity.General{IgnoreModels: true}},
		}).Draw(t, "estimators")
		f := federation(t, multicluster.Scheduler{Estimators: estimators}, members...)
		p, err := f.Place(w)
		if err != nil {
			t.Fatal(err)
		}
		checkPlaced(t, p, members)
		constrained := most > 0 && w.Placement.ReplicaScheduling.ReplicaDivisionPreference == multicluster.PreferAggregated ||
			most > 0 && w.Placement.ReplicaScheduling.WeightPreference != nil
		if constrained && len(p.Targets) > most {
			t.Fatalf("%v are more than %d clusters", p.Targets, most)
		}
		var sum int64
		for _, x := range p.Targets {
			sum += x.Replicas
		}
		if sum+p.Unplaced != w.Replicas || int64(len(p.Pods)) != sum {
			t.Fatalf("%d in targets, %d pods, %d unplaced, want %d", sum, len(p.Pods), p.Unplaced, w.Replicas)
		}
		for _, m := range members {
			sum -= podsIn(m)
			s, err := scheduling.New(profile())
			if err != nil {
				t.Fatal(err)
			}
			info, err := m.Snapshot.NewPodInfo(pod.Obj())
			if err != nil {
				t.Fatal(err)
			}
			full := !constrained || slices.ContainsFunc(p.Targets, func(x multicluster.Target) bool { return x.Name == m.Cluster.Name })
			if _, err := s.Schedule(m.Snapshot, info); err == nil && p.Unplaced > 0 && full {
				t.Fatalf("%d unplaced, but %s has room", p.Unplaced, m.Cluster.Name)
			}
		}
		if sum != 0 {
			t.Fatalf("the snapshots hold %d pods less than reported", sum)
		}
	})
}

// If only resources limit, the accurate estimate is the number that can be placed.
func TestNodesIsWhatCanBePlaced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []api.NodeBuilder
		for range rapid.IntRange(0, 4).Draw(t, "nodes") {
			n := api.MakeNode("", fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "cpu")), fmt.Sprintf("%dGi", rapid.IntRange(1, 9).Draw(t, "memory")))
			if rapid.Bool().Draw(t, "tainted") {
				n = n.Taint("k:NoSchedule")
			}
			nodes = append(nodes, n)
		}
		m := withNodes(t, "m", nodes...)
		pod := api.MakePod("p").Requests(fmt.Sprintf("%dm", rapid.IntRange(200, 3000).Draw(t, "request")), "1Gi").Obj()
		e := multicluster.Nodes{Snapshots: map[string]*framework.Snapshot{"m": m.Snapshot}, Filter: profile().Filter}
		got, err := e.Estimate(m.Cluster, capacity.ReplicaOf(pod))
		if err != nil {
			t.Fatal(err)
		}
		s, err := scheduling.New(profile())
		if err != nil {
			t.Fatal(err)
		}
		placed := int64(0)
		for {
			info, err := m.Snapshot.NewPodInfo(pod)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Place(m.Snapshot, info); err != nil {
				break
			}
			placed++
		}
		if got.Replicas != placed {
			t.Fatalf("Estimate = %d, %d could be placed", got.Replicas, placed)
		}
	})
}

func TestNodesHasNoOpinion(t *testing.T) {
	got, err := multicluster.Nodes{}.Estimate(clusterOf("m"), nil)
	if want := (capacity.Estimate{NoOpinion: true}); err != nil || got != want {
		t.Errorf("Estimate = %v, %v, want no opinion", got, err)
	}
}

func TestNodesExplains(t *testing.T) {
	m := withNodes(t, "m", api.MakeNode("", "4", "16Gi"), api.MakeNode("", "4", "16Gi").Unschedulable())
	e := multicluster.Nodes{Snapshots: map[string]*framework.Snapshot{"m": m.Snapshot}, Filter: profile().Filter}
	r, err := e.Explain(m.Cluster, &capacity.Replica{Request: api.PodRequests(api.MakePod("").Requests("1500m", "1Gi").Obj(), api.RequestOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	want := []capacity.NodeReport{
		{Node: "m-n0", Replicas: 2, Limit: "cpu"},
		{Node: "m-n1", Plugin: "NodeUnschedulable", Reasons: []string{"node(s) were unschedulable"}},
	}
	if diff := cmp.Diff(want, r.Nodes); diff != "" || r.Replicas != 2 || r.FreePods != 220 {
		t.Errorf("report %+v; nodes differ (-want +got):\n%s", r, diff)
	}
}

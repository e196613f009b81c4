//go:build full

package multicluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// fullClusters are n clusters that count their nodes by grade and have no room for a pod, so
// that to ask about them is quick.
func fullClusters(n, nodes int) []*api.Cluster {
	var list []*api.Cluster
	for i := range n {
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("m%04d", i)}}
		c.Spec.ResourceModels = capacity.DefaultModels()
		c.Status.ResourceSummary = &api.ResourceSummary{AllocatableModelings: []api.AllocatableModeling{{Grade: 6, Count: nodes / 2}, {Grade: 7, Count: nodes - nodes/2}}}
		list = append(list, c)
	}
	return list
}

func differentComponents(n int) []capacity.Component {
	var list []capacity.Component
	for i := range int64(n) {
		list = append(list, capacity.Component{Replicas: 1, Request: resource.List{resource.CPU: resource.Milli(1 + i)}})
	}
	return list
}

// checkTooManySets reports an error that is not about the components.
func checkTooManySets(t *testing.T, err error, value string) {
	t.Helper()
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || invalid.Object != "workload a/b" || invalid.Field != "spec.components" || invalid.Value != value {
		t.Errorf("%v, want an error about the workload's components: %s", err, value)
	}
}

// TestNodeWorkIsBounded: what asking nodes about a pod costs counts, and with it how much its node
// affinity has to be compared.
func TestNodeWorkIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	snap := framework.NewSnapshot(framework.Arrival)
	for i := range 100 {
		if err := snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "8", "32Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	nodes := Nodes{Snapshots: map[string]*framework.Snapshot{}, Filter: []framework.Plugin{filter.NodeAffinity{}}}
	clusters := fullClusters(100, 0)
	for _, c := range clusters {
		nodes.Snapshots[c.Name] = snap
	}
	pod := func(terms int) *api.Pod {
		p := api.MakePod("p").Requests("1m", "1Mi").Obj()
		r := &api.NodeSelector{}
		for i := range terms {
			r.NodeSelectorTerms = append(r.NodeSelectorTerms, api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{{Key: "k", Operator: api.NodeSelectorOpIn, Values: []string{fmt.Sprint(i)}}}})
		}
		if terms > 0 {
			p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: r}}
		}
		return p
	}
	divided := Placement{ReplicaScheduling: &ReplicaScheduling{ReplicaSchedulingType: TypeDivided, ReplicaDivisionPreference: PreferAggregated}}
	for _, tt := range []struct {
		name    string
		terms   int
		set     bool
		place   Placement
		refused string
	}{
		{"a usual pod", 0, false, divided, ""},
		{"hundreds of terms", 300, false, divided, ""},
		{"thousands of terms", 20_000, false, divided, "spec.replicaRequirements.nodeClaim"},
		{"in a set", 20_000, true, Placement{}, "spec.components[0].replicaRequirements.nodeClaim"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pod(tt.terms)
			w := &Workload{Name: "a/b", Replicas: 1, Replica: capacity.ReplicaOf(p), Placement: tt.place}
			if tt.set {
				w.Replicas, w.Replica, w.Components = 0, nil, []capacity.Component{capacity.ComponentOf("c", 1, p)}
			}
			_, err := Scheduler{Estimators: []capacity.ClusterEstimator{nodes}}.Schedule(clusters, w)
			var invalid *api.InvalidError
			switch {
			case tt.refused == "" && isTooMuchWork(err):
				t.Error(err)
			case tt.refused != "" && (!errors.As(err, &invalid) || invalid.Field != tt.refused || !isTooMuchWork(err)):
				t.Errorf("%v, want an error about %s", err, tt.refused)
			}
		})
	}
}

// TestTooManyStepsNamesTheCause: an error about steps names the workload, what takes most of them, and how
// much that is. Its text is short.
func TestTooManyStepsNamesTheCause(t *testing.T) {
	values := func(n int) *api.Pod {
		r := api.NodeSelectorRequirement{Key: "k", Operator: api.NodeSelectorOpIn}
		for i := range n {
			r.Values = append(r.Values, strings.Repeat("v", 50)+fmt.Sprint(i))
		}
		p := api.MakePod("p").Obj()
		p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{
			NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{r}}},
		}}}
		return p
	}
	component := func(values *api.Pod) capacity.Component { return capacity.ComponentOf("c", 1, values) }
	for _, tt := range []struct {
		name         string
		workload     Workload
		estimator    capacity.ClusterEstimator
		field, value string
		err          error
	}{
		{"a component with a long affinity", Workload{Components: []capacity.Component{component(nil), component(values(40_000))}}, Nodes{}, "spec.components[1].replicaRequirements.nodeClaim", "40002 labels, terms, expressions and values: 30 steps, more than 20", errTooManyParts},
		{"one that is remembered", Workload{Components: []capacity.Component{component(values(40_000))}}, remembering([]capacity.ClusterEstimator{&Nodes{}})[0], "spec.components[0].replicaRequirements.nodeClaim", "40002 labels, terms, expressions and values: 30 steps, more than 20", errTooManyParts},
		{"a replica with a long affinity", Workload{Replica: capacity.ReplicaOf(values(40_000))}, &Nodes{}, "spec.replicaRequirements.nodeClaim", "40002 labels, terms, expressions and values: 30 steps, more than 20", errTooManyParts},
		{"components with short ones", Workload{Components: []capacity.Component{component(values(70)), component(values(70))}}, Nodes{}, "spec.components", "2 components: 30 steps, more than 20", errTooManySets},
		{"an estimator that reads no affinity", Workload{Components: []capacity.Component{component(values(40_000))}}, capacity.General{}, "spec.components", "1 component: 30 steps, more than 20", errTooManySets},
		{"a replica without", Workload{Replica: &capacity.Replica{}}, Nodes{}, "spec.placement", "to ask nodes about replicas: 30 steps, more than 20", errTooManyNodes},
		{"no replica", Workload{}, Nodes{}, "spec.placement", "to ask nodes about replicas: 30 steps, more than 20", errTooManyNodes},
	} {
		w := &tt.workload
		w.Name = strings.Repeat("n", 100_000)
		err := ofWorkload(w, w.tooManySteps(asksNodes(tt.estimator), &budget{30, 20}))
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || invalid.Object != "workload "+w.Name || invalid.Field != tt.field || invalid.Value != tt.value || !errors.Is(err, tt.err) || !isTooMuchWork(err) {
			t.Errorf("%s: %.300v, want an error about %s: %s", tt.name, err, tt.field, tt.value)
		}
		if n := len(err.Error()); n > 1000 {
			t.Errorf("%s: a text of %d bytes", tt.name, n)
		}
	}
}

// TestSetWorkIsBounded: a decision for which estimators would place too many components on too many
// nodes is refused. One for usual workloads, or for fewer clusters, is not.
func TestSetWorkIsBounded(t *testing.T) {
	first := ClusterAffinity{ClusterNames: []string{"m0000", "m0001"}}
	for name, tt := range map[string]struct {
		scheduler  Scheduler
		clusters   []*api.Cluster
		components int
		placement  Placement
		refused    string
	}{
		"many components":                 {Scheduler{}, fullClusters(200, 5000), 1000, Placement{}, "1000 components: 20032000 steps, more than 20000000"},
		"of an estimator by pointer":      {Scheduler{Estimators: []capacity.ClusterEstimator{&capacity.General{}}}, fullClusters(200, 5000), 1000, Placement{}, "1000 components: 20032000 steps, more than 20000000"},
		"for one of several affinities":   {Scheduler{}, fullClusters(200, 5000), 1000, Placement{ClusterAffinities: []ClusterAffinityTerm{{AffinityName: "a"}, {AffinityName: "b", ClusterAffinity: first}}}, "1000 components: 20044400 steps, more than 20000000"},
		"fewer components":                {Scheduler{}, fullClusters(200, 5000), 300, Placement{}, ""},
		"a usual workload":                {Scheduler{}, fullClusters(500, 5000), 10, Placement{}, ""},
		"fewer clusters":                  {Scheduler{}, fullClusters(100, 5000), 1000, Placement{}, ""},
		"few clusters that are selected":  {Scheduler{}, fullClusters(1000, 5000), 1000, Placement{ClusterAffinity: &first}, ""},
		"an estimator by sums":            {Scheduler{Estimators: []capacity.ClusterEstimator{capacity.General{IgnoreModels: true}}}, fullClusters(200, 5000), 1000, Placement{}, ""},
		"some absurd clusters":            {Scheduler{}, fullClusters(5, 1<<40), 1000, Placement{}, ""},
		"as many nodes, in many clusters": {Scheduler{}, fullClusters(1000, 1000), 1000, Placement{}, "1000 components: 20002000 steps, more than 20000000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tt.scheduler.Schedule(tt.clusters, &Workload{Name: "a/b", Components: differentComponents(tt.components), Placement: tt.placement})
			if tt.refused != "" {
				checkTooManySets(t, err, tt.refused)
			} else if isTooMuchWork(err) {
				t.Error(err)
			}
		})
	}
}

// federationOf returns a federation of n clusters of a node, for nine pods of a CPU.
func federationOf(t *testing.T, n int) *Federation {
	t.Helper()
	var members []Member
	for i := range n {
		m := Member{Cluster: &api.Cluster{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("m", i)}}, Snapshot: framework.NewSnapshot(framework.Arrival)}
		m.Cluster.Spec.ResourceModels = capacity.DefaultModels()
		if err := m.Snapshot.AddNode(api.MakeNode("n", "9", "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		members = append(members, m)
	}
	f, err := NewFederation(Scheduler{}, scheduling.Profile{
		Name: "test", Filter: []framework.Plugin{filter.NodePorts{}, filter.NodeResourcesFit{}},
		Score: []scheduling.Weighted{{Plugin: indifferent{}}},
	}, members)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPlaceCountsSets: Federation.Place counts what it asks nodes about, once unless they have
// changed. Beyond its bound nothing is placed.
func TestPlaceCountsSets(t *testing.T) {
	const clusters = 8
	// Each of the first rounds finds out that a port fills a cluster.
	pod := api.MakePod("p").Requests("1", "1Gi").HostPort(80).Obj()
	w := &Workload{Name: "a/b", Components: []capacity.Component{{Replicas: 1, Pod: pod}, {Replicas: 1, Pod: pod}}}
	w.Placement.SpreadConstraints = []SpreadConstraint{{SpreadByField: SpreadByCluster, MinGroups: 1, MaxGroups: 1}}
	once := int64(clusters * len(w.Components) * stepsOfJudgement)
	run := func(most int64) (*placing, error) {
		p := newPlacing(federationOf(t, clusters), w)
		p.work.most = most
		marks := p.begin()
		err := p.run()
		p.end(marks, err == nil)
		return p, err
	}
	p, err := run(maxPlaceWork)
	if err != nil || len(p.out.Rounds) != clusters+1 {
		t.Fatalf("%d rounds, %v, want one for each of %d clusters, and that of no other choice", len(p.out.Rounds), err, clusters)
	}
	rounds := (clusters + 4) * w.steps(clusters)
	if got := p.work.taken; got < once+rounds/2 || got > 2*once+rounds { // some clusters are asked again
		t.Errorf("%d steps, want %d and up to %d for the rounds", got, once, rounds)
	}
	_, err = run(w.steps(clusters) + once - 1)
	checkTooManySets(t, err, fmt.Sprintf("2 components: %d steps, more than %d", w.steps(clusters)+once, w.steps(clusters)+once-1))
	if p, err = run(w.steps(clusters) + once); !errors.Is(err, errTooMuchWork) {
		t.Errorf("the second round: %v, want an error about steps", err)
	}
	for _, m := range p.federation.members {
		if n := len(m.Snapshot.At(0).Pods); n > 0 {
			t.Errorf("%d pods are left on cluster %s", n, m.Cluster.Name)
		}
	}
}

// TestAssumedPodsThatCannotBeJudged: a workload in flight about whose pod the filters cannot decide
// takes no room, and keeps nobody else from an estimate.
func TestAssumedPodsThatCannotBeJudged(t *testing.T) {
	snap := framework.NewSnapshot(framework.Arrival)
	if err := snap.AddNode(api.MakeNode("n", "8", "32Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	profile := scheduling.Kubernetes137()
	negative := api.MakePod("p").Requests("-1", "1Mi").Obj()
	component := func(cpu string) capacity.Component {
		return capacity.ComponentOf("c", 1, api.MakePod("q").Requests(cpu, "1Mi").Obj())
	}
	for _, tt := range []struct {
		name    string
		assumed []capacity.Component
		want    int64
	}{
		{"nothing", nil, 8},
		{"a pod that requests less than nothing", []capacity.Component{capacity.ComponentOf("c", 1, negative)}, 8},
		{"such a pod after another", []capacity.Component{component("3"), capacity.ComponentOf("c", 1, negative)}, 5},
		{"and before another", []capacity.Component{capacity.ComponentOf("c", 1, negative), component("3")}, 8},
	} {
		n := Nodes{Snapshots: map[string]*framework.Snapshot{"c": snap}, Filter: profile.Filter}
		if tt.assumed != nil {
			n.Assumed = map[string][]capacity.Assumed{"c": {{Components: tt.assumed}}}
		}
		c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "c"}}
		one := component("1")
		e, err := n.Estimate(c, &capacity.Replica{Request: one.Request, Pod: one.Pod})
		if err != nil || e.Replicas != tt.want {
			t.Errorf("%s: %d replicas fit, %v; want %d", tt.name, e.Replicas, err, tt.want)
		}
		s, err := n.EstimateSets(c, []capacity.Component{one})
		if err != nil || s.Replicas != tt.want {
			t.Errorf("%s: %d sets fit, %v; want %d", tt.name, s.Replicas, err, tt.want)
		}
	}
}

// TestPlaceBoundsAssumedWork: all rounds of a placing share the bound.
func TestPlaceBoundsAssumedWork(t *testing.T) {
	pod := api.MakePod("p").Requests("1", "1Gi").HostPort(80).Obj() // each round finds a full cluster
	f := federationOf(t, 8)
	flying := []capacity.Assumed{{Components: []capacity.Component{zonedComponent(1, "1", 0)}}}
	f.nodes.Assumed = map[string][]capacity.Assumed{}
	for _, m := range f.members {
		f.nodes.Assumed[m.Cluster.Name] = flying
	}
	f.scheduler.Estimators = []capacity.ClusterEstimator{f.nodes}
	w := &Workload{Name: "a/b", Replicas: 64, Replica: capacity.ReplicaOf(pod), Placement: Placement{
		ReplicaScheduling: &ReplicaScheduling{ReplicaSchedulingType: TypeDivided, ReplicaDivisionPreference: PreferAggregated},
	}}
	once := 8 * (stepsOfAssumed(&flying[0].Components[0]) + 1)
	for _, most := range []int64{maxPlaceWork, once, 5} {
		p := newPlacing(f, w)
		p.assumed.most = most
		marks := p.begin()
		err := p.run()
		p.end(marks, false)
		if err != nil || len(p.out.Pods) != 8 {
			t.Errorf("%d steps: %d pods, %v; want one on each cluster", most, len(p.out.Pods), err)
		}
		if got := p.assumed.taken; got > most || got <= once && most > once {
			t.Errorf("%d steps, want more than the %d of a round and up to %d", got, once, most)
		}
	}
}

// TestPlaceBoundsPods: rounds that are taken back count, too.
func TestPlaceBoundsPods(t *testing.T) {
	w := &Workload{Name: "a/b", Replicas: 8, Replica: capacity.ReplicaOf(api.MakePod("p").Requests("1", "1Gi").Obj()), Placement: Placement{
		ReplicaScheduling: &ReplicaScheduling{ReplicaSchedulingType: TypeDivided, ReplicaDivisionPreference: PreferAggregated},
	}}
	for _, test := range []struct {
		left int
		want string
	}{
		{8, ""},
		{7, `workload a/b: spec.replicas: "8": more than 1000000 replicas would be placed`},
	} {
		f := federationOf(t, 8)
		p := newPlacing(f, w)
		p.placed = maxPlaced - test.left
		marks := p.begin()
		err := p.run()
		p.end(marks, false)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("error %v with %d left, want %q", err, test.left, test.want)
		}
	}
}

// TestZones compares a set of zones with the lists, one by one.
func TestZones(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"})
	rapid.Check(t, func(t *rapid.T) {
		zones, values := rapid.SliceOfN(name, 0, 14).Draw(t, "zones"), rapid.SliceOfN(name, 0, 20).Draw(t, "values")
		in := func(zone string) bool { return slices.Contains(values, zone) }
		out := func(zone string) bool { return !in(zone) }
		z := newZoneSet(zones)
		for _, x := range []struct {
			operator api.NodeSelectorOperator
			rule     ZoneRule
			want     bool
		}{
			{api.NodeSelectorOpIn, AnyZone, slices.ContainsFunc(zones, in)},
			{api.NodeSelectorOpIn, EveryZone, len(zones) > 0 && !slices.ContainsFunc(zones, out)},
			{api.NodeSelectorOpNotIn, AnyZone, !slices.ContainsFunc(zones, in)},
			{api.NodeSelectorOpExists, AnyZone, len(zones) > 0},
			{api.NodeSelectorOpDoesNotExist, AnyZone, len(zones) == 0},
		} {
			if got := z.match(&api.NodeSelectorRequirement{Operator: x.operator, Values: values}, x.rule); got != x.want {
				t.Errorf("%v of %v, rule %v: %t, want %t: %v", x.operator, values, x.rule, got, x.want, zones)
			}
		}
	})
}

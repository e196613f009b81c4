package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// The answer of the nominated node stays, even if a PreFilter excludes that node
// from the search that follows.
func TestNominatedNodeThatThePreFilterLeavesOut(t *testing.T) {
	for _, tt := range []struct{ nominated, want string }{
		{"", "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
		{"gone", "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
		{"a", "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
	} {
		s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj())
		pod := api.MakePod("p").Obj()
		pod.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
				MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{"c"}}},
			}}},
		}}
		pod.Status.NominatedNodeName = tt.nominated
		sched := build(t, scheduling.Profile{Filter: []framework.Plugin{filter.NodeAffinity{}}})
		if _, err := sched.Schedule(s, podInfo(t, s, pod)); err == nil || err.Error() != tt.want {
			t.Errorf("nominated to %q: Schedule fails with %v\nwant %s", tt.nominated, err, tt.want)
		}
	}
}

// A nominated node beyond the sample counts as evaluated, and the next search begins
// one place later.
func TestNominatedNodeBeyondTheSample(t *testing.T) {
	const nodes = 200
	for _, tt := range []struct {
		nominated string
		evaluated int
	}{{"", 101}, {"n050", 101}, {"n199", 102}} { // the search passes n050, which is crowded
		var list []*api.Node
		for i := range nodes {
			list = append(list, api.MakeNode(fmt.Sprintf("n%03d", i), "4", "4Gi").Obj())
		}
		s := smallCluster(t, list...)
		for _, taken := range []string{"n199", "n050"} {
			if err := s.AddPod(podInfo(t, s, api.MakePod("taken").UID(api.UID("on-"+taken)).Obj()), taken); err != nil {
				t.Fatal(err)
			}
		}
		pod := api.MakePod("p").Obj()
		pod.Status.NominatedNodeName = tt.nominated
		sched := build(t, scheduling.Profile{
			Filter: []framework.Plugin{crowded{}}, Score: []scheduling.Weighted{{Plugin: byName{}}}, Percentage: 50, TieRule: scheduling.First,
		})
		d, err := sched.Schedule(s, podInfo(t, s, pod))
		if err != nil {
			t.Fatal(err)
		}
		if d.Evaluated != tt.evaluated || d.Feasible != 100 {
			t.Errorf("nominated to %q: %d nodes evaluated, %d feasible, want %d and 100", tt.nominated, d.Evaluated, d.Feasible, tt.evaluated)
		}
		next, err := sched.Schedule(s, podInfo(t, s, api.MakePod("q").Obj()))
		if want := fmt.Sprintf("n%03d", tt.evaluated); err != nil || next.Node != want {
			t.Errorf("nominated to %q: the next search begins at %s (%v), want %s", tt.nominated, next.Node, err, want)
		}
	}
}

// byName gives all nodes the same score.
type byName struct{}

func (byName) Name() string                                        { return "byName" }
func (byName) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

// A pod nominated to a node counts there with its affinity terms, even if no pod in
// the cluster has such terms.
func TestNominatedPodWithNewTerms(t *testing.T) {
	const want = "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
	s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj())
	first := api.MakePod("first").PodAntiAffinity(api.LabelHostname, "app=web").Obj()
	if err := s.Nominate(podInfo(t, s, first), "a", ""); err != nil {
		t.Fatal(err)
	}
	pod := api.MakePod("p").Labels("app", "web").PodAntiAffinity(api.LabelTopologyZone, "app=other").Obj()
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{filter.InterPodAffinity{}}})
	for i := range 2 {
		if _, err := sched.Schedule(s, podInfo(t, s, pod)); err == nil || err.Error() != want {
			t.Errorf("decision %d: %v, want %s", i, err, want)
		}
	}
}

// countingPods counts how often it is asked about nodes and their pods.
type countingPods struct{ counting }

func (countingPods) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

// Verdicts about nodes that pods with affinity terms are nominated to are kept for pods
// that no such term matches. Terms of nominated pods count only while one of a pod in the
// cluster matches the pod, too.
func TestNominatedTerms(t *testing.T) {
	const nodes, decisions = 40, 20
	for _, verify := range []bool{false, true} {
		asked := 0
		p := scheduling.Kubernetes137()
		p.TieRule, p.Cache.Verify = scheduling.First, verify
		p.Filter = append(p.Filter, countingPods{counting{&asked}})
		sched := build(t, p)
		var list []*api.Node
		for i := range nodes {
			list = append(list, api.MakeNode(fmt.Sprint("n", i), "64", "64Gi").Labels(api.LabelHostname, fmt.Sprint("n", i)).Obj())
		}
		s := smallCluster(t, list...)
		keepsAway := func(name string) *framework.PodInfo {
			return podInfo(t, s, api.MakePod(name).UID(api.UID(name)).Priority(9).PodAntiAffinity(api.LabelHostname, "app=web").Obj())
		}
		for i := range nodes / 2 {
			if err := s.Nominate(keepsAway(fmt.Sprint("first-", i)), fmt.Sprint("n", i), ""); err != nil {
				t.Fatal(err)
			}
		}
		for round, tt := range []struct {
			app            string
			feasible, most int
		}{{"db", nodes, 3}, {"web", nodes, 2 * nodes}, {"db", nodes, 3}, {"web", nodes/2 - 1, 2 * nodes}, {"db", nodes, 3}} {
			if round == 3 {
				if err := s.AddPod(keepsAway("hermit"), fmt.Sprint("n", nodes-1)); err != nil {
					t.Fatal(err)
				}
			}
			for i := range decisions {
				asked = 0
				name := fmt.Sprint(tt.app, "-", round, "-", i)
				pod := podInfo(t, s, api.MakePod(name).UID(api.UID(name)).Labels("app", tt.app).Requests("100m", "64Mi").Obj())
				d, err := sched.Place(s, pod)
				if err != nil {
					t.Fatal(err)
				}
				if d.Feasible != tt.feasible {
					t.Fatalf("%s: %d feasible nodes, want %d", name, d.Feasible, tt.feasible)
				}
				if !verify && i > 3 && asked > tt.most {
					t.Errorf("%s: the filter is asked %d times, want at most %d", name, asked, tt.most)
				}
				if err := sched.Release(s, pod, d.Node); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

package scheduling_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/google/go-cmp/cmp"
)

// prepared is a plugin whose PreFilter gives a preset answer, and whose filter
// rejects every node unless passes is set.
type prepared struct {
	name   string
	status framework.Status
	nodes  []string // nil: does not restrict
	passes bool
	calls  *[]string
}

func (p prepared) Name() string { return p.name }

func (p prepared) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	*p.calls = append(*p.calls, p.name)
	return framework.PreFiltered{Filter: p, NodeNames: p.nodes}, p.status
}

func (p prepared) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	if p.passes {
		return framework.Status{}
	}
	return framework.UnschedulableStatus(framework.Text("filter of " + p.name))
}

// TestPreFilter covers the outcomes of PreFilter plugins: which of them run, which
// filters and nodes remain, and the text if none remains.
func TestPreFilter(t *testing.T) {
	var calls []string
	rejects := func(name string) prepared { return prepared{name: name, calls: &calls} }
	passes := func(name string, nodes ...string) prepared {
		return prepared{name: name, nodes: nodes, passes: true, calls: &calls}
	}
	says := func(name string, s framework.Status) prepared { return prepared{name: name, status: s, calls: &calls} }
	for _, tt := range []struct {
		name    string
		plugins []prepared
		calls   []string
		want    string // the node, or the error
	}{
		{"all pass", []prepared{passes("A"), passes("B")}, []string{"A", "B"}, "a"},
		{"skip leaves the filter out", []prepared{says("A", framework.SkipStatus()), passes("B")}, []string{"A", "B"}, "a"},
		{"the first filter decides", []prepared{rejects("A"), rejects("B")}, []string{"A", "B"}, "0/3 nodes are available: 3 filter of A."},
		{
			"unschedulable lets others run, the last counts",
			[]prepared{says("A", framework.UnschedulableStatus("no A")), says("B", framework.UnschedulableStatus("no B")), passes("C")},
			[]string{"A", "B", "C"},
			"0/3 nodes are available: no B.",
		},
		{
			"unresolvable ends it",
			[]prepared{says("A", framework.UnschedulableStatus("no A")), says("B", framework.UnresolvableStatus("never B")), passes("C")},
			[]string{"A", "B"},
			"0/3 nodes are available: never B.",
		},
		{
			"an error ends it",
			[]prepared{says("A", framework.AsStatus(errors.New("no idea"))), passes("B")},
			[]string{"A"},
			`running PreFilter plugin "A": no idea`,
		},
		{"nodes are intersected", []prepared{passes("A", "a", "b"), passes("B", "b", "c")}, []string{"A", "B"}, "b"},
		{
			"skip does not restrict",
			[]prepared{{name: "A", status: framework.SkipStatus(), nodes: []string{"c"}, calls: &calls}, passes("B", "b")},
			[]string{"A", "B"},
			"b",
		},
		{
			"nothing in common",
			[]prepared{passes("B", "a"), passes("A", "b"), passes("C")},
			[]string{"B", "A"},
			"0/3 nodes are available: node(s) didn't satisfy plugin(s) [A B] simultaneously.",
		},
		{
			"an empty set",
			[]prepared{{name: "A", nodes: []string{}, passes: true, calls: &calls}, passes("B")},
			[]string{"A"},
			"0/3 nodes are available: node(s) didn't satisfy plugin A.",
		},
		{
			"the others count as left out",
			[]prepared{{name: "A", nodes: []string{"b"}, calls: &calls}},
			[]string{"A"},
			"0/3 nodes are available: 1 filter of A, 2 node(s) didn't satisfy plugin(s) [A].",
		},
		{
			"unknown nodes",
			[]prepared{passes("A", "x")},
			[]string{"A"},
			"0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [A].",
		},
	} {
		for _, off := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/plain=%t", tt.name, off), func(t *testing.T) {
				calls = nil
				p := scheduling.Profile{Cache: scheduling.CacheConfig{Off: off}, TieRule: scheduling.First}
				for _, plugin := range tt.plugins {
					p.Filter = append(p.Filter, plugin)
				}
				sched := build(t, p)
				s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj(), api.MakeNode("c", "4", "4Gi").Obj())
				d, err := sched.Schedule(s, podInfo(t, s, api.MakePod("p").Obj()))
				got := d.Node
				if err != nil {
					got = err.Error()
				}
				if got != tt.want {
					t.Errorf("Schedule: %s\nwant %s", got, tt.want)
				}
				if diff := cmp.Diff(tt.calls, calls[:min(len(calls), len(tt.calls))]); diff != "" || off && len(calls) != len(tt.calls) {
					t.Errorf("PreFilter calls %v, want %v", calls, tt.calls)
				}
			})
		}
	}
}

// crowded rejects nodes that hold a pod named "taken".
type crowded struct{ without bool }

func (crowded) Name() string { return "crowded" }

func (c crowded) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	found := false
	for _, p := range n.Pods {
		found = found || p.Pod.Name == "taken"
	}
	if found != c.without {
		return framework.UnschedulableStatus("crowded")
	}
	return framework.Status{}
}

// TestNominated checks that a node is asked about with and without the nominated
// pods of the same or higher priority.
func TestNominated(t *testing.T) {
	for _, tt := range []struct {
		name     string
		priority int32 // of the nominated pod; the pod to place has 5
		without  bool  // the filter needs the nominated pod
		want     string
	}{
		{"higher", 6, false, "b"},
		{"equal", 5, false, "b"},
		{"lower", 4, false, "a"},
		// The filter needs the nominated pod, but that pod may not come, so a yes
		// with it is not enough.
		{"needed", 6, true, "0/2 nodes are available: 2 crowded."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj())
			if err := s.Nominate(podInfo(t, s, api.MakePod("taken").Priority(tt.priority).Obj()), "a", ""); err != nil {
				t.Fatal(err)
			}
			before := s.Node("a").Generation()
			sched := build(t, scheduling.Profile{Filter: []framework.Plugin{crowded{tt.without}}, TieRule: scheduling.First})
			d, err := sched.Schedule(s, podInfo(t, s, api.MakePod("p").Priority(5).Obj()))
			got := d.Node
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Schedule: %s\nwant %s", got, tt.want)
			}
			if n := s.Node("a"); len(n.Pods) != 0 || n.Generation() != before {
				t.Errorf("the question left %d pods on the node at generation %d, want 0 at %d", len(n.Pods), n.Generation(), before)
			}
		})
	}
}

// A pod that was nominated to a node is tried there first, and the next search
// begins where this one would have begun.
func TestNominatedNodeIsTriedFirst(t *testing.T) {
	s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj(), api.MakeNode("c", "4", "4Gi").Obj())
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{crowded{}}, TieRule: scheduling.First})
	for _, tt := range []struct{ nominated, want string }{{"c", "c"}, {"", "a"}, {"b", "b"}, {"gone", "b"}, {"", "c"}} {
		pod := api.MakePod("p").Obj()
		pod.Status.NominatedNodeName = tt.nominated
		d, err := sched.Schedule(s, podInfo(t, s, pod))
		if d.Node != tt.want || err != nil {
			t.Errorf("nominated %q: Schedule = %q, %v, want %q", tt.nominated, d.Node, err, tt.want)
		}
	}
}

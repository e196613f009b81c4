package scoring_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

func nodeInfo(tb testing.TB, n *api.Node) (*framework.Snapshot, *framework.NodeInfo) {
	tb.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(n); err != nil {
		tb.Fatal(err)
	}
	return s, s.At(0)
}

func TestNodePreferAvoidPods(t *testing.T) {
	const avoid = `{"preferAvoidPods":[{"podSignature":{"podController":{"kind":"ReplicaSet","uid":"u1"}}},{"podSignature":{}}]}`
	for _, tt := range []struct {
		name, annotation, kind, uid string
		want                        int64
	}{
		{"listed", avoid, "ReplicaSet", "u1", 0},
		{"another UID", avoid, "ReplicaSet", "u2", 100},
		{"another kind", avoid, "ReplicationController", "u1", 100},
		{"a kind that is not asked about", avoid, "StatefulSet", "u1", 100},
		{"no controller", avoid, "", "", 100},
		{"no annotation", "", "ReplicaSet", "u1", 100},
		{"an annotation that cannot be read", "{", "ReplicaSet", "u1", 100},
		{"a time that is none", strings.Replace(avoid, `{"podSignature"`, `{"evictionTime":"yesterday","podSignature"`, 1), "ReplicaSet", "u1", 100},
		{"a time", strings.Replace(avoid, `{"podSignature"`, `{"evictionTime":"2020-01-02T03:04:05Z","podSignature"`, 1), "ReplicaSet", "u1", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := api.MakeNode("n", "1", "1Gi")
			if tt.annotation != "" {
				n = n.Annotations(scoring.PreferAvoidPodsAnnotation, tt.annotation)
			}
			s, node := nodeInfo(t, n.Obj())
			p := api.MakePod("p").Obj()
			if tt.kind != "" {
				yes := true
				p.OwnerReferences = []api.OwnerReference{{Kind: tt.kind, UID: api.UID(tt.uid), Controller: &yes}}
			}
			pod, err := s.NewPodInfo(p)
			if err != nil {
				t.Fatal(err)
			}
			if got := (scoring.NodePreferAvoidPods{}).Score(pod, node); got != tt.want {
				t.Errorf("Score = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestNodeLabelScore(t *testing.T) {
	_, node := nodeInfo(t, api.MakeNode("n", "1", "1Gi").Labels("a", "", "b", "x").Obj())
	for _, tt := range []struct {
		present, absent []string
		want            int64
	}{
		{nil, nil, 0},
		{[]string{"a"}, nil, 100},
		{[]string{"a", "c"}, nil, 50},
		{[]string{"a", "c"}, []string{"d"}, 66},
		{[]string{"c"}, []string{"b"}, 0},
	} {
		p := scoring.NodeLabel{Present: tt.present, Absent: tt.absent}
		if got := p.Score(nil, node); got != tt.want {
			t.Errorf("%+v: Score = %d, want %d", p, got, tt.want)
		}
	}
	if err := (scoring.NodeLabel{Present: []string{"x"}, Absent: []string{"x"}}).Validate(); err == nil {
		t.Error("a label preferred to be both present and absent is accepted")
	}
}

// The three separate plugins agree with the formulas of 1.18, worked out by hand.
func TestSeparateResourcePlugins(t *testing.T) {
	s, node := nodeInfo(t, api.MakeNode("n", "4", "10000").Obj()) // memory in bytes
	pod, err := s.NewPodInfo(api.MakePod("p").Requests("3", "5000").Obj())
	if err != nil {
		t.Fatal(err)
	}
	shape := scoring.Shape{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}
	for _, tt := range []struct {
		plugin framework.PreScorePlugin
		want   int64
	}{
		{scoring.NodeResourcesLeastAllocated{}, (25 + 50) / 2},
		{scoring.NodeResourcesMostAllocated{}, (75 + 50) / 2},
		{scoring.NodeResourcesRequestedToCapacityRatio{Shape: shape}, 63}, // 62.5 rounded
	} {
		var c framework.Cycle
		c.Reset(pod, s, 0, 0)
		scorer, status := tt.plugin.PreScore(&c, []*framework.NodeInfo{node})
		if !status.IsSuccess() {
			t.Fatalf("%s: PreScore: %v", tt.plugin.Name(), status)
		}
		if got := scorer.Score(pod, node); got != tt.want {
			t.Errorf("%s: Score = %d, want %d", tt.plugin.Name(), got, tt.want)
		}
	}
}

func ExampleNodePreferAvoidPods() {
	fmt.Println(scoring.NodePreferAvoidPods{}.Name(), "had the weight 10000")
	// Output: NodePreferAvoidPods had the weight 10000
}

func ExampleNodeLabel() {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Labels("ssd", "").Obj()); err != nil {
		panic(err)
	}
	p := scoring.NodeLabel{Present: []string{"ssd", "gpu"}, Absent: []string{"retiring"}}
	fmt.Println(p.Score(nil, s.Node("n")))
	// Output: 66
}

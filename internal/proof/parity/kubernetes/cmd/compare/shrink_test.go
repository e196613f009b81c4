package main

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
)

func TestIdentity(t *testing.T) {
	const first = "sequence: step 12: error of default/s9 = \"0/5 nodes are available: 5 Too many pods.\", want \"0/5 nodes are available: 5 Insufficient cpu.\""
	for _, tt := range []struct {
		name, other string
		same        bool
	}{
		{"another step and another number of nodes", "sequence: step 3: error of default/s9 = \"0/1 nodes are available: 1 Too many pods.\", want \"0/1 nodes are available: 1 Insufficient cpu.\"", true},
		{"another pod", "sequence: step 12: error of default/s8 = \"0/5 nodes are available: 5 Too many pods.\", want \"0/5 nodes are available: 5 Insufficient cpu.\"", false},
		{"the same pod in another namespace", "sequence: step 12: error of s9 = \"0/5 nodes are available: 5 Too many pods.\", want \"0/5 nodes are available: 5 Insufficient cpu.\"", false},
		{"the sides exchanged", "sequence: step 12: error of default/s9 = \"0/5 nodes are available: 5 Insufficient cpu.\", want \"0/5 nodes are available: 5 Too many pods.\"", false},
		{"another reason", "sequence: step 12: error of default/s9 = \"0/5 nodes are available: 5 Too many pods.\", want \"0/5 nodes are available: 5 Insufficient memory.\"", false},
		{"another point", "sequence: step 12: node of default/s9 = \"n1\" (<nil>), want \"n2\" (<nil>)", false},
	} {
		if same := identity(tt.other) == identity(first); same != tt.same {
			t.Errorf("%s: same = %v, want %v\n%q\n%q", tt.name, same, tt.same, identity(first), identity(tt.other))
		}
	}
	if a, b := identity("pipeline: totals = [1 2 3], want [1 2 4]"), identity("pipeline: totals = [7], want [8]"); a != b {
		t.Errorf("scores of fewer nodes are another difference: %q, %q", a, b)
	}
}

// TestShrinkKeeps uses a plugin that differs on two nodes in the same way, but on
// one of them only while the pod is in its namespace. Shrinking must keep that node
// and the namespace.
func TestShrinkKeeps(t *testing.T) {
	node := func(name string) *api.Node {
		return &api.Node{ObjectMeta: api.ObjectMeta{Name: name, UID: api.UID(name)}}
	}
	i := &item{Case: &golden.Case{
		ID: "x", Nodes: []*api.Node{node("a"), node("b"), node("c"), node("d")},
		Pod: &api.Pod{
			ObjectMeta: api.ObjectMeta{Name: "in", Namespace: "ns"},
			Spec:       api.PodSpec{SchedulerName: "default-scheduler"},
		},
	}}
	a := newAsker()
	defer a.forget()
	asked := 0
	a.plugins = func(c *golden.Case) (differences []string) {
		asked++
		for _, n := range c.Nodes {
			if n.Name == "b" || n.Name == "d" && c.Pod.Namespace == "ns" {
				differences = append(differences, "Odd: status of "+n.Name+" = {Success}, want {Unschedulable}")
			}
		}
		return differences
	}
	small, differences := a.shrink(i, []string{"Odd: status of d = {Success}, want {Unschedulable}"})
	if len(small.Nodes) != 1 || small.Nodes[0].Name != "d" || small.Pod.Namespace != "ns" {
		t.Errorf("after %d questions: nodes %v, pod in %q; want d alone, and ns; differences %q", asked, small.Nodes, small.Pod.Namespace, differences)
	}
}

package framework_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
)

func TestNominate(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1", "n2")
	a, b := podInfo(t, s, plainPod("a")), podInfo(t, s, plainPod("b"))
	check := func(step string, n1, n2 []string) {
		t.Helper()
		got := [][]string{podNames(&framework.NodeInfo{Pods: s.Node("n1").Nominated}), podNames(&framework.NodeInfo{Pods: s.Node("n2").Nominated})}
		if diff := cmp.Diff([][]string{n1, n2}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
		if want := len(n1) + len(n2); s.Nominations() != want {
			t.Errorf("%s: Nominations() = %d, want %d", step, s.Nominations(), want)
		}
	}
	must(t, s.Nominate(a, "n1", ""))
	must(t, s.Nominate(b, "n1", ""))
	check("both", []string{"a", "b"}, []string{})
	before := s.Node("n1").Generation()
	must(t, s.Nominate(a, "n2", "n1"))
	check("moved", []string{"b"}, []string{"a"})
	if s.Node("n1").Generation() == before {
		t.Error("the node that lost a nomination has the same generation")
	}
	m := s.Begin()
	s.ClearNomination(b, "n1")
	check("gone for now", []string{}, []string{"a"})
	s.Rollback(m)
	check("taken back", []string{"b"}, []string{"a"})

	s.ClearNomination(podInfo(t, s, plainPod("a")), "n2") // by UID
	s.ClearNomination(b, "n2")                            // it is not there
	s.ClearNomination(b, "n9")
	s.ClearNomination(nil, "n1")
	check("by UID", []string{"b"}, []string{})
	must(t, s.UpdateNode(plainNode("n1", "v", "2")))
	check("the node is updated", []string{"b"}, []string{})
	must(t, s.RemoveNode("n1"))
	if s.Nominations() != 0 {
		t.Errorf("Nominations() = %d after the node has gone, want 0", s.Nominations())
	}
	wantError(t, s.Nominate(b, "n1", ""), `pod default/b: spec.nodeName: "n1": no such node`)
	wantError(t, s.Nominate(nil, "n2", ""), "pod: is nil")
}

func ExampleSnapshot_Nominate() {
	s, p := twoNodes()
	if err := s.Nominate(p, "n2", ""); err != nil {
		fmt.Println(err)
	}
	fmt.Println(s.Nominations(), s.Node("n2").Nominated[0].Pod.Name)
	s.ClearNomination(p, "n2")
	fmt.Println(s.Nominations())
	// Output:
	// 1 web
	// 0
}

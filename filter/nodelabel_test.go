package filter_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func TestNodeLabel(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "1", "1Gi").Labels("a", "", "b", "x").Obj()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		present, absent []string
		want            framework.Code
	}{
		{nil, nil, framework.Success},
		{[]string{"a", "b"}, []string{"c"}, framework.Success},
		{[]string{"a", "c"}, nil, framework.UnschedulableAndUnresolvable},
		{nil, []string{"b"}, framework.UnschedulableAndUnresolvable},
	} {
		p := filter.NodeLabel{Present: tt.present, Absent: tt.absent}
		if got := p.Filter(nil, s.At(0)); got.Code() != tt.want {
			t.Errorf("%+v: Filter = %v, want %v", p, got, tt.want)
		}
	}
	if err := (filter.NodeLabel{Present: []string{"x"}, Absent: []string{"x"}}).Validate(); err == nil {
		t.Error("a label required to be both present and absent is accepted")
	}
}

func ExampleNodeLabel() {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Labels("retiring", "2030-01-01").Obj()); err != nil {
		panic(err)
	}
	fmt.Println(filter.NodeLabel{Absent: []string{"retiring"}}.Filter(nil, s.Node("n")))
	// Output: UnschedulableAndUnresolvable: node(s) didn't have the requested labels
}

package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
)

func TestNodeUnschedulable(t *testing.T) {
	s := snapshotOf(t, []*framework.Node{framework.MakeNode("open", "4", "4Gi").Obj(), framework.MakeNode("cordoned", "4", "4Gi").Unschedulable().Obj()})
	const no = "UnschedulableAndUnresolvable: node(s) were unschedulable"
	const key = framework.TaintNodeUnschedulable
	tests := []struct {
		name       string
		toleration framework.Toleration
		want       string
	}{
		{"another key", framework.Toleration{Key: "k", Operator: "Exists"}, no},
		{"exists", framework.Toleration{Key: key, Operator: "Exists"}, "Success"},
		{"exists, with the effect", framework.Toleration{Key: key, Operator: "Exists", Effect: "NoSchedule"}, "Success"},
		{"exists, with another effect", framework.Toleration{Key: key, Operator: "Exists", Effect: "NoExecute"}, no},
		{"an empty value", framework.Toleration{Key: key, Operator: "Equal"}, "Success"},
		{"a value", framework.Toleration{Key: key, Operator: "Equal", Value: "true"}, no},
		{"everything", framework.Toleration{Operator: "Exists"}, "Success"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantVerdicts(t, s, filter.NodeUnschedulable{}, framework.MakePod("p").Toleration(test.toleration).Obj(), "Success", test.want)
		})
	}
	wantVerdicts(t, s, filter.NodeUnschedulable{CompareNumbers: true}, framework.MakePod("p").Obj(), "Success", no)
}

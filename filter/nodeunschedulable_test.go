package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework/api"
)

func TestNodeUnschedulable(t *testing.T) {
	s := snapshotOf(t, []*api.Node{api.MakeNode("open", "4", "4Gi").Obj(), api.MakeNode("cordoned", "4", "4Gi").Unschedulable().Obj()})
	const no = "UnschedulableAndUnresolvable: node(s) were unschedulable"
	const key = api.TaintNodeUnschedulable
	tests := []struct {
		name       string
		toleration api.Toleration
		want       string
	}{
		{"another key", api.Toleration{Key: "k", Operator: "Exists"}, no},
		{"exists", api.Toleration{Key: key, Operator: "Exists"}, "Success"},
		{"exists, with the effect", api.Toleration{Key: key, Operator: "Exists", Effect: "NoSchedule"}, "Success"},
		{"exists, with another effect", api.Toleration{Key: key, Operator: "Exists", Effect: "NoExecute"}, no},
		{"an empty value", api.Toleration{Key: key, Operator: "Equal"}, "Success"},
		{"a value", api.Toleration{Key: key, Operator: "Equal", Value: "true"}, no},
		{"everything", api.Toleration{Operator: "Exists"}, "Success"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantVerdicts(t, s, filter.NodeUnschedulable{}, api.MakePod("p").Toleration(test.toleration).Obj(), "Success", test.want)
		})
	}
	wantVerdicts(t, s, filter.NodeUnschedulable{CompareNumbers: true}, api.MakePod("p").Obj(), "Success", no)
}

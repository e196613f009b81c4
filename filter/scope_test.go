package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func TestScopes(t *testing.T) {
	s := snapshotOf(t, nil)
	plain := podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Obj())
	ofNode := framework.ReadsNode
	tests := []struct {
		plugin framework.Scoper
		pod    *framework.PodInfo
		want   framework.Scope
	}{
		{filter.NodeName{}, plain, framework.Scope{}},
		{filter.NodeName{}, podInfo(t, s, api.MakePod("p").Node("n").Obj()), framework.Scope{Pod: framework.FieldNodeName, Reads: ofNode}},
		{filter.NodeUnschedulable{}, plain, framework.Scope{Pod: framework.FieldTolerations, Reads: ofNode}},
		{filter.TaintToleration{}, plain, framework.Scope{Pod: framework.FieldTolerations, Reads: ofNode}},
		{filter.NodePorts{}, plain, framework.Scope{}},
		{filter.NodePorts{}, podInfo(t, s, api.MakePod("p").HostPort(80).Obj()), framework.Scope{Pod: framework.FieldHostPorts, Reads: framework.ReadsPods}},
		{filter.NodeAffinity{}, plain, framework.Scope{Pod: framework.FieldNodeChoice}},
		{filter.NodeAffinity{}, podInfo(t, s, podDemanding(has("zone"))), framework.Scope{Pod: framework.FieldNodeChoice, Reads: ofNode}},
		{filter.NodeAffinity{AddedAffinity: demanding(has("zone"))}, plain, framework.Scope{Pod: framework.FieldNodeChoice, Reads: ofNode}},
		{filter.ServiceAffinity{}, plain, framework.Scope{}},
		{filter.ServiceAffinity{AffinityLabels: []string{"a"}}, podInfo(t, s, api.MakePod("p").NodeSelector("a", "b").Obj()), framework.Scope{Pod: framework.FieldNodeChoice, Reads: ofNode}},
		{filter.NodeResourcesFit{}, plain, framework.Scope{Pod: framework.FieldRequests, Reads: ofNode | framework.ReadsPods}},
	}
	for _, test := range tests {
		if got := test.plugin.Scope(test.pod); got != test.want {
			t.Errorf("Scope of %T = %+v, want %+v", test.plugin, got, test.want)
		}
	}
}

package scoring_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

func TestScopes(t *testing.T) {
	s := snapshotOf(t, nil)
	plain := podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Obj())
	wishing := podInfo(t, s, api.MakePod("p").PreferNodes(5, "zone=a").Obj())
	ofNode := framework.ReadsNode
	tests := []struct {
		plugin framework.Scoper
		pod    *framework.PodInfo
		want   framework.Scope
	}{
		{scoring.NodeResourcesFit{}, plain, framework.Scope{Pod: framework.FieldRequests, Reads: ofNode | framework.ReadsPods}},
		{scoring.NodeResourcesBalancedAllocation{}, plain, framework.Scope{Pod: framework.FieldRequests, Reads: ofNode | framework.ReadsPods}},
		{scoring.TaintToleration{}, plain, framework.Scope{Pod: framework.FieldTolerations, Reads: ofNode}},
		{scoring.NodeAffinity{}, wishing, framework.Scope{Pod: framework.FieldNodeChoice, Reads: ofNode}},
		{scoring.NodeAffinity{}, plain, framework.Scope{Pod: framework.FieldNodeChoice}},
		{scoring.NodeAffinity{AddedAffinity: prefers(1, "disk", "ssd")}, plain, framework.Scope{Pod: framework.FieldNodeChoice, Reads: ofNode}},
		{scoring.ServiceAffinity{}, plain, framework.Scope{}},
		{scoring.SelectorSpread{}, podInfo(t, s, api.MakePod("p").Spread(1, "zone", api.ScheduleAnyway, "a=b").Obj()), framework.Scope{Pod: framework.FieldSpread}},
		{scoring.ImageLocality{}, plain, framework.Scope{Pod: framework.FieldImages, Reads: ofNode | framework.ReadsNodeSet}},
	}
	for _, test := range tests {
		if got := test.plugin.Scope(test.pod); got != test.want {
			t.Errorf("Scope of %T = %+v, want %+v", test.plugin, got, test.want)
		}
	}
}

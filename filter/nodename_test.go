package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework/api"
)

func TestNodeName(t *testing.T) {
	s := snapshotOf(t, []*api.Node{api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj()})
	const no = "UnschedulableAndUnresolvable: node(s) didn't match the requested node name"
	free := api.MakePod("p").Obj()
	toB := api.MakePod("p").Node("b").Obj()
	toNone := api.MakePod("p").Node("c").Obj()

	wantVerdicts(t, s, filter.NodeName{}, free, "Success", "Success")
	wantVerdicts(t, s, filter.NodeName{}, toB, no, "Success")
	wantVerdicts(t, s, filter.NodeName{}, toNone, no, no)
	wantPreFilter(t, s, filter.NodeName{}, free, "Success", false)
	wantPreFilter(t, s, filter.NodeName{}, toB, "Success", true, "b")
	wantPreFilter(t, s, filter.NodeName{}, toNone, "Success", true, "c")
}

package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework/api"
)

func TestTaintToleration(t *testing.T) {
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("none", "4", "4Gi").Obj(),
		api.MakeNode("soft", "4", "4Gi").Taint("a:PreferNoSchedule").Obj(),
		api.MakeNode("hard", "4", "4Gi").Taint("a=1:NoSchedule").Obj(),
		api.MakeNode("hardest", "4", "4Gi").Taint("a=1:NoExecute", "b=5:NoSchedule").Obj(),
	})
	const no = "UnschedulableAndUnresolvable: node(s) had untolerated taint(s)"
	wantVerdicts(t, s, filter.TaintToleration{}, api.MakePod("p").Obj(), "Success", "Success", no, no)
	wantVerdicts(t, s, filter.TaintToleration{}, api.MakePod("p").Tolerates("a=1:NoSchedule").Obj(), "Success", "Success", "Success", no)
	tolerant := api.MakePod("p").Toleration(api.Toleration{Key: "a", Operator: "Exists"})
	wantVerdicts(t, s, filter.TaintToleration{}, tolerant.Obj(), "Success", "Success", "Success", no)
	comparing := tolerant.Toleration(api.Toleration{Key: "b", Operator: "Lt", Value: "6"}).Obj()
	wantVerdicts(t, s, filter.TaintToleration{}, comparing, "Success", "Success", "Success", no)
	wantVerdicts(t, s, filter.TaintToleration{CompareNumbers: true}, comparing, "Success", "Success", "Success", "Success")
}

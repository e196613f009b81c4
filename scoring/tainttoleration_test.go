package scoring_test

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

func TestTaintToleration(t *testing.T) {
	nodes := []*api.Node{
		api.MakeNode("none", "4", "4Gi").Obj(),
		api.MakeNode("one", "4", "4Gi").Taint("a=1:PreferNoSchedule").Obj(),
		api.MakeNode("three", "4", "4Gi").Taint("a=1:PreferNoSchedule", "b:PreferNoSchedule", "c=9:PreferNoSchedule").Obj(),
		api.MakeNode("hard", "4", "4Gi").Taint("a=1:NoSchedule", "b:NoExecute").Obj(),
	}
	pod := func(tolerations ...api.Toleration) *api.Pod {
		p := api.MakePod("p").Obj()
		p.Spec.Tolerations = tolerations
		return p
	}
	tests := []struct {
		name            string
		plugin          scoring.TaintToleration
		pod             *api.Pod
		raw, normalized []int64
	}{
		{"tolerates nothing", scoring.TaintToleration{}, pod(), []int64{0, 1, 3, 0}, []int64{100, 67, 0, 100}},
		{"tolerates a", scoring.TaintToleration{}, pod(api.Toleration{Key: "a", Operator: "Exists"}), []int64{0, 0, 2, 0}, []int64{100, 100, 0, 100}},
		{"tolerates a with another effect", scoring.TaintToleration{}, pod(api.Toleration{Key: "a", Operator: "Exists", Effect: "NoSchedule"}), []int64{0, 1, 3, 0}, []int64{100, 67, 0, 100}},
		{"tolerates everything", scoring.TaintToleration{}, pod(api.Toleration{Operator: "Exists"}), []int64{0, 0, 0, 0}, []int64{100, 100, 100, 100}},
		{"numbers are not compared", scoring.TaintToleration{}, pod(api.Toleration{Operator: "Gt", Value: "0"}), []int64{0, 1, 3, 0}, []int64{100, 67, 0, 100}},
		{"numbers are compared", scoring.TaintToleration{CompareNumbers: true}, pod(api.Toleration{Operator: "Gt", Value: "0"}), []int64{0, 0, 1, 0}, []int64{100, 100, 0, 100}},
	}
	s := snapshotOf(t, nodes)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantScores(t, s, test.plugin, test.pod, test.raw, test.normalized)
			if test.plugin.CompareNumbers {
				return
			}
			for i, n := range nodes {
				if got := scoring.TaintTolerationScore(n.Spec.Taints, test.pod.Spec.Tolerations); got != test.raw[i] {
					t.Errorf("TaintTolerationScore of %s = %d, want %d", n.Name, got, test.raw[i])
				}
			}
		})
	}
}

package filter

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

// What is noted with a pod about cordoned nodes is what its tolerations say.
func TestToleratesCordon(t *testing.T) {
	toleration := rapid.Custom(func(t *rapid.T) api.Toleration {
		return api.Toleration{
			Key:      rapid.SampledFrom([]string{"", api.TaintNodeUnschedulable, "other"}).Draw(t, "key"),
			Operator: rapid.SampledFrom([]api.TolerationOperator{"", "Equal", "Exists", "Lt", "Gt", "?"}).Draw(t, "operator"),
			Value:    rapid.SampledFrom([]string{"", "1"}).Draw(t, "value"),
			Effect:   rapid.SampledFrom([]api.TaintEffect{"", "NoSchedule", "NoExecute"}).Draw(t, "effect"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		p := api.MakePod("p").Obj()
		p.Spec.Tolerations = rapid.SliceOfN(toleration, 0, 3).Draw(t, "tolerations")
		pod, err := framework.NewPodInfo(p, resource.NewSchema())
		if err != nil {
			t.Fatal(err)
		}
		taint := api.Taint{Key: api.TaintNodeUnschedulable, Effect: api.TaintEffectNoSchedule}
		for _, numbers := range []bool{false, true} {
			want := match.Tolerates(p.Spec.Tolerations, &taint, match.Comparison(numbers))
			if got := (NodeUnschedulable{CompareNumbers: numbers}).tolerated(pod); got != want {
				t.Fatalf("numbers %t: %t, want %t", numbers, got, want)
			}
		}
	})
}

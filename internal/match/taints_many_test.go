package match

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestToleratesMany compares the index with the plain comparison.
func TestToleratesMany(t *testing.T) {
	keys := rapid.SampledFrom([]string{"", "a", "b"})
	values := rapid.SampledFrom([]string{"", "x", "1", "-5", "7", "07"})
	effects := rapid.SampledFrom([]api.TaintEffect{"", api.TaintEffectNoSchedule, api.TaintEffectNoExecute, api.TaintEffectPreferNoSchedule})
	operators := rapid.SampledFrom([]api.TolerationOperator{"", api.TolerationOpEqual, api.TolerationOpExists, api.TolerationOpLt, api.TolerationOpGt, "No"})
	rapid.Check(t, func(t *rapid.T) {
		tolerations := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) api.Toleration {
			return api.Toleration{Key: keys.Draw(t, "key"), Operator: operators.Draw(t, "operator"), Value: values.Draw(t, "value"), Effect: effects.Draw(t, "effect")}
		}), 0, 4).Draw(t, "tolerations")
		c := Comparison(rapid.Bool().Draw(t, "comparison"))
		x := indexTolerations(tolerations, c)
		taint := api.Taint{Key: keys.Draw(t, "taint key"), Value: values.Draw(t, "taint value"), Effect: effects.Draw(t, "taint effect")}
		if got, want := x.tolerates(&taint), Tolerates(tolerations, &taint, c); got != want {
			t.Fatalf("the index says %t, want %t", got, want)
		}
		// Tolerations of another key change nothing, but are so many that the pod is indexed.
		many := append([]api.Toleration{}, tolerations...)
		for range manyTolerations {
			many = append(many, api.Toleration{Key: "other", Operator: api.TolerationOpExists})
		}
		pod := api.MakePod("p").Obj()
		pod.Spec.Tolerations = many
		p, err := framework.NewPodInfo(pod, resource.NewSchema())
		if err != nil {
			t.Fatal(err)
		}
		taints := []api.Taint{taint}
		if got, want := IsTainted(taints, p, c), UntoleratedTaint(taints, tolerations, c) != nil; got != want {
			t.Fatalf("IsTainted = %t, want %t", got, want)
		}
		if got, want := NewTolerations(many).Untolerated(taints), UntoleratedTaint(taints, tolerations, false); got != want {
			t.Fatalf("Untolerated = %v, want %v", got, want)
		}
		if got, want := CountPreferences(taints, p, c), UntoleratedPreferences(taints, tolerations, c); got != want {
			t.Fatalf("CountPreferences = %d, want %d", got, want)
		}
	})
}

// BenchmarkTolerates compares as many taints as tolerations. None match, and the time
// for each taint hardly grows with their number.
func BenchmarkTolerates(b *testing.B) {
	for _, n := range []int{10, 60, 1000, 50_000} {
		taints, tolerations := make([]api.Taint, n), make([]api.Toleration, n)
		for i := range n {
			taints[i] = api.Taint{Key: fmt.Sprint("k", i), Effect: api.TaintEffectPreferNoSchedule}
			tolerations[i] = api.Toleration{Key: fmt.Sprint("k", i), Value: "other", Effect: api.TaintEffectPreferNoSchedule}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if got := UntoleratedPreferences(taints, tolerations, false); got != int64(n) {
					b.Fatal(got)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/taint")
		})
	}
}

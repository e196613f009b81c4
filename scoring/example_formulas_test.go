package scoring_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

// Fuller nodes are better up to 80 percent; the scale is the shape's.
func ExampleRequestedToCapacityRatioScore() {
	shape := scoring.Shape{{Utilization: 0, Score: 0}, {Utilization: 80, Score: 10}, {Utilization: 100, Score: 5}}
	for _, requested := range []int64{2, 4, 5} {
		fmt.Println(scoring.RequestedToCapacityRatioScore(shape, requested, 5))
	}
	// Output:
	// 5
	// 10
	// 5
}

// The same node by the rules of two releases: 3 of 4 cores and 4 of 16 GiB are
// requested.
func ExampleBalanceScore() {
	fmt.Println(scoring.BalanceScore([]int64{3000, 4 << 30}, []int64{4000, 16 << 30}))
	fmt.Println(scoring.BalancedAllocationScoreKubernetes118(3000, 4000, 4<<30, 16<<30))
	// Output:
	// 75
	// 50
}

func ExampleTaintTolerationScore() {
	taints := []api.Taint{
		{Key: "spot", Effect: api.TaintEffectPreferNoSchedule},
		{Key: "old", Effect: api.TaintEffectPreferNoSchedule},
		{Key: "gpu", Effect: api.TaintEffectNoSchedule}, // for the filter
	}
	tolerations := []api.Toleration{{Key: "spot", Operator: api.TolerationOpExists}}
	fmt.Println(scoring.TaintTolerationScore(taints, tolerations))
	// Output: 1
}

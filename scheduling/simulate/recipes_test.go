package simulate_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// Example_twoProfilesLastWeek replays a recorded week under two profiles.
func Example_twoProfilesLastWeek() {
	trace, err := simulate.ReadTrace(bytes.NewReader(lastWeek()))
	if err != nil {
		panic(err)
	}
	results, err := simulate.RunAll(context.Background(), 2,
		simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace},
		simulate.Config{Profiles: []scheduling.Profile{packing()}, Trace: trace})
	if err != nil {
		panic(err)
	}
	for _, r := range results {
		fmt.Printf("%d bound, mean wait %.0f s, %.0f s at most for 95 %%\n", r.Waits[0].Pods, r.Waits[0].Mean, r.Waits[0].P95)
	}
	fmt.Println(len(simulate.Differences(results[0].Decisions, results[1].Decisions)), "decisions differ")
	// Output:
	// 300 bound, mean wait 14311 s, 76076 s at most for 95 %
	// 300 bound, mean wait 14911 s, 75480 s at most for 95 %
	// 746 decisions differ
}

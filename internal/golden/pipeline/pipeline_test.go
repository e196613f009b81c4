package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/internal/golden"
	"github.com/berth-sched/berth/internal/golden/pipeline"
)

// TestGoldenPipelines replays every family through the profiles of its cases.
func TestGoldenPipelines(t *testing.T) {
	for _, family := range golden.Families() {
		t.Run(family, func(t *testing.T) {
			cases, err := golden.Load(family)
			if err != nil {
				t.Fatal(err)
			}
			left := map[string]int{}
			golden.Report(t, "pipeline of "+golden.System+"/"+family, cases, pipeline.CheckAll(left))
			for plugin, n := range left {
				fmt.Printf("golden pipeline of %s/%s: %d of %d cases not run (needs %s)\n", golden.System, family, n, len(cases), plugin)
			}
		})
	}
}

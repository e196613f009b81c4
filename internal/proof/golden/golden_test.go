package golden_test

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
)

// TestGoldenFamilies replays every family: each plugin alone, then the profile of
// each case from PreFilter to the choice of a node or of victims.
func TestGoldenFamilies(t *testing.T) {
	for _, family := range golden.Families() {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			plugins := golden.CheckPlugins()
			golden.Run(t, family, func(c *golden.Case) []string {
				differences, needs := pipeline.Check(c)
				if needs != "" {
					differences = append(differences, "cannot be compared without the plugin "+needs)
				}
				return append(plugins(c), differences...)
			})
		})
	}
}

// TestDecide decides the cases of one family without their answers, as the live
// comparison does where the original crashes.
func TestDecide(t *testing.T) {
	golden.Run(t, "taint", pipeline.Decide)
}

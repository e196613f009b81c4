package rival_test

import (
	"context"
	"slices"
	"testing"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
)

// The real plugin answers the recorded cases, and berth gives the same answers as to the
// recording.
func TestDeviceAnswers(t *testing.T) {
	s, err := rival.New(context.Background(), rival.Options{Percentage: 100, Parallelism: 1})
	if err != nil {
		t.Fatal(err)
	}
	families, err := golden.LoadDevices()
	if err != nil {
		t.Fatal(err)
	}
	step := 1
	if testing.Short() {
		step = 5
	}
	for family, cases := range families {
		if family == "scored" { // has a configuration of its own
			continue
		}
		for i := 0; i < len(cases); i += step {
			c := cases[i]
			if c.Random {
				continue
			}
			steps := slices.Clone(c.Steps)
			for k := range c.Steps {
				c.Steps[k].Expect = golden.DeviceExpect{}
			}
			if err := s.AnswerDevices(c, func(k int, _ []string) (node, then string) { return steps[k].Node, steps[k].Then }); err != nil {
				t.Fatalf("%s: %v", c.ID, err)
			}
			for _, d := range golden.CheckDevices(c) {
				t.Errorf("%s: %s", c.ID, d)
			}
		}
	}
}

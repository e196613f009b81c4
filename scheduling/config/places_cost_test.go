//go:build full

package config_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// TestPlaceCost gives a configuration ever more values of two bytes. While they are few,
// the fault behind them has its line. If they are many it has none that is wrong, but the
// line where the file begins.
func TestPlaceCost(t *testing.T) {
	for _, test := range []struct{ values, line int }{{100, 6}, {6_000, 2}} {
		text := "# a comment\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nx:\n  [" +
			strings.Repeat("1,", test.values) + "1]\nzz: 1\n"
		_, err := config.Load([]byte(text), config.LoadConfig{})
		e, ok := err.(*config.Error)
		if !ok {
			t.Fatalf("%d values: %v", test.values, err)
		}
		if got := e.Problems[len(e.Problems)-1].Line; got != test.line {
			t.Errorf("%d values: the last problem is in line %d, want %d", test.values, got, test.line)
		}
	}
}

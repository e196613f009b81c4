//go:build full

package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// TestProblemsBound gives Load more problems than it lists, a name longer than it prints,
// and more values than a text of that size may have.
func TestProblemsBound(t *testing.T) {
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	profile := func(plugins string) string {
		return head + "profiles:\n- plugins: {score: {enabled: [" + plugins + "]}}\n"
	}
	for _, tt := range []struct {
		name, text  string
		problems    int
		longestText int
	}{
		{"150 unknown plugins", profile(strings.Repeat("{name: x},", 150)), 100, 3 << 10},
		{"a long name", profile("{name: " + strings.Repeat("x", 100_000) + "}"), 1, 3 << 10},
		{"200 keys that are repeated", head + strings.Repeat("x: 1\n", 200), 100, 3 << 10},
		{"many values", head + "x: [" + strings.Repeat("1,", 20_000) + "1]\n", 1, 100},
	} {
		_, err := config.Load([]byte(tt.text), config.LoadConfig{})
		var e *config.Error
		if !errors.As(err, &e) || len(e.Problems) != tt.problems {
			t.Fatalf("%s: %.100v, want %d problems", tt.name, err, tt.problems)
		}
		for _, p := range e.Problems {
			if len(p.Text) > tt.longestText {
				t.Errorf("%s: a problem of %d bytes, want at most %d", tt.name, len(p.Text), tt.longestText)
			}
		}
		if tt.name == "many values" && !strings.Contains(err.Error(), "too many values for the size of the text") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

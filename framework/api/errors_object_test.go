//go:build full

package api_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

func TestInvalidErrorText(t *testing.T) {
	cause := errors.New("unknown suffix")
	tests := []struct {
		name string
		err  api.InvalidError
		want string
	}{
		{
			"all parts",
			api.InvalidError{Object: "pod default/web", Field: "spec.priority", Value: "1x", Err: cause},
			`pod default/web: spec.priority: "1x": unknown suffix`,
		},
		{"no value", api.InvalidError{Object: "node n1", Field: "metadata.name", Err: cause}, "node n1: metadata.name: unknown suffix"},
		{"no field", api.InvalidError{Object: "selector", Value: "a in", Err: cause}, `selector: "a in": unknown suffix`},
		{"only a field", api.InvalidError{Field: "spec"}, "spec"},
		{"nothing", api.InvalidError{}, "invalid object"},
		{"control characters", api.InvalidError{Object: "node n1", Value: "a\nb"}, `node n1: "a\nb"`},
		{"64 bytes", api.InvalidError{Value: strings.Repeat("x", 64)}, `"` + strings.Repeat("x", 64) + `"`},
		{"65 bytes", api.InvalidError{Value: strings.Repeat("x", 65)}, `"` + strings.Repeat("x", 64) + `"... (65 bytes)`},
		{"cut between characters", api.InvalidError{Value: strings.Repeat("é", 40) + "x"}, `"` + strings.Repeat("é", 32) + `"... (81 bytes)`},
		{"cut before a character", api.InvalidError{Value: "x" + strings.Repeat("é", 40)}, `"x` + strings.Repeat("é", 31) + `"... (81 bytes)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("Error() = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestInvalidErrorUnwraps(t *testing.T) {
	cause := errors.New("cause")
	if err := error(&api.InvalidError{Err: cause}); !errors.Is(err, cause) {
		t.Errorf("errors.Is(%v, cause) = false", err)
	}
}

func TestInvalidErrorQuotesControlCharacters(t *testing.T) {
	err := &api.InvalidError{Object: "pod default/a\nsimulate: all is well\x1b[2J", Field: "spec", Err: errors.New("is bad")}
	const want = `"pod default/a\nsimulate: all is well\x1b[2J": spec: is bad`
	if got := err.Error(); got != want {
		t.Errorf("Error() = %s, want %s", got, want)
	}
}

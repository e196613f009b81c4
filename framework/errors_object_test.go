package framework_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
)

func TestInvalidErrorText(t *testing.T) {
	cause := errors.New("unknown suffix")
	tests := []struct {
		name string
		err  framework.InvalidError
		want string
	}{
		{
			"all parts",
			framework.InvalidError{Object: "pod default/web", Field: "spec.priority", Value: "1x", Err: cause},
			`pod default/web: spec.priority: "1x": unknown suffix`,
		},
		{"no value", framework.InvalidError{Object: "node n1", Field: "metadata.name", Err: cause}, "node n1: metadata.name: unknown suffix"},
		{"no field", framework.InvalidError{Object: "selector", Value: "a in", Err: cause}, `selector: "a in": unknown suffix`},
		{"only a field", framework.InvalidError{Field: "spec"}, "spec"},
		{"nothing", framework.InvalidError{}, "invalid object"},
		{"control characters", framework.InvalidError{Object: "node n1", Value: "a\nb"}, `node n1: "a\nb"`},
		{"64 bytes", framework.InvalidError{Value: strings.Repeat("x", 64)}, `"` + strings.Repeat("x", 64) + `"`},
		{"65 bytes", framework.InvalidError{Value: strings.Repeat("x", 65)}, `"` + strings.Repeat("x", 64) + `"... (65 bytes)`},
		{"cut between characters", framework.InvalidError{Value: strings.Repeat("é", 40) + "x"}, `"` + strings.Repeat("é", 32) + `"... (81 bytes)`},
		{"cut before a character", framework.InvalidError{Value: "x" + strings.Repeat("é", 40)}, `"x` + strings.Repeat("é", 31) + `"... (81 bytes)`},
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
	if err := error(&framework.InvalidError{Err: cause}); !errors.Is(err, cause) {
		t.Errorf("errors.Is(%v, cause) = false", err)
	}
}

func TestInvalidErrorQuotesControlCharacters(t *testing.T) {
	err := &framework.InvalidError{Object: "pod default/a\nsimulate: all is well\x1b[2J", Field: "spec", Err: errors.New("is bad")}
	const want = `"pod default/a\nsimulate: all is well\x1b[2J": spec: is bad`
	if got := err.Error(); got != want {
		t.Errorf("Error() = %s, want %s", got, want)
	}
}

package args_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/args"
)

// TestBounds gives Decode and its errors texts just within each bound, and beyond it.
func TestBounds(t *testing.T) {
	decode := func(text string) []args.FieldError { return args.Decode([]byte(text), new(args.NodeResourcesFit)) }
	list := func(element string, n int) string {
		return `{"ignoredResources":[` + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + `]}`
	}
	nested := func(n int) string { return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	for _, tt := range []struct {
		name, text string
		errors     int
		last       args.ErrorType
	}{
		{"1,000 elements", list(`"a"`, 1000), 0, ""},
		{"1,001 elements", list(`"a"`, 1001), 1, args.TooMany},
		{"99 wrong values", list("1", 99), 99, args.WrongType},
		{"1,000 wrong values", list("1", 1000), 100, args.WrongType},
		{"9,999 levels", nested(9999), 1, args.UnknownField},
		{"10,000 levels", nested(10_000), 1, args.Syntax},
	} {
		errs := decode(tt.text)
		if len(errs) != tt.errors || len(errs) > 0 && errs[len(errs)-1].Type != tt.last {
			t.Errorf("%s: %d errors, want %d, the last of type %q", tt.name, len(errs), tt.errors, tt.last)
		}
	}
	long := args.Invalid(strings.Repeat("f", 1<<20), strings.Repeat("v", 1<<20), "")
	if n := len(long.Error()); n > 9<<10 {
		t.Errorf("an error of %d bytes about a long field and value, want at most 9 KiB", n)
	}
}

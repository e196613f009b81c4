//go:build full

package enough_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/internal/proof/enough"
)

// told keeps the errors of a test.
type told struct {
	testing.TB
	errors []string
}

func (t *told) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}

// A property is checked until its cases suffice, and no longer.
func TestCheck(t *testing.T) {
	one := map[string]int{}
	enough.Check(t, one, nil, func(*rapid.T) { one["case"]++ })
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"case": 2*one["case"] + 1, "other": 0}, func(*rapid.T) { seen["case"]++ })
	if one["case"] == 0 || seen["case"] != 3*one["case"] {
		t.Errorf("a round has %d cases, and there were %d, want three rounds", one["case"], seen["case"])
	}
}

// What is never seen is named.
func TestCheckNames(t *testing.T) {
	seen, told := map[string]int{}, &told{TB: t}
	enough.Check(told, seen, map[string]int{"case": 1, "none": 7}, func(*rapid.T) { seen["case"]++ })
	if len(told.errors) != 1 || told.errors[0] != "the random cases show too little: none: 0, want at least 7" {
		t.Errorf("Check says %q", told.errors)
	}
}

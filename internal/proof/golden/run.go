package golden

import (
	"fmt"
	"runtime/debug"
	"testing"
)

// maxLogged is how many differences of a family are printed.
const maxLogged = 20

// Run loads the cases of a family and checks each. It prints the number of cases and
// of differences. The check returns one line for each difference; if it panics, that
// counts as one.
func Run(t *testing.T, family string, check func(*Case) []string) {
	t.Helper()
	cases, err := Load(family)
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Errorf("golden %s/%s: no cases", System, family)
	}
	mismatches := 0
	for _, c := range cases {
		for _, difference := range guarded(c, check) {
			if mismatches++; mismatches <= maxLogged {
				t.Errorf("%s: %s", c.ID, difference)
			}
		}
	}
	fmt.Printf("golden %s/%s: %d cases, %d mismatches\n", System, family, len(cases), mismatches)
	if mismatches > 0 {
		t.Errorf("golden %s/%s: %d mismatches", System, family, mismatches)
	}
}

func guarded(c *Case, check func(*Case) []string) (differences []string) {
	defer func() {
		if r := recover(); r != nil {
			differences = append(differences, fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	return check(c)
}

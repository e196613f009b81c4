package golden

import (
	"fmt"
	"runtime/debug"
	"testing"
)

// maxLogged is how many differences of a family are shown.
const maxLogged = 20

// Run loads the cases of a family and checks each. The check returns what
// differs, a line for each difference; an error of the check itself, or a
// panic, counts as one.
func Run(t *testing.T, family string, check func(*Case) []string) {
	t.Helper()
	cases, err := Load(family)
	if err != nil {
		t.Fatal(err)
	}
	Report(t, System+"/"+family, cases, check)
}

// Report checks the cases and prints how many there are and how many
// differences they have.
func Report(t *testing.T, title string, cases []*Case, check func(*Case) []string) {
	t.Helper()
	if len(cases) == 0 {
		t.Errorf("golden %s: no cases", title)
	}
	mismatches := 0
	for _, c := range cases {
		for _, difference := range guarded(c, check) {
			if mismatches++; mismatches <= maxLogged {
				t.Errorf("%s: %s", c.ID, difference)
			}
		}
	}
	fmt.Printf("golden %s: %d cases, %d mismatches\n", title, len(cases), mismatches)
	if mismatches > 0 {
		t.Errorf("golden %s: %d mismatches", title, mismatches)
	}
}

// NotRun reports a family that cannot be checked yet.
func NotRun(t *testing.T, family, needs string) {
	t.Helper()
	fmt.Printf("golden %s/%s: not run (needs %s)\n", System, family, needs)
	t.Skipf("needs %s", needs)
}

func guarded(c *Case, check func(*Case) []string) (differences []string) {
	defer func() {
		if r := recover(); r != nil {
			differences = append(differences, fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	return check(c)
}

package devices

import "testing"

// TestCompare runs short comparisons: neither may differ, and both must have met every
// way that a question can end.
func TestCompare(t *testing.T) {
	for name, compare := range map[string]func(uint64, int) (Count, error){
		"allocations": Allocations, "selectors": Selectors,
		"plugin": func(seed uint64, cases int) (Count, error) { return Plugin(seed, cases, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			n, err := compare(1, 400)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range n.Differences {
				if i < 5 {
					t.Error(d)
				}
			}
			if n.Granted == 0 || n.Errors == 0 || len(n.Differences) > 0 {
				t.Errorf("%d cases, %d questions, %d granted, %d errors, %d refused, %d differences", n.Cases, n.Questions, n.Granted, n.Errors, n.Refused, len(n.Differences))
			}
			t.Logf("%d cases, %d questions, %d granted, %d errors, %d refused", n.Cases, n.Questions, n.Granted, n.Errors, n.Refused)
		})
	}
}

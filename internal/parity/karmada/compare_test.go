package karmada

import "testing"

// A first look; cmd/compare runs as many cases as one likes.
func TestCompare(t *testing.T) {
	for n := range uint64(1600) {
		if kind, o := Case(3, n); o.Mismatch != "" {
			t.Errorf("case %d of seed 3, %s: %s", n, kind, o.Mismatch)
		}
	}
}

//go:build full

package main

import (
	"slices"
	"testing"
)

func TestCompareNames(t *testing.T) {
	want := []string{"gpu-1", "node-1", "node-01", "node-2", "node-10", "node-10a", "node-10b", "node-a", "x"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compareNames)
	if !slices.Equal(got[:1], want[:1]) || !slices.Equal(got[3:], want[3:]) {
		t.Errorf("sorted = %q, want %q", got, want)
	}
	for _, a := range want {
		for _, b := range want {
			if x, y := compareNames(a, b), compareNames(b, a); x != -y || (x == 0) != (a == b) {
				t.Errorf("compareNames(%q, %q) = %d and the other way %d", a, b, x, y)
			}
		}
	}
}

func TestWeightsOf(t *testing.T) {
	got, err := weightsOf("0..2,7")
	if err != nil || !slices.Equal(got, []int64{0, 1, 2, 7}) {
		t.Errorf("weightsOf(0..2,7) = %v, %v", got, err)
	}
	for _, text := range []string{"", "x", "-1", "3..1", "0..9999999", "1..", "99999999999", "0..99999,0", "0..60000,0..60000"} {
		if got, err := weightsOf(text); err == nil {
			t.Errorf("weightsOf(%q) = %v, want an error", text, got)
		}
	}
}

func TestTally(t *testing.T) {
	got := tally([]string{"b", "a", "b", "c", "d", "e", "f"})
	if want := "b x2, a, c, d, and 2 more"; got != want {
		t.Errorf("tally = %q, want %q", got, want)
	}
}

//go:build full

package openb

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestPairwise tells the order of the sums by numbers that only some orders lose.
func TestPairwise(t *testing.T) {
	const big = 1e16 // one more is the same number
	long := make([]float64, 136)
	long[0], long[63], long[64], long[135] = big, -big, 1, 1
	for name, test := range map[string]struct {
		x    []float64
		want float64
	}{
		"few: from left to right":       {[]float64{big, 1, -big, 1}, 1},
		"eight: in pairs":               {[]float64{big, 1, -big, 1, 0, 0, 0, 0}, 0},
		"sixteen: each eighth together": {[]float64{big, 0, 0, 0, 0, 0, 0, 1, -big, 0, 0, 0, 0, 0, 0, 1}, 2},
		"the rest comes last":           {[]float64{big, 0, 0, 0, 0, 0, 0, -big, 1, 1}, 2},
		"blocks: half and half":         {long, 2}, // 0 + (1 + 1)
	} {
		if got := pairwise(test.x); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestMeanLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 700).Draw(t, "x")
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		if got, want := mean(x), sum/float64(len(x)); math.Abs(got-want) > 1e-6 {
			t.Fatalf("mean = %v, want %v", got, want)
		}
	})
}

// TestRound: halves go to the even digit, and the product with 100 is rounded first.
func TestRound(t *testing.T) {
	for x, want := range map[float64]float64{1.005: 1, 0.125: 0.12, 0.375: 0.38, 2.675: 2.68, -0.125: -0.12, 95.2274: 95.23} {
		if got := round(x); got != want {
			t.Errorf("round(%v) = %v, want %v", x, got, want)
		}
	}
}

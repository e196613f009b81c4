//go:build full

package estimator

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestArithmeticPercent(t *testing.T) {
	tests := []struct {
		used, total     int64
		saturating, amd int64
	}{
		{1, 2, 50, 50},
		{654, 1000, 65, 65},
		{655, 1000, 66, 66}, // half away from zero
		{-655, 1000, -66, -66},
		{math.MaxInt64, 1, math.MaxInt64, math.MinInt64},
		{math.MinInt64, 1, math.MinInt64, math.MinInt64},
	}
	for _, test := range tests {
		if got := Saturating.Percent(test.used, test.total); got != test.saturating {
			t.Errorf("Saturating.Percent(%d, %d) = %d, want %d", test.used, test.total, got, test.saturating)
		}
		if got := Wrapping.Percent(test.used, test.total); got != test.amd {
			t.Errorf("Wrapping.Percent(%d, %d) = %d, want %d", test.used, test.total, got, test.amd)
		}
	}
}

// A wide sum is exact: additions can be undone, and only reading cuts.
func TestWide(t *testing.T) {
	number := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
	rapid.Check(t, func(t *rapid.T) {
		var sum wide
		want := new(big.Int)
		for _, x := range rapid.SliceOf(number).Draw(t, "added") {
			sum.add(x)
			want.Add(want, big.NewInt(x))
		}
		for _, x := range rapid.SliceOf(number).Draw(t, "taken") {
			sum.sub(x)
			want.Sub(want, big.NewInt(x))
		}
		times, n := number.Draw(t, "times"), rapid.Int64Range(0, 1<<30).Draw(t, "n")
		sum = sum.plusTimes(times, n)
		want.Add(want, new(big.Int).Mul(big.NewInt(times), big.NewInt(n)))
		more := number.Draw(t, "more")
		want.Add(want, big.NewInt(more))
		cut := want.Int64()
		if !want.IsInt64() {
			cut = math.MaxInt64
			if want.Sign() < 0 {
				cut = math.MinInt64
			}
		}
		if got := Saturating.sum(sum, widen(more)); got != cut {
			t.Fatalf("sum = %d, want %d", got, cut)
		}
		low := new(big.Int).And(want, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		if got := Wrapping.sum(sum, widen(more)); got != int64(low) {
			t.Fatalf("wrapping sum = %d, want %d", got, int64(low))
		}
	})
}

package resource

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestVectorAt(t *testing.T) {
	v := Vector{1, 2, 3}
	for i, want := range map[int]int64{0: 1, 2: 3, 3: 0, math.MaxInt: 0, -1: 0} {
		if got := v.At(i); got != want {
			t.Errorf("At(%d) = %d, want %d", i, got, want)
		}
	}
	if got := Vector(nil).At(0); got != 0 {
		t.Errorf("Vector(nil).At(0) = %d, want 0", got)
	}
}

func TestVectorWith(t *testing.T) {
	dirty := Vector{1, 2, 8, 9}[:2] // what lies between length and capacity must not show
	tests := []struct {
		name string
		v    Vector
		i    int
		want Vector
	}{
		{"inside", Vector{1, 2, 3}, 1, Vector{1, 7, 3}},
		{"at the end", Vector{1}, 1, Vector{1, 7}},
		{"beyond", Vector{1}, 3, Vector{1, 0, 0, 7}},
		{"nil", nil, 2, Vector{0, 0, 7}},
		{"spare capacity", dirty, 3, Vector{1, 2, 0, 7}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.v.With(test.i, 7)); diff != "" {
				t.Errorf("With(%d, 7) (-want +got):\n%s", test.i, diff)
			}
		})
	}
}

func TestVectorAddSub(t *testing.T) {
	tests := []struct {
		name      string
		v, w      Vector
		sum, diff Vector
	}{
		{"nil", nil, nil, nil, nil},
		{"same length", Vector{1, 2}, Vector{10, 20}, Vector{11, 22}, Vector{-9, -18}},
		{"shorter", Vector{1}, Vector{10, 20}, Vector{11, 20}, Vector{-9, -20}},
		{"longer", Vector{1, 2, 3}, Vector{10}, Vector{11, 2, 3}, Vector{-9, 2, 3}},
		{
			"saturating",
			Vector{math.MaxInt64, math.MinInt64, 1},
			Vector{1, -1, math.MinInt64},
			Vector{math.MaxInt64, math.MinInt64, math.MinInt64 + 1},
			Vector{math.MaxInt64 - 1, math.MinInt64 + 1, math.MaxInt64},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := slices.Clone(test.w)
			if diff := cmp.Diff(test.sum, slices.Clone(test.v).Add(w)); diff != "" {
				t.Errorf("Add (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.diff, slices.Clone(test.v).Sub(w)); diff != "" {
				t.Errorf("Sub (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.w, w); diff != "" {
				t.Errorf("operand changed (-want +got):\n%s", diff)
			}
		})
	}
	v := Vector{1, 2}
	if got := v.Add(v); !got.Equal(Vector{2, 4}) {
		t.Errorf("v.Add(v) = %v, want [2 4]", got)
	}
}

func TestVectorEqual(t *testing.T) {
	tests := []struct {
		v, w Vector
		want bool
	}{
		{nil, nil, true},
		{nil, Vector{}, true},
		{nil, Vector{0, 0}, true},
		{Vector{1}, Vector{1, 0}, true},
		{Vector{1}, Vector{1, 2}, false},
		{Vector{1, 2}, Vector{2, 1}, false},
	}
	for _, test := range tests {
		if got, back := test.v.Equal(test.w), test.w.Equal(test.v); got != test.want || back != test.want {
			t.Errorf("%v.Equal(%v) = %t, and back %t, want %t", test.v, test.w, got, back, test.want)
		}
	}
}

func TestSaturation(t *testing.T) {
	number := rapid.OneOf(
		rapid.Int64(), rapid.Int64Range(-3, 3), rapid.Int64Range(-1<<32, 1<<32),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, 3037000499, 3037000500}),
	)
	operations := []struct {
		name string
		got  func(a, b int64) int64
		want func(z, a, b *big.Int) *big.Int
	}{
		{"SatAdd", SatAdd, (*big.Int).Add},
		{"SatSub", SatSub, (*big.Int).Sub},
		{"SatMul", SatMul, (*big.Int).Mul},
	}
	mulDiv := func(t interface{ Errorf(string, ...any) }, a, b, plus, by uint64) {
		of := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
		want := uint64(math.MaxUint64)
		if by > 0 {
			if q := new(big.Int).Div(new(big.Int).Add(new(big.Int).Mul(of(a), of(b)), of(plus)), of(by)); q.IsUint64() {
				want = q.Uint64()
			}
		}
		if got := MulDiv(a, b, plus, by); got != want {
			t.Errorf("MulDiv(%d, %d, %d, %d) = %d, want %d", a, b, plus, by, got, want)
		}
	}
	check := func(t interface{ Errorf(string, ...any) }, a, b int64) {
		for _, o := range operations {
			if got, want := o.got(a, b), saturated(o.want(new(big.Int), big.NewInt(a), big.NewInt(b))); got != want {
				t.Errorf("%s(%d, %d) = %d, want %d", o.name, a, b, got, want)
			}
		}
	}
	ends := []int64{math.MinInt64, math.MinInt64 + 1, -2, -1, 0, 1, 2, math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range ends {
		for _, b := range ends {
			check(t, a, b)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		check(t, a, b)
		mulDiv(t, uint64(a), uint64(b), uint64(number.Draw(t, "plus")), Magnitude(number.Draw(t, "by")))
	})
}

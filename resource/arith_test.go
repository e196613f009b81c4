package resource

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestAddSub(t *testing.T) {
	tests := []struct {
		a, b       string
		sum, diff  string
		sumFormat  Format
		diffFormat Format
	}{
		{"1", "2", "3", "-1", DecimalSI, DecimalSI},
		{"100m", "0.9", "1", "-800m", DecimalSI, DecimalSI},
		{"1", "1n", "1000000001n", "999999999n", DecimalSI, DecimalSI},
		{"1Gi", "512Mi", "1536Mi", "512Mi", BinarySI, BinarySI},
		{"1Gi", "1G", "2073741824", "73741824", BinarySI, BinarySI},
		{"1G", "1Gi", "2073741824", "-73741824", DecimalSI, DecimalSI},
		{"1Ki", "1m", "1024001m", "1023999m", BinarySI, BinarySI},
		{"1Ki", "1000m", "1025", "1023", BinarySI, BinarySI},
		{"0", "1Ki", "1Ki", "-1Ki", BinarySI, BinarySI},
		{"1Ki", "0", "1Ki", "1Ki", BinarySI, BinarySI},
		{"1e3", "1", "1001", "999", DecimalExponent, DecimalExponent},
		{"0", "1e3", "1e3", "-1e3", DecimalExponent, DecimalExponent},
		{"9223372036854775807", "1", "9223372036854775808", "9223372036854775806", DecimalSI, DecimalSI},
		{"-9223372036854775808", "1", "-9223372036854775807", "-9223372036854775809", DecimalSI, DecimalSI},
		{"-9223372036854775808", "-9223372036854775808", "-18446744073709551616", "0", DecimalSI, DecimalSI},
		{"1E", "1n", "1000000000000000000000000001n", "999999999999999999999999999n", DecimalSI, DecimalSI},
		{"4Ei", "4Ei", "8Ei", "0", BinarySI, BinarySI},
	}
	for _, test := range tests {
		t.Run(test.a+" and "+test.b, func(t *testing.T) {
			a, b := MustParse(test.a), MustParse(test.b)
			if got := a.Add(b); got.String() != test.sum || got.Format() != test.sumFormat {
				t.Errorf("%v + %v = %v (%v), want %s (%v)", a, b, got, got.Format(), test.sum, test.sumFormat)
			}
			if got := a.Sub(b); got.String() != test.diff || got.Format() != test.diffFormat {
				t.Errorf("%v - %v = %v (%v), want %s (%v)", a, b, got, got.Format(), test.diff, test.diffFormat)
			}
		})
	}
}

func TestNeg(t *testing.T) {
	tests := []struct{ q, want Quantity }{
		{Quantity{}, Quantity{}},
		{New(5, BinarySI), New(-5, BinarySI)},
		{Milli(-1), Milli(1)},
		{New(math.MinInt64, DecimalSI), MustParse("9223372036854775808")},
		{MustParse("9223372036854775808"), New(math.MinInt64, DecimalSI)},
	}
	for _, test := range tests {
		if got := test.q.Neg(); !got.Equal(test.want) || got.Format() != test.want.Format() || !wellFormed(got) {
			t.Errorf("(%v).Neg() = %v, want %v", test.q, got, test.want)
		}
	}
}

func TestCmp(t *testing.T) {
	ascending := []string{
		"-1e30", "-9223372036854775809", "-9223372036854775808", "-1E", "-1Ki", "-1001m", "-1", "-999999999n", "-1m", "-1n",
		"0", "1n", "1u", "1m", "999m", "1", "1000000001n", "1001m", "2", "1k", "1Ki", "1M", "1Mi", "9223372036854775807n",
		"9223372036854775808n", "1E", "1Ei", "9223372036854775807", "9223372036854775808", "1e30",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := min(max(i-j, -1), 1)
			if got := MustParse(a).Cmp(MustParse(b)); got != want {
				t.Errorf("(%s).Cmp(%s) = %d, want %d", a, b, got, want)
			}
			if got := MustParse(a).Equal(MustParse(b)); got != (want == 0) {
				t.Errorf("(%s).Equal(%s) = %t, want %t", a, b, got, want == 0)
			}
		}
	}
	for _, pair := range [][2]string{{"1Ki", "1024"}, {"1000m", "1"}, {"1e3", "1k"}, {"0.5Gi", "512Mi"}, {"1E", "1e18"}} {
		if a, b := MustParse(pair[0]), MustParse(pair[1]); a.Cmp(b) != 0 || !a.Equal(b) {
			t.Errorf("%s and %s are not equal, want equal", pair[0], pair[1])
		}
	}
}

// Sums, differences, negations and comparisons agree with rational numbers.
func TestArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawQuantity(t, "a"), drawQuantity(t, "b")
		x, y := exact(a), exact(b)
		check := func(what string, got Quantity, want *big.Rat) {
			if exact(got).Cmp(want) != 0 {
				t.Errorf("%s = %v, want %s", what, got, want.RatString())
			}
			if !wellFormed(got) {
				t.Errorf("%s = %#v, not the one representation of its value", what, got)
			}
		}
		check("a + b", a.Add(b), new(big.Rat).Add(x, y))
		check("a - b", a.Sub(b), new(big.Rat).Sub(x, y))
		check("-a", a.Neg(), new(big.Rat).Neg(x))
		check("a + b - b", a.Add(b).Sub(b), x)
		check("a - b + b", a.Sub(b).Add(b), x)
		check("a unchanged", a, x)
		if got, want := a.Cmp(b), x.Cmp(y); got != want || b.Cmp(a) != -want || a.Equal(b) != (want == 0) {
			t.Errorf("(%v).Cmp(%v) = %d, want %d", a, b, got, want)
		}
		if got, want := a.Sign(), x.Sign(); got != want || a.IsZero() != (want == 0) {
			t.Errorf("(%v).Sign() = %d, want %d", a, got, want)
		}
	})
}

package resource

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// This file holds the simple reference for Quantity, a big.Rat, and the generators
// of the property tests.

// rational returns the value of a text of the grammar, before any rounding and
// capping. The text must have a digit.
func rational(t interface{ Fatalf(string, ...any) }, text string) *big.Rat {
	end := strings.LastIndexAny(text, "0123456789.") + 1
	number, suffix := text[:end], text[end:]
	factor := big.NewRat(1, 1)
	switch {
	case strings.HasSuffix(suffix, "i"):
		power := 10 * (1 + strings.Index("KMGTPE", suffix[:1]))
		factor.SetInt(new(big.Int).Lsh(big.NewInt(1), uint(power)))
	case suffix != "":
		power := map[string]int64{"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}[suffix]
		factor = tenTo(power)
	}
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		power, err := strconv.ParseInt(number[i+1:], 10, 32)
		if err != nil {
			t.Fatalf("exponent of %q: %v", text, err)
		}
		number, factor = number[:i], tenTo(power)
	}
	v, ok := new(big.Rat).SetString(strings.TrimSuffix(number, "."))
	if !ok {
		t.Fatalf("%q has no number", text)
	}
	return v.Mul(v, factor)
}

// tenTo returns 10^e.
func tenTo(e int64) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(e, -e)), nil)
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// roundAway returns v in whole units, rounded away from zero.
func roundAway(v *big.Rat) *big.Int {
	magnitude := new(big.Rat).Abs(v)
	n := new(big.Int).Add(magnitude.Num(), magnitude.Denom())
	n.Sub(n, big.NewInt(1))
	n.Div(n, magnitude.Denom()) // floor((num + denom - 1) / denom)
	if v.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

// saturated returns v, or the nearest end of int64.
func saturated(v *big.Int) int64 {
	switch {
	case v.IsInt64():
		return v.Int64()
	case v.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// exact returns the value of q.
func exact(q Quantity) *big.Rat {
	return new(big.Rat).SetFrac(q.nano(), big.NewInt(1e9))
}

// wellFormed reports whether q is in the only valid representation of its value.
func wellFormed(q Quantity) bool {
	if q.b != nil {
		small := fromNano(q.b, q.f)
		return q.n == 0 && q.p == 0 && small.b != nil
	}
	return q.p == 0 || q.p <= 3 && q.n%1000 != 0
}

var suffixes = slices.Concat(decimalSuffix[:], binarySuffix[1:])

// drawText draws a text of the grammar, with digits.
func drawText(t *rapid.T) string {
	sign := rapid.SampledFrom([]string{"", "", "", "-", "+"}).Draw(t, "sign")
	number := rapid.OneOf(
		rapid.StringMatching(`[0-9]{1,4}`),
		rapid.StringMatching(`[0-9]{1,30}(\.[0-9]{0,25})?`),
		rapid.StringMatching(`\.[0-9]{1,15}`),
		rapid.StringMatching(`[1-9]{1,3}0{0,30}`),
		rapid.SampledFrom([]string{
			"0", "1023", "1024", "999", "1000", "9223372036854775807", "9223372036854775808",
			"9223372036854775.807", "9.223372036854775807", "9.2233720368547758075", "8191.99999999999", "1152921504606846976",
		}),
	).Draw(t, "number")
	exponents := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + strconv.Itoa(rapid.IntRange(-40, 40).Draw(t, "exponent"))
	})
	return sign + number + rapid.OneOf(rapid.SampledFrom(suffixes), rapid.SampledFrom(suffixes), exponents).Draw(t, "suffix")
}

// drawQuantity draws a quantity of any size that Parse, New or Milli returns.
func drawQuantity(t *rapid.T, label string) Quantity {
	whole := rapid.OneOf(
		rapid.Int64(),
		rapid.Int64Range(-2000, 2000),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, 1 << 62, -1 << 62}),
	)
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) Quantity {
			return New(whole.Draw(t, "v"), rapid.SampledFrom([]Format{DecimalSI, BinarySI, DecimalExponent}).Draw(t, "format"))
		}),
		rapid.Custom(func(t *rapid.T) Quantity { return Milli(whole.Draw(t, "v")) }),
		rapid.Custom(func(t *rapid.T) Quantity { return MustParse(drawText(t)) }),
	).Draw(t, label)
}

func TestRational(t *testing.T) {
	tests := []struct{ text, want string }{
		{"1", "1"},
		{"-1.50", "-3/2"},
		{".5Ki", "512"},
		{"5.m", "1/200"},
		{"3n", "3/1000000000"},
		{"2E", "2000000000000000000"},
		{"2Ei", "2305843009213693952"},
		{"2e-3", "1/500"},
		{"+2E3", "2000"},
	}
	for _, test := range tests {
		if got := rational(t, test.text).RatString(); got != test.want {
			t.Errorf("rational(%q) = %s, want %s", test.text, got, test.want)
		}
	}
}

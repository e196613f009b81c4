package resource

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text   string
		want   string // canonical text
		format Format
		value  int64
		milli  int64
	}{
		// Plain numbers.
		{"0", "0", DecimalSI, 0, 0},
		{"00", "0", DecimalSI, 0, 0},
		{"-0", "0", DecimalSI, 0, 0},
		{"0.000", "0", DecimalSI, 0, 0},
		{"0Ki", "0", BinarySI, 0, 0},
		{"0e5", "0", DecimalExponent, 0, 0},
		{"0m", "0", DecimalSI, 0, 0},
		{"1", "1", DecimalSI, 1, 1000},
		{"+1", "1", DecimalSI, 1, 1000},
		{"-1", "-1", DecimalSI, -1, -1000},
		{"0100", "100", DecimalSI, 100, 100_000},
		{"999", "999", DecimalSI, 999, 999_000},
		{"1000", "1k", DecimalSI, 1000, 1_000_000},
		{"1001", "1001", DecimalSI, 1001, 1_001_000},
		{"110", "110", DecimalSI, 110, 110_000},
		{"1500000", "1500k", DecimalSI, 1_500_000, 1_500_000_000},
		{"0.5", "500m", DecimalSI, 1, 500},
		{".5", "500m", DecimalSI, 1, 500},
		{"5.", "5", DecimalSI, 5, 5000},
		{"1.5", "1500m", DecimalSI, 2, 1500},
		{"-1.5", "-1500m", DecimalSI, -2, -1500},
		{"1.500", "1500m", DecimalSI, 2, 1500},
		{"0.1234", "123400u", DecimalSI, 1, 124},
		{"1.00000000000000000000000000", "1", DecimalSI, 1, 1000},

		// DecimalSI.
		{"100m", "100m", DecimalSI, 1, 100},
		{"1000m", "1", DecimalSI, 1, 1000},
		{"1500m", "1500m", DecimalSI, 2, 1500},
		{"0.1m", "100u", DecimalSI, 1, 1},
		{"1n", "1n", DecimalSI, 1, 1},
		{"1000n", "1u", DecimalSI, 1, 1},
		{"1000000n", "1m", DecimalSI, 1, 1},
		{"1500100u", "1500100u", DecimalSI, 2, 1501},
		{"-1n", "-1n", DecimalSI, -1, -1},
		{"5k", "5k", DecimalSI, 5000, 5_000_000},
		{"5M", "5M", DecimalSI, 5e6, 5e9},
		{"10G", "10G", DecimalSI, 10e9, 10e12},
		{"1.5G", "1500M", DecimalSI, 15e8, 15e11},
		{"1000G", "1T", DecimalSI, 1e12, 1e15},
		{"3T", "3T", DecimalSI, 3e12, 3e15},
		{"4P", "4P", DecimalSI, 4e15, 4e18},
		{"9E", "9E", DecimalSI, 9e18, math.MaxInt64},
		{"10E", "10E", DecimalSI, math.MaxInt64, math.MaxInt64},
		{"-10E", "-10E", DecimalSI, math.MinInt64, math.MinInt64},
		{"12345678901234567890", "12345678901234567890", DecimalSI, math.MaxInt64, math.MaxInt64},
		{"9223372036854775807", "9223372036854775807", DecimalSI, math.MaxInt64, math.MaxInt64},
		{"-9223372036854775808", "-9223372036854775808", DecimalSI, math.MinInt64, math.MinInt64},
		{"9223372036854775.807", "9223372036854775807m", DecimalSI, 9223372036854776, math.MaxInt64},
		{"9223372036854775.8070", "9223372036854775807m", DecimalSI, 9223372036854776, math.MaxInt64},
		{"9223372036854775.808", "9223372036854775808m", DecimalSI, 9223372036854776, math.MaxInt64},

		// DecimalExponent.
		{"1e3", "1e3", DecimalExponent, 1000, 1_000_000},
		{"1E3", "1e3", DecimalExponent, 1000, 1_000_000},
		{"1e+3", "1e3", DecimalExponent, 1000, 1_000_000},
		{"1e003", "1e3", DecimalExponent, 1000, 1_000_000},
		{"1e4", "10e3", DecimalExponent, 10_000, 10_000_000},
		{"1e5", "100e3", DecimalExponent, 100_000, 100_000_000},
		{"12e0", "12", DecimalExponent, 12, 12_000},
		{"1e-1", "100e-3", DecimalExponent, 1, 100},
		{"5e-9", "5e-9", DecimalExponent, 1, 1},
		{"1.5e9", "1500e6", DecimalExponent, 15e8, 15e11},
		{"1e18", "1e18", DecimalExponent, 1e18, math.MaxInt64},
		{"1e21", "1e21", DecimalExponent, math.MaxInt64, math.MaxInt64},
		{"-1e100", "-10e99", DecimalExponent, math.MinInt64, math.MinInt64},
		{"1E", "1E", DecimalSI, 1e18, math.MaxInt64},

		// BinarySI.
		{"1Ki", "1Ki", BinarySI, 1024, 1_024_000},
		{"500Mi", "500Mi", BinarySI, 524_288_000, 524_288_000_000},
		{"1024Mi", "1Gi", BinarySI, 1 << 30, 1000 << 30},
		{"1025Mi", "1025Mi", BinarySI, 1025 << 20, 1025_000 << 20},
		{"0.5Gi", "512Mi", BinarySI, 1 << 29, 1000 << 29},
		{"1.5Gi", "1536Mi", BinarySI, 3 << 29, 3000 << 29},
		{"1.5Ti", "1536Gi", BinarySI, 3 << 39, 3000 << 39},
		{"-2Ki", "-2Ki", BinarySI, -2048, -2_048_000},
		{"0.5Ki", "512", BinarySI, 512, 512_000},
		{"0.9765625Ki", "1k", BinarySI, 1000, 1_000_000},
		{"1.1Ki", "1126400m", BinarySI, 1127, 1_126_400},
		{"0.0001Ki", "102400u", DecimalSI, 1, 103},
		{"-0.0001Ki", "-102400u", DecimalSI, -1, -103},
		{"1Ti", "1Ti", BinarySI, 1 << 40, 1000 << 40},
		{"1Pi", "1Pi", BinarySI, 1 << 50, 1000 << 50},
		{"7Ei", "7Ei", BinarySI, 7 << 60, math.MaxInt64},
		{"8Ei", "9223372036854775807", BinarySI, math.MaxInt64, math.MaxInt64},
		{"-8Ei", "-9223372036854775807", BinarySI, -math.MaxInt64, math.MinInt64},
		{"123456789012345678901234567890Ki", "9223372036854775807", BinarySI, math.MaxInt64, math.MaxInt64},

		// Rounding to nano-units, away from zero.
		{"0.1n", "1n", DecimalSI, 1, 1},
		{"-0.1n", "-1n", DecimalSI, -1, -1},
		{"0.0000000001", "1n", DecimalSI, 1, 1},
		{"1.0000000001", "1000000001n", DecimalSI, 2, 1001},
		{"1.9999999999", "2", DecimalSI, 2, 2000},
		{"1e-10", "1e-9", DecimalExponent, 1, 1},
		{"1e-2147483648", "1e-9", DecimalExponent, 1, 1},
		{"-123456789e-999999", "-1e-9", DecimalExponent, -1, -1},

		// Digits may be missing.
		{"+", "0", DecimalSI, 0, 0},
		{"-", "0", DecimalSI, 0, 0},
		{".", "0", DecimalSI, 0, 0},
		{"m", "0", DecimalSI, 0, 0},
		{"-.Ti", "0", BinarySI, 0, 0},
		{"e-9", "0", DecimalExponent, 0, 0},
		{"E", "0", DecimalSI, 0, 0},
		{"0Pi", "0", BinarySI, 0, 0},
		{"0e999999999", "0", DecimalExponent, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			q, err := Parse(test.text)
			if err != nil {
				t.Fatalf("Parse(%q): %v", test.text, err)
			}
			if got := q.String(); got != test.want {
				t.Errorf("Parse(%q).String() = %q, want %q", test.text, got, test.want)
			}
			if got := q.Format(); got != test.format {
				t.Errorf("Parse(%q).Format() = %v, want %v", test.text, got, test.format)
			}
			if got := q.Value(); got != test.value {
				t.Errorf("Parse(%q).Value() = %d, want %d", test.text, got, test.value)
			}
			if got := q.MilliValue(); got != test.milli {
				t.Errorf("Parse(%q).MilliValue() = %d, want %d", test.text, got, test.milli)
			}
			if !wellFormed(q) {
				t.Errorf("Parse(%q) = %#v, not the one representation of its value", test.text, q)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	const suffix, exponent, digits, long, great = "does not consist of a number and a suffix of Kubernetes",
		"has an exponent that is no 32-bit integer", "has no digits", "is longer than 1024 bytes", "is 10^1000 or more"
	tests := []struct {
		name, text, reason string
	}{
		{"empty", "", "is empty"},
		{"space before", " 1", suffix},
		{"space behind", "1 ", suffix},
		{"word", "abc", suffix},
		{"two signs", "+-1", suffix},
		{"sign behind", "1-", suffix},
		{"two points", "1.2.3", suffix},
		{"comma", "1,5", suffix},
		{"underscore", "1_000", suffix},
		{"hexadecimal", "0x10", suffix},
		{"upper K", "1K", suffix},
		{"lower ki", "1ki", suffix},
		{"bytes", "1MB", suffix},
		{"nothing is Zi", "1Zi", suffix},
		{"two suffixes", "1mm", suffix},
		{"i alone", "1i", suffix},
		{"lower e alone", "1e", suffix},
		{"infinite", "Inf", suffix},
		{"Arabic digits", "\u0661", suffix},
		{"invalid UTF-8", "1\xff", suffix},
		{"no exponent", "1e+", exponent},
		{"exponent with a point", "1e1.5", exponent},
		{"exponent with a suffix", "1e3Ki", exponent},
		{"exponent of an exponent", "1e1e1", exponent},
		{"exponent with an underscore", "1e1_0", exponent},
		{"exponent beyond int32", "1e2147483648", exponent},
		{"exponent below int32", "1e-2147483649", exponent},
		{"no digits before Pi", "Pi", digits},
		{"no digits before Ei", "-.Ei", digits},
		{"no digits before a small exponent", "e-10", digits},
		{"great exponent", "1e999999999", great},
		{"10^1000", "1e1000", great},
		{"rounded to 10^1000", strings.Repeat("9", 1000) + ".9999999999", great},
		{"long", strings.Repeat("1", 1025), long},
		{"ten million digits", strings.Repeat("7", 10_000_000), long},
		{"ten million zeros", strings.Repeat("0", 10_000_000), long},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q, err := Parse(test.text)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("Parse = %v, %v, want a *SyntaxError", q, err)
			}
			if syntax.Reason != test.reason {
				t.Errorf("reason %q, want %q", syntax.Reason, test.reason)
			}
			begin, cut := strings.CutSuffix(syntax.Text, "...")
			if len(syntax.Text) > 70 || !strings.HasPrefix(test.text, begin) || !cut && begin != test.text {
				t.Errorf("error quotes %q", syntax.Text)
			}
			if !q.IsZero() || q.Format() != DecimalSI {
				t.Errorf("Parse returned %v with an error, want the zero value", q)
			}
		})
	}
}

func TestParseGreatest(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("9", 1000), "9e999", strings.Repeat("9", 1000) + ".999999999",
		strings.Repeat("0", 1023) + "1", "0." + strings.Repeat("0", 1021) + "1", strings.Repeat("9", 998) + "Ei",
	} {
		q, err := Parse(text)
		if err != nil {
			t.Errorf("Parse of %d bytes: %v", len(text), err)
			continue
		}
		if again, err := Parse(q.String()); err != nil || !again.Equal(q) {
			t.Errorf("Parse(%q) = %v, %v", q, again, err)
		}
	}
}

func TestMustParse(t *testing.T) {
	if got := MustParse("1500m"); !got.Equal(Milli(1500)) {
		t.Errorf(`MustParse("1500m") = %v, want 1500m`, got)
	}
	defer func() {
		const want = `resource.MustParse: quantity "1 core" does not consist of a number and a suffix of Kubernetes`
		if got := recover(); got != want {
			t.Errorf(`MustParse("1 core") panics with %v, want %s`, got, want)
		}
	}()
	MustParse("1 core")
}

// Parse rounds to nano-units and caps binary values; it changes nothing else.
func TestParseIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		q, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		v := rational(t, text)
		want := new(big.Rat).SetFrac(roundAway(new(big.Rat).Mul(v, big.NewRat(1e9, 1))), big.NewInt(1e9))
		if strings.HasSuffix(text, "i") {
			if limit := big.NewRat(math.MaxInt64, 1); want.Cmp(limit) > 0 {
				want = limit
			} else if limit.Neg(limit); want.Cmp(limit) < 0 {
				want = limit
			}
		}
		if got := exact(q); got.Cmp(want) != 0 {
			t.Errorf("Parse(%q) = %s, want %s", text, got.RatString(), want.RatString())
		}
		if !wellFormed(q) {
			t.Errorf("Parse(%q) = %#v, not the one representation of its value", text, q)
		}
	})
}

// The canonical text reads back as the same value, and prints the same again.
func TestParseOfString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := MustParse(drawText(t))
		text := q.String()
		if got := rational(t, text); got.Cmp(exact(q)) != 0 {
			t.Fatalf("%q stands for %s, want %s", text, got.RatString(), exact(q).RatString())
		}
		again, err := Parse(text)
		if err != nil || !again.Equal(q) || again.String() != text {
			t.Errorf("Parse(%q) = %q, %v", text, again, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "0", "100m", "500Mi", "-1.5e-3", "+.5Ki", "9223372036854775808", "1000E", "8Ei", "0.1n", "1e2147483647",
		"1e-2147483648", "Pi", "Ti", ".", "0000000000000000000000000001", "1.0000000000000000000000001Ki", "4E6293", "\xff", "1e1e1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			if len(err.Error()) > 512 {
				t.Errorf("Parse(%d bytes): an error of %d bytes", len(text), len(err.Error()))
			}
			return
		}
		if !wellFormed(q) {
			t.Errorf("Parse(%q) = %#v, not the one representation of its value", text, q)
		}
		canonical := q.String()
		again, err := Parse(canonical)
		if err != nil || !again.Equal(q) || again.String() != canonical {
			t.Fatalf("Parse(%q) = %q; parsed again: %q, %v", text, canonical, again, err)
		}
		v := exact(q)
		if got, want := q.Value(), saturated(roundAway(v)); got != want {
			t.Errorf("Parse(%q).Value() = %d, want %d", text, got, want)
		}
		if got, want := q.MilliValue(), saturated(roundAway(v.Mul(v, big.NewRat(1000, 1)))); got != want {
			t.Errorf("Parse(%q).MilliValue() = %d, want %d", text, got, want)
		}
		if difference := q.Sub(again); !difference.IsZero() {
			t.Errorf("%v - %v = %v, want 0", q, again, difference)
		}
	})
}

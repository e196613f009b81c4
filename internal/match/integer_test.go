package match

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestParseInt(t *testing.T) {
	fixed := []string{
		"", "-", "+", "0", "-0", "+0", "00", "7", "+7", "-7", "007", "1_0", "0x1", " 1", "1 ", "1.0", "\u0661",
		strconv.Itoa(math.MaxInt64), strconv.Itoa(math.MinInt64), "9223372036854775808", "-9223372036854775809", "92233720368547758070", "--1", "+-1",
	}
	check := func(t interface{ Errorf(string, ...any) }, s string) {
		want, err := strconv.ParseInt(s, 10, 64)
		got, ok := parseInt(s)
		if ok != (err == nil) || ok && got != want {
			t.Errorf("parseInt(%q) = %d, %v, want %d, %v", s, got, ok, want, err == nil)
		}
		got, ok = parseCanonicalInt(s)
		if canonical := err == nil && strconv.FormatInt(want, 10) == s; ok != canonical || ok && got != want {
			t.Errorf("parseCanonicalInt(%q) = %d, %v, want %d, %v", s, got, ok, want, canonical)
		}
	}
	for _, s := range fixed {
		check(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringMatching(`[-+]?[0-9]{0,20}[a-z]?`).Draw(t, "text"))
		check(t, strconv.FormatInt(rapid.Int64().Draw(t, "number"), 10))
	})
}

package semver_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/internal/semver"
)

// official is the regular expression that semver.org suggests.
var official = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?` +
	`(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)

// TestValid compares with the regular expression. Parse reads the same texts, unless a
// number is too large.
func TestValid(t *testing.T) {
	const large = "99999999999999999999"
	part := rapid.StringMatching(`(0|1|01|20|` + large + `|-|a|Z0|0a|_|é|){1,2}`)
	parts := rapid.Map(rapid.SliceOfN(part, 1, 4), func(list []string) string { return strings.Join(list, ".") })
	rapid.Check(t, func(t *rapid.T) {
		text := "1.2.3"
		if rapid.Bool().Draw(t, "other numbers") {
			text = parts.Draw(t, "numbers")
		}
		for _, mark := range []string{"-", "+"} {
			if rapid.Bool().Draw(t, mark) {
				text += mark + parts.Draw(t, mark+" parts")
			}
		}
		want := official.MatchString(text)
		if got := semver.Valid(text); got != want {
			t.Errorf("Valid(%q) = %t, want %t", text, got, want)
		}
		_, err := semver.Parse(text)
		if err != nil && strings.Contains(err.Error(), "too large") {
			return // of two problems, the first is told
		}
		if (err == nil) != want {
			t.Errorf("Parse(%q): %v, want success: %t", text, err, want)
		}
	})
}

// TestCompare compares all pairs of a list in ascending order.
func TestCompare(t *testing.T) {
	list := []string{
		"0.9.10", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
		"1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "2.0.0-a", "2.0.0",
	}
	for i, a := range list {
		for k, b := range list {
			x, errX := semver.Parse(a + "+build")
			y, errY := semver.ParseLoose("v" + b)
			if errX != nil || errY != nil {
				t.Fatal(errX, errY)
			}
			if got, want := x.Compare(y), max(-1, min(1, i-k)); got != want {
				t.Errorf("%s compared with %s gives %d, want %d", a, b, got, want)
			}
		}
	}
}

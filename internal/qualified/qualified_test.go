package qualified_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/internal/qualified"
)

// TestSyntaxAgainstRegexp compares the manual checks with the regular expressions that
// Kubernetes has for them.
func TestSyntaxAgainstRegexp(t *testing.T) {
	name := regexp.MustCompile(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`)
	prefix := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[-aZ09_.é]{0,6}`).Draw(t, "text")
		if got, want := qualified.IsLocal(s), name.MatchString(s); got != want {
			t.Errorf("IsLocal(%q) = %v, want %v", s, got, want)
		}
		for _, s := range []string{s, strings.ToLower(s)} {
			if got, want := qualified.IsDomain(s), prefix.MatchString(s); got != want {
				t.Errorf("IsDomain(%q) = %v, want %v", s, got, want)
			}
		}
	})
}

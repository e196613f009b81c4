package match

import (
	"fmt"
	"strings"
	"testing"
)

// TestProblemsAreShort checks that texts which others chose do not make endless errors.
func TestProblemsAreShort(t *testing.T) {
	long := strings.Repeat("z", 10_000_000)
	if got := invalid("values["+long+"]", long, "too long"); len(got) > 3000 || !strings.HasSuffix(got, "... (10000002 bytes): too long") {
		t.Errorf("%d bytes: ... %s", len(got), got[max(0, len(got)-100):])
	}
	if got := unsupported("operator", long, []string{"In"}); len(got) > 3000 {
		t.Errorf("%d bytes", len(got))
	}
	var many []string
	for i := range 1_000_000 {
		many = append(many, fmt.Sprint("problem ", i))
	}
	if got := ProblemsError(many).Error(); strings.Count(got, ", ") != 99 {
		t.Errorf("%d problems are listed, want 100", 1+strings.Count(got, ", "))
	}
}

package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
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

// The problems of a requirement repeat its key. They are few, and short, however long the key is and many values are
// bad.
func TestProblemsOfLongKey(t *testing.T) {
	values := slices.Repeat([]string{"!"}, 10_000)
	for _, op := range []api.NodeSelectorOperator{api.NodeSelectorOpIn, api.NodeSelectorOpGt} {
		problems := RequirementProblems(&api.NodeSelectorRequirement{Key: strings.Repeat("k", 100_000), Operator: op, Values: values})
		if len(problems) != maxProblems && len(problems) != maxProblems+1 {
			t.Errorf("%s: %d problems, want %d", op, len(problems), maxProblems)
		}
		for _, p := range problems {
			if len(p.Field) > maxText {
				t.Fatalf("%s: a problem names a field by %d bytes", op, len(p.Field))
			}
		}
	}
}

package policy

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

// topLevel is what the root of the repository may hold besides dot-files.
var topLevel = []string{
	"CHANGELOG.md", "CONTRIBUTING.md", "DEVIATIONS.md", "LICENSE", "README.md", "SECURITY.md", "go.mod", "go.sum",
	"estimator", "examples", "filter", "framework", "internal", "resource", "scheduling", "scoring",
}

// TestTopLevel keeps the first page of the repository readable.
func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, problem := range topLevelProblems(names) {
		t.Error(problem)
	}
}

// topLevelProblems lists the names that do not belong to the root.
func topLevelProblems(names []string) []string {
	var problems []string
	for _, name := range names {
		if name[0] != '.' && !slices.Contains(topLevel, name) {
			problems = append(problems, fmt.Sprintf("%s does not belong to the top level: put code into a package, pages into the package page "+
				"of their subject, tools into internal/proof/tools", name))
		}
	}
	return problems
}

func TestTopLevelFindsProblems(t *testing.T) {
	if got := topLevelProblems([]string{".ci", "go.mod", "framework", "docs", "Makefile"}); len(got) != 2 {
		t.Errorf("found %d problems, want 2: %v", len(got), got)
	}
}

package policy

import (
	"strings"
	"testing"
)

// TestPages demands that the page of every package of the library tells a newcomer
// what to expect of it.
func TestPages(t *testing.T) { everywhere(t, pageProblems) }

// pageParts are what a page has to have, and the texts of which one shows that
// it does.
var pageParts = []struct {
	what  string
	shown []string
}{
	{"a snippet that shows its use", []string{"\n\t"}},
	{"what it leaves to the user (a section What it leaves to you)", []string{"leaves to you", "left to you"}},
	{"what it promises on determinism", []string{"Determinism", "determinism"}},
	{"who may use it concurrently", []string{"Concurrency", "concurrency"}},
}

// pageProblems lists what the page of a library package lacks.
func pageProblems(p *pkg) []string {
	r, ok := ruleOf(p.dir)
	if !ok || !r.library || within(p.dir, "internal") || len(p.files) == 0 {
		return nil
	}
	var problems []string
	for _, f := range p.files {
		if f.Doc == nil {
			continue
		}
		text := f.Doc.Text()
		for _, part := range pageParts {
			found := false
			for _, s := range part.shown {
				found = found || strings.Contains(text, s)
			}
			if !found {
				problems = append(problems, p.problem(f.Doc.Pos(), "the page of %s lacks %s", p.dir, part.what))
			}
		}
		return problems
	}
	return nil // TestDocumented misses the page
}

func TestPagesFindsProblems(t *testing.T) {
	const whole = "// Package p is a fixture.\n//\n//\tp.F()\n//\n// What it leaves to you: nothing. Determinism and concurrency: yes.\npackage p\n"
	expect(t, pageProblems, []expectation{
		{"whole", fixture(t, "filter", whole), 0},
		{"bare", fixture(t, "filter", "// Package p is a fixture.\npackage p\n"), 4},
		{"outside the library", fixture(t, "examples/x", "// Package p is a fixture.\npackage p\n"), 0},
		{"no snippet", fixture(t, "filter", strings.Replace(whole, "\t", "", 1)), 1},
	})
}

package policy

import (
	"fmt"
	"strings"
	"testing"
)

// maxExampleLines bounds a program that teaches: its files without tests together.
const maxExampleLines = 150

// tools are the programs below examples that are more than a lesson.
var tools = []string{"examples/berth", "examples/gpushare", "examples/playground", "examples/internal"}

// TestShortExamples keeps the programs that teach short enough to be read at one sitting.
func TestShortExamples(t *testing.T) { everywhere(t, lengthProblems) }

func lengthProblems(p *pkg) []string {
	if !within(p.dir, "examples") || withinAny(p.dir, tools) {
		return nil
	}
	lines := 0
	for _, f := range p.files {
		lines += p.fset.File(f.Pos()).LineCount() - 1
	}
	if lines <= maxExampleLines {
		return nil
	}
	return []string{fmt.Sprintf("%s has %d lines, want at most %d: show one thing, and leave the rest to the library", p.dir, lines, maxExampleLines)}
}

func TestShortExamplesFindsProblems(t *testing.T) {
	long := "package main\n" + strings.Repeat("var _ = 1\n", maxExampleLines+2)
	expect(t, lengthProblems, []expectation{
		{"short", fixture(t, "examples/x", "package main\n"), 0},
		{"long", fixture(t, "examples/x", long), 1},
		{"tool", fixture(t, "examples/berth/internal/x", long), 0},
		{"library", fixture(t, "filter", long), 0},
	})
}

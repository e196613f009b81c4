//go:build full

package policy

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxWords is the longest sentence that a comment or page may have.
const maxWords = 45

// bannedWords are words and constructions that this project does not use, with what
// to write instead. The expressions match in any case.
var bannedWords = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{word(`roads?`), `"reference path" or "incremental path"`},
	{word(`(?:door|house|hall)`), `"entry point", "package" or "module"`},
	{word(`rooms`), `"packages"; "room" is free capacity`},
	{word(`(?:this|its|own|another|every|each|no) room of`), `"package"`},
	{word(`none the less`), `the sentence without it`},
	{word(`who wants|whoever`), `"to do X, call Y" or "if you need X, ..."`},
	{word(`tells that`), `"says that", "if X is set, ..."`},
	{word(`be it`), `"also" or "even if"`},
	{word(`of which`), `two sentences`},
	{word(`(?:denominate|renounce|choosy|takeApart|turnTo|fixedly|idling|lively|recalled|renounced)`), `the name of today`},
	{word(`(?:RejectForGood|Notebook|fastRoad|plainRoad|FitV122|BalanceStd|BalanceDelta|Registry1\d\d|Release1\d\d)`), `the name of today`},
	{word(`Fast\.(?:Off|Budget|Verify)`), `"Cache.Off", "Cache.Budget", "Cache.Verify"`},
	{word(`of one's own`), `"your own"`},
	{word(`kind of pods?`), `"class"`},
}

func word(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`) }

// anyBanned matches a text that some pattern of bannedWords matches, in one pass.
var anyBanned = func() *regexp.Regexp {
	var patterns []string
	for _, banned := range bannedWords {
		patterns = append(patterns, banned.pattern.String())
	}
	return regexp.MustCompile(strings.Join(patterns, "|"))
}()

// TestWords keeps the vocabulary: comments and pages use one word for one thing, and
// short sentences.
func TestWords(t *testing.T) {
	everywhere(t, wordProblems)
	for _, p := range loadNested(t) {
		for _, problem := range wordProblems(p) {
			t.Error(problem)
		}
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "DEVIATIONS.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range textProblems(markdownProse(withoutWordTable(string(text)))) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// withoutWordTable leaves out the table in the section Words, which names words that are
// not used.
func withoutWordTable(page string) string {
	before, section, found := strings.Cut(page, "## Words\n")
	if !found {
		return page
	}
	var b strings.Builder
	b.WriteString(before)
	table := true
	for line := range strings.Lines(section) {
		if table = table && !strings.HasPrefix(line, "#"); !table || !strings.HasPrefix(line, "|") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// wordProblems lists the banned words in the comments and identifiers of p, and the
// sentences of its comments that are too long.
func wordProblems(p *pkg) []string {
	if p.dir == "internal/proof/policy" {
		return nil // the words stand here
	}
	var problems []string
	for _, f := range slices.Concat(p.files, p.tests) {
		for _, group := range f.Comments {
			text, _, _ := strings.Cut(group.Text(), "Output:") // what a program prints
			for _, text := range textProblems(text) {
				problems = append(problems, p.problem(group.Pos(), "%s", text))
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					for _, text := range oldTexts.FindAllString(lit.Value, 1) {
						problems = append(problems, p.problem(lit.Pos(), "the text says %q: see the table of words in CONTRIBUTING.md", text))
					}
				}
				return true
			}
			if isOldName(id.Name) {
				problems = append(problems, p.problem(id.Pos(), "the name %s is of the old vocabulary: see the table of words in CONTRIBUTING.md", id.Name))
			}
			return true
		})
	}
	return problems
}

// oldNames matches identifiers of the old vocabulary.
var oldNames = regexp.MustCompile(`(?i)(?:fast|plain)road|^roads?$|notebook|denominate|rejectforgood|takeapart|renounce|recalled|choosy|fixedly|evenly`)

// isOldName remembers the names that it has seen: most come again and again.
func isOldName(name string) bool {
	old, seen := seenNames[name]
	if !seen {
		old = oldNames.MatchString(name)
		seenNames[name] = old
	}
	return old
}

var seenNames = map[string]bool{}

// oldTexts matches what error texts and names of subtests must not say.
var oldTexts = regexp.MustCompile(`(?i)\b(?:plain|fast|both) roads?\b|\brenounced\b|\brecalled\b`)

// textProblems lists what is wrong with the words of a text.
func textProblems(text string) []string {
	var problems []string
	if anyBanned.MatchString(text) {
		for _, banned := range bannedWords {
			if found := banned.pattern.FindString(text); found != "" {
				problems = append(problems, fmt.Sprintf("says %q: write %s", found, banned.instead))
			}
		}
	}
	for _, sentence := range sentences(text) {
		if n := len(strings.Fields(sentence)); n > maxWords {
			problems = append(problems, fmt.Sprintf("a sentence of %d words, at most %d are allowed: %.60s...", n, maxWords, sentence))
		}
	}
	return problems
}

// sentenceEnd matches the end of a sentence, and of a part that a colon or semicolon
// ends: a list after a colon may be long.
var sentenceEnd = regexp.MustCompile(`[.:;?!]["')\]]*\s`)

// sentences splits the prose of a text. Indented lines, lists, tables and directives
// are no prose.
func sentences(text string) []string {
	var list []string
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			list = append(list, sentenceEnd.Split(strings.Join(paragraph, " ")+" ", -1)...)
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "    "),
			strings.HasPrefix(line, "|"), strings.HasPrefix(line, "#"):
			flush()
		case strings.HasPrefix(strings.TrimSpace(line), "- "):
			flush()
			paragraph = append(paragraph, line)
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return list
}

// markdownProse leaves out fenced blocks, which are code or output, and table rows.
func markdownProse(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestWordsFindsProblems(t *testing.T) {
	long := strings.Repeat("word ", maxWords+1)
	expect(t, wordProblems, []expectation{
		{"good", fixture(t, "filter", "// Package filter filters. It takes the reference path; there is room for more.\npackage filter\n"), 0},
		{"banned", fixture(t, "filter", "// Package filter takes the plain road.\npackage filter\n"), 1},
		{"any case", fixture(t, "filter", "// Package filter filters. Whoever reads this, none the less.\npackage filter\n"), 2},
		{"in a test", fixtureFile(t, "filter", "a_test.go", "// A door.\npackage filter\n"), 1},
		{"a text", fixture(t, "filter", "// Package filter filters.\npackage filter\nvar s = \"the plain road\"\n"), 1},
		{"a name", fixture(t, "filter", "// Package filter filters.\npackage filter\nvar fastRoad int\n"), 1},
		{"long", fixture(t, "filter", "// Package filter "+long+".\npackage filter\n"), 1},
		{"long after a colon", fixture(t, "filter", "// Package filter lists: "+long[:len(long)-25]+".\npackage filter\n"), 0},
		{"long code", fixture(t, "filter", "// Package filter filters:\n//\n//\t"+long+"\npackage filter\n"), 0},
	})
	const page = "Good.\n\n## Words\n\nA road.\n\n| say | not: road |\n\n## Style\n\n| a door |\n"
	if got := textProblems(markdownProse(withoutWordTable(page))); len(got) != 2 {
		t.Errorf("beside the table of words: %q, want a problem before it and one after it", got)
	}
	if got := textProblems(markdownProse("Short.\n\n```go\n// a road\n```\n\n| a | " + long + " |\n")); len(got) > 0 {
		t.Errorf("fenced blocks and tables: %q, want no problem", got)
	}
}

package config_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// TestNesting nests collections in every way that YAML has.
func TestNesting(t *testing.T) {
	const most = 150
	indented := func(line string) func(n int) string {
		return func(n int) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(strings.Repeat(" ", i) + line + "\n")
			}
			return b.String()
		}
	}
	repeated := func(before, text, middle, after string) func(n int) string {
		return func(n int) string { return before + strings.Repeat(text, n) + middle + strings.Repeat(after, n) + "\n" }
	}
	for name, test := range map[string]struct {
		text func(n int) string
		line int // of the collection that is too deep
	}{
		"lists":                 {repeated("", "- ", "x", ""), 1},
		"lists after a comment": {repeated("# - - -\n", "- ", "x", ""), 2},
		"lists after next line": {repeated("# x\u0085", "- ", "x", ""), 1},
		"lists, indented":       {indented("-"), most + 1},
		"mappings":              {indented("a:"), most + 1},
		"mappings, quoted":      {indented(`"a'": # it's`), most + 1},
		"keys":                  {repeated("", "? ", "x", ""), 1},
		"brackets":              {repeated("- ", "[", "", "]"), 1},
		"brackets in lines":     {repeated("- ", "[\n", "", "]\n"), most},
		"braces":                {repeated("- ", "{a: ", "b", "}"), 1},
		"after a literal":       {repeated("- |\n [[\n\n [[\n- ", "[", "", "]"), 5},
		"after a plain text":    {repeated("- a\n  '\n- ", "[", "", "]"), 3},
		"after a quoted text":   {repeated("- 'it''s\n  [['\n- \"\\\"'\"\n- ", "[", "", "]"), 4},
		"after a document":      {repeated("a: |\n  '\n--- \n- ", "[", "", "]"), 4},
		"after an anchor":       {repeated("- &a !t ", "[", "", "]"), 1},
	} {
		above := strings.Count(test.text(0), "- ") + strings.Count(test.text(0), "[") // at least
		if _, err := config.YAMLToJSON([]byte(test.text(most - above - 2))); err != nil && strings.Contains(err.Error(), "in one another") {
			t.Errorf("%s: %v, want no error about fewer", name, err)
		}
		text := []byte(test.text(most + 1))
		_, err := config.YAMLToJSON(text)
		want := "line " + strconv.Itoa(test.line) + ": more than 150 collections in one another"
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestNestingOfTexts converts texts that look like nested collections, and flat ones.
func TestNestingOfTexts(t *testing.T) {
	many := strings.Repeat
	for name, text := range map[string]string{
		"list":           many("- [a, {b: [c]}]\n", 3000),
		"mapping":        "a:\n" + many("  - b:\n      c: '[['\n", 3000),
		"literal":        "a: |\n  " + many("- ", 3000) + "\n\n  " + many("[", 3000) + "\nb: 1\n",
		"folded":         "- a: >-2\n    " + many("[", 3000) + "\n",
		"plain":          "a: b" + many("[", 3000) + "\n  " + many("- ", 3000) + "x\n",
		"double quotes":  "a: \"\\\"\n " + many("[", 3000) + "\"\n",
		"single quotes":  "a: 'it''s " + many("[", 3000) + "'\n",
		"comments":       "a: b # " + many("[", 3000) + "\n# " + many("- ", 3000) + "\n",
		"apostrophes":    many("- don't\n", 3000),
		"open brackets":  many("- a[\n- b{ # [\n", 3000),
		"many documents": many("---\na:\n  - b: {}\n", 1500),
	} {
		if _, err := config.YAMLToJSON([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

//go:build full

package config

import (
	"errors"
	"strings"
	"testing"
)

// TestAliasesOfLongTexts puts an anchor on a long text, in every place that YAML has for one,
// and refers to it often. Then it moves the anchor to a short text beside the long one: where
// the walk ends a node too late, that is refused too.
func TestAliasesOfLongTexts(t *testing.T) {
	long := strings.Repeat("7", 2000)
	aliases := "z: [" + strings.TrimSuffix(strings.Repeat("*a,", 5000), ",") + "]\n"
	for _, tt := range []struct{ name, text string }{
		{"a plain text", "x: LONG 1\ny: SHORT 1\n"},
		{"a quoted text", "x: LONG '1'\ny: SHORT \"1\"\n"},
		{"a literal", "x: LONG |\n  1\n  1\ny: SHORT 1\n"},
		{"a folded text", "x: LONG >-\n\n   1\n   1\ny: SHORT 1\n"},
		{"a text in lines", "x: LONG\n  1\n  1\ny: SHORT 1\n"},
		{"a text in two lines", "x: LONG 1\n  1\ny: SHORT 1\n"},
		{"a tag before it", "x: !!str LONG 1\ny: !!str SHORT 1\n"},
		{"a tag behind it", "x: LONG !!str 1\ny: SHORT !!str 1\n"},
		{"a list in brackets", "x: LONG [1, [1], 1]\ny: SHORT [1]\n"},
		{"brackets in lines", "x: LONG [\n  [1],\n1]\ny: SHORT 1\n"},
		{"an element in brackets", "x: [1, LONG 1, SHORT 1]\n"},
		{"a list in a list in brackets", "x: [1, LONG [1, 1], SHORT [1]]\n"},
		{"the last in brackets", "x: [SHORT 1, LONG 1]\n"},
		{"a mapping in braces", "x: LONG {a: 1, b: 1}\ny: SHORT {a: 1}\n"},
		{"a value in braces", "x: {a: LONG 1, b: SHORT 1}\n"},
		{"a mapping", "x: LONG\n  a: 1\n  b: 1\ny: SHORT\n  a: 1\n"},
		{"a mapping in a list", "x:\n- LONG\n  a: 1\n  b: 1\n- SHORT\n  a: 1\n"},
		{"a list", "x: LONG\n  - 1\n  - 1\ny: SHORT\n  - 1\n"},
		{"a list that is not indented", "x: LONG\n- 1\n- 1\ny: SHORT\n- 1\n"},
		{"a list that is not indented, in a list", "x:\n- a: LONG\n  - 1\n  - 1\n- a: SHORT\n  - 1\n"},
		{"an element", "x:\n- LONG 1\n- SHORT 1\n"},
		{"an element below", "x:\n- LONG\n  1\n- SHORT\n  1\n"},
		{"a list in a list", "x:\n- LONG\n  - 1\n  - 1\n- SHORT\n  - 1\n"},
		{"a comment between", "x: LONG # [\n  # ]\n  a: 1\n# x\ny: SHORT # [\n  a: 1\n"},
		{"an empty node before", "w: &b\nx: LONG 1\ny: SHORT 1\n"},
		{"anchors inside", "x: LONG\n  a: &b 1\n  c: [&c 1, &d [1]]\ny: SHORT 1\n"},
		{"an alias inside", "w: &w 1\nx: LONG [*w, *w]\ny: SHORT 1\n"},
		{"a key in braces", "x: {? LONG 1 : 2, ? SHORT 3 : 4}\n"},
		{"a key", "? LONG 1\n: 2\n? SHORT 3\n: 4\n"},
		{"carriage returns", "x: LONG\r  a: 1\r  b: 1\ry: SHORT\r  a: 1\r"},
	} {
		// The ones of the part that begins with LONG are long.
		i, j := strings.Index(tt.text, "LONG"), strings.Index(tt.text, "SHORT")
		from, to := i, len(tt.text)
		if i < j {
			to = j
		}
		if tt.name == "an alias inside" {
			from = 0
		}
		text := tt.text[:from] + strings.ReplaceAll(tt.text[from:to], "1", long) + tt.text[to:]
		hostile := strings.NewReplacer("LONG", "&a", "SHORT ", "", "SHORT", "").Replace(text) + aliases
		if _, err := readCost.exceeded([]byte(hostile)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: error %v before it is decoded, want %v", tt.name, err, ErrTooLarge)
		}
		harmless := strings.NewReplacer("LONG ", "", "LONG", "", "SHORT", "&a").Replace(text) + aliases
		if _, err := YAMLToJSON([]byte(harmless)); err != nil {
			t.Errorf("%s beside: error %v, want none", tt.name, err)
		}
	}
}

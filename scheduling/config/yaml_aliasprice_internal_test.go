package config

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
)

// pieces are parts of YAML texts that a walk over tokens may take for others.
var pieces = []string{
	"a:", "b: ", "- ", "-", "? ", ": ", ":", "&a ", "&a\n", "&b ", "*b", "|\n", ">\n", "|-\n ", "[", "]", ",", "{", "}",
	"xxxxxxxx", "-xxxxxx", ":xxxxxx", "?xxxxxx", "xxxx\nyyyy", "'qqqqqqq'", "\"dddddd\"", "\"eeee\n eeee\"",
	"#c\n", "\n", "\n ", "\n  ", "\n   ", " ", "  ", "\t", "\r", "\u2028", "!!str ", "---\n",
}

// refer holds texts whose last value, or key, is what the anchor a names.
var refer = []string{"\nzz: *a\n", "\n- *a\n", "\n-b: *a\n", "\n? *a\n: 1\n", "\n'zz': *a\n", "\n[zz]: *a\n"}

// textOf is how many bytes of text a value has.
func textOf(v any) (n int) {
	switch v := v.(type) {
	case string:
		return len(v)
	case yaml.MapSlice:
		for _, e := range v {
			n += textOf(e.Key) + textOf(e.Value)
		}
	case []any:
		for _, e := range v {
			n += textOf(e)
		}
	}
	return n
}

// lastOf decodes a text that ends in one of refer, and returns its last value or key; nil if it is no YAML.
func lastOf(text, tail string) any {
	defer func() { _ = recover() }() // of the library, as of a key that is a list
	if tail[1] == '-' && tail[2] == ' ' {
		var l []any
		if err := yaml.Unmarshal([]byte(text), &l); err != nil || len(l) == 0 {
			return nil
		}
		return l[len(l)-1]
	}
	var m yaml.MapSlice
	if err := yaml.Unmarshal([]byte(text), &m); err != nil || len(m) == 0 {
		return nil
	}
	if tail[1] == '?' {
		return m[len(m)-1].Key
	}
	return m[len(m)-1].Value
}

// TestAliasesCostWhatTheyRepeat puts random pieces together, and a reference behind them: the walk
// must count at least the text that the library finds behind the anchor.
func TestAliasesCostWhatTheyRepeat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts, decoded := 30_000, 0
	if testing.Short() {
		texts = 5_000
	}
	for range texts {
		head := ""
		if r.IntN(2) == 0 {
			head = "k: "
		}
		for range 2 + r.IntN(9) {
			head += pieces[r.IntN(len(pieces))]
		}
		for _, tail := range refer {
			text := head + tail
			if lastOf(strings.Replace(text, "*a", "MARK", 1), tail) != any("MARK") {
				continue
			}
			v := lastOf(text, tail)
			if v == nil {
				continue
			}
			decoded++
			want := textByte * textOf(v)
			if at := readCost.aliases([]byte(text), want-1); at < 0 && want > 0 {
				t.Errorf("%q: the alias costs less than %d, for %q", text, want, v)
			}
		}
	}
	if decoded < texts/50 {
		t.Errorf("%d of %d texts were decoded", decoded, texts)
	}
}

// TestLongKeysOfAliases repeats a long text by aliases that are keys: the library would hash it for
// each, and in its strict mode write it into an error for each.
func TestLongKeysOfAliases(t *testing.T) {
	const aliases = 3000
	long := strings.Repeat("x", 100<<10)
	for name, text := range map[string]string{
		"a colon first":                 "a: &a :" + long + "\nb:\n" + strings.Repeat("- *a : 1\n", aliases),
		"a question mark first":         "a: &a ?" + long + "\nb: {" + strings.Repeat("*a : 1,", aliases) + "}\n",
		"a literal in the key's column": "a: &a\n|\n  " + long + "\nb:\n" + strings.Repeat("  *a : 1\n", aliases),
		"a literal of an element":       "a: &a\n-\n|\n  " + long + "\nb:\n" + strings.Repeat("  *a : 1\n", aliases),
		"a literal of spaces":           "a: &a |\n 1" + strings.Repeat(" ", 100<<10) + "\nb:\n" + strings.Repeat("- *a : 1\n", aliases),
		"the node seems not to end":     "a: &a\n  " + long + "\n-b:\n" + strings.Repeat("  *a : 1\n", aliases),
	} {
		if _, _, err := YAMLToJSONStrict([]byte(text)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: error %v, want %v", name, err, ErrTooLarge)
		}
	}
}

package config

import "testing"

// TestTokensStayInTheText walks over every short text of the characters that the walk
// looks for, each also behind a list: a text may end anywhere, also within an escape.
func TestTokensStayInTheText(t *testing.T) {
	const characters = "\"'\\a|>:-?*&![]#% \n\xc2\x85\xe2\x80"
	walked := 0
	var walk func(text []byte, more int)
	walk = func(text []byte, more int) {
		walked++
		n := tokensOf(text)
		for before := 0; n.next(); before = n.at {
			if n.begin < before || n.at <= n.begin || n.at > len(text) {
				t.Fatalf("text %q: a token from %d to %d, after %d of %d bytes", text, n.begin, n.at, before, len(text))
			}
		}
		if more == 0 {
			return
		}
		for _, c := range []byte(characters) {
			walk(append(text[:len(text):len(text)], c), more-1)
		}
	}
	walk(nil, 4)
	walk([]byte("[&a \"b"), 3)
	walk([]byte("- |1\n -"), 3)
	if walked < 200_000 {
		t.Errorf("%d texts walked, want 200000 at least", walked)
	}
}

// TestTextEndsInAnEscape is a text with anchors that ends within a quoted text.
func TestTextEndsInAnEscape(t *testing.T) {
	for _, text := range []string{"a: &b c\nd: *b\ne: \"\\", "a: &b c\nd: *b\ne: ''\\", "&a *a '"} {
		if _, err := YAMLToJSON([]byte(text)); err == nil {
			t.Errorf("text %q: no error, want one", text)
		}
	}
}

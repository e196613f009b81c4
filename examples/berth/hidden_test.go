//go:build full

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJSONHidesNothing: characters that a terminal would obey are escaped, and are the same when
// they are decoded.
func TestJSONHidesNothing(t *testing.T) {
	const name = "a\u009b31m b\u202ec \u200f\u2066 d\u007f \U000e0041\x1b[0m\n é 船 \U0001f6a2 \ufffd"
	o := Output{Command: name, Answer: map[string][]string{name: {name}}}
	var b bytes.Buffer
	if err := o.write(&b); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(b.String(), "\u009b\u202e\u200f\u2066\u007f\U000e0041\x1b"); i >= 0 {
		t.Errorf("%q has a character that is not seen", b.String())
	}
	for _, want := range []string{`\u009b31m`, `\u202e`, `\udb40\udc41`, "é 船 \U0001f6a2 \ufffd"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in %s", want, b.String())
		}
	}
	var got Output
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{name: []any{name}}, got.Answer); diff != "" || got.Command != name {
		t.Errorf("decoded, command %q, answer (-want +got):\n%s", got.Command, diff)
	}
}

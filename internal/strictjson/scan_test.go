package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plain is a dialect with encoding/json's rules and bounds.
var plain = Dialect{Name: "test", MaxDepth: 10_000}

func TestCheck(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{"a": [1, -0.5e+3, "x", true, false, null, {}, []]}`, ""},
		{" \t\r\n0 ", ""},
		{`"\"\\\/\b\f\n\r\té"`, ""},
		{"\"\xff\"", ""}, // not UTF-8, but JSON to encoding/json too
		{``, `not JSON: line 1, byte 0: unexpected end of input, want a value`},
		{"[1,\n2,\n,", `not JSON: line 3, byte 7: unexpected ',', want a value`},
		{`{1: 2}`, `not JSON: line 1, byte 1: unexpected '1', want a key in quotes`},
		{`{"a" 2}`, `not JSON: line 1, byte 5: unexpected '2', want a colon`},
		{`[1 2]`, `not JSON: line 1, byte 3: unexpected '2', want a comma or ']'`},
		{`{"a":1]`, `not JSON: line 1, byte 6: unexpected ']', want a comma or '}'`},
		{`1 2`, `not JSON: line 1, byte 2: unexpected '2', want the end of the input`},
		{`nul`, `not JSON: line 1, byte 0: unexpected 'n', want a value`},
		{`-`, `not JSON: line 1, byte 1: unexpected end of input, want a digit`},
		{`1.`, `not JSON: line 1, byte 2: unexpected end of input, want a digit`},
		{`1e`, `not JSON: line 1, byte 2: unexpected end of input, want a digit`},
		{"\"a\x01\"", `not JSON: line 1, byte 2: control character '\x01' in a string`},
		{`"\u12g4"`, `not JSON: line 1, byte 5: unexpected 'g', want a hexadecimal digit`},
		{`"\é"`, `not JSON: line 1, byte 2: unexpected 'é', want an escape sequence`},
		{`"abcdefghijklm`, `not JSON: line 1, byte 14: unexpected end of input in a string`},
		{strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), ""},
		{strings.Repeat("[", 10_001), `nested deeper than 10000 levels at line 1, byte 10000`},
	}
	for _, tt := range tests {
		got := ""
		if err := plain.Check([]byte(tt.text)); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("Check(%.40q) = %q, want %q", tt.text, got, tt.want)
		}
		if valid := json.Valid([]byte(tt.text)); valid != (got == "") {
			t.Errorf("Check(%.40q) = %q, but json.Valid = %t", tt.text, got, valid)
		}
	}
}

// TestSkipPlain compares the search by eight bytes with one by single bytes, with
// every byte at every place of texts that are a little longer than that.
func TestSkipPlain(t *testing.T) {
	for place := range 20 {
		for c := range 256 {
			data := bytes.Repeat([]byte{'a'}, 20)
			data[place] = byte(c)
			want := len(data)
			if c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
				want = place
			}
			if got := skipPlain(data, 0); got != want {
				t.Fatalf("skipPlain with byte %#x at %d = %d, want %d", c, place, got, want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")
		want := 0
		for want < len(data) && plainByte[data[want]] {
			want++
		}
		if got := skipPlain(data, 0); got != want {
			t.Errorf("skipPlain(%q) = %d, want %d", data, got, want)
		}
	})
}

// TestScanner reads an object by the methods that package api uses for lists.
func TestScanner(t *testing.T) {
	s := Scanner{data: []byte(` {"a\u0062": [1, {"x": "]"}], "c": {}, "d": []} x`), maxDepth: 5}
	start := s.Mark()
	for range 2 {
		var got []string
		ok, err := s.Open('{')
		for ; ok && err == nil; ok, err = s.More('}') {
			key, err := s.Key()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := s.Raw()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(key)+"="+string(raw))
		}
		if want := `ab=[1, {"x": "]"}] c={} d=[]`; err != nil || strings.Join(got, " ") != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
		if s.AtEnd() || s.Peek() != 'x' || s.Mark().Depth != 0 {
			t.Errorf("at %q with depth %d, want x with 0", s.Peek(), s.Mark().Depth)
		}
		s.Reset(start)
	}
	if _, err := s.Open('['); err == nil || !strings.Contains(err.Error(), `unexpected '{', want '['`) {
		t.Errorf("Open of another bracket = %v", err)
	}
}

// FuzzCheck compares the verdict with encoding/json's.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"\u00e9\\",true,null]}`, "[", `"`, "\xff", "nul", "1 2", `{"a":1,}`, "01", "\"\x7f\xc3\xa9\"", "\v1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := plain.Check(data)
		if valid := json.Valid(data); valid != (err == nil) {
			t.Errorf("Check(%q) = %v, json.Valid = %t", data, err, valid)
		}
		var syntax *SyntaxError
		if errors.As(err, &syntax) && (syntax.Offset < 0 || syntax.Offset > int64(len(data))) {
			t.Errorf("Check(%q): offset %d", data, syntax.Offset)
		}
	})
}

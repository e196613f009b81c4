package strictjson

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A text is a string as it is written in JSON.
type text struct {
	raw   []byte // with quotes
	plain bool   // ASCII without escapes, so the content is as written
}

// bytes returns the content.
func (t text) bytes() []byte {
	if t.plain {
		return t.raw[1 : len(t.raw)-1]
	}
	return []byte(Unquote(t.raw))
}

// Unquote returns the content of a JSON string, which must be valid. Bytes that
// are not UTF-8 become U+FFFD, as in encoding/json.
func Unquote(raw []byte) string {
	if b := raw[1 : len(raw)-1]; bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return string(b)
	}
	var v string
	_ = json.Unmarshal(raw, &v) // cannot fail: the text is valid
	return v
}

// recentTexts are short texts that were decoded lately, by length and some bytes.
// Namespaces, classes and names of labels repeat; equal ones share memory.
type recentTexts [64]string

// string returns the content of t.
func (r *recentTexts) string(t text) string {
	const longest = 32
	if !t.plain || len(t.raw) <= len(`""`) || len(t.raw) > longest+len(`""`) {
		return Unquote(t.raw)
	}
	b := t.bytes()
	place := len(b) + 7*int(b[len(b)-1]) + 31*int(b[len(b)/2])
	s := &r[place%len(r)]
	if *s != string(b) {
		*s = string(b)
	}
	return *s
}

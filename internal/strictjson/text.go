package strictjson

import (
	"bytes"
	"encoding/binary"
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

// recentTexts are short texts that were decoded lately, by a hash. Namespaces, classes
// and names of labels repeat; equal ones share memory. Their number is a power of two.
type recentTexts []string

// string returns the content of t.
func (r recentTexts) string(t text) string {
	const longest = 64
	if !t.plain || len(t.raw) <= len(`""`) || len(t.raw) > longest+len(`""`) {
		return Unquote(t.raw)
	}
	b := t.bytes()
	s := &r[hashOf(b)>>32&uint64(len(r)-1)]
	if *s != string(b) {
		*s = string(b)
	}
	return *s
}

// hashOf mixes the length and some bytes of a text that is not empty: both ends, where
// texts differ most. Texts that collide do not share memory, that is all.
func hashOf(b []byte) uint64 {
	const odd = 0x9E3779B97F4A7C15
	n := len(b)
	if n >= 8 {
		return ((binary.LittleEndian.Uint64(b)*odd ^ binary.LittleEndian.Uint64(b[n-8:])) + uint64(n)) * odd
	}
	x := uint64(n)
	for _, c := range b {
		x = x<<8 | uint64(c)
	}
	return x * odd
}

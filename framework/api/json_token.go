package api

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// text consumes a string and returns it with its quotes and escapes. The opening
// quote must be next.
func (s *scanner) text() ([]byte, error) {
	start := s.pos
	for s.pos++; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return s.data[start:s.pos], nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, s.fail("control character %q in a string", c)
		}
	}
	return nil, s.fail("unexpected end of input in a string")
}

// escape consumes an escape sequence except for its last byte.
func (s *scanner) escape() error {
	s.pos++
	if s.pos >= len(s.data) {
		return s.fail("unexpected end of input in a string")
	}
	switch s.data[s.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			s.pos++
			if s.pos >= len(s.data) {
				return s.fail("unexpected end of input in a string")
			}
			if c := s.data[s.pos]; (c < '0' || c > '9') && (c|' ' < 'a' || c|' ' > 'f') {
				return s.unexpected("a hexadecimal digit")
			}
		}
		return nil
	default:
		return s.unexpected("an escape sequence")
	}
}

// word consumes true, false or null.
func (s *scanner) word() ([]byte, error) {
	for _, w := range []string{"null", "true", "false"} {
		if bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
			s.pos += len(w)
			return s.data[s.pos-len(w) : s.pos], nil
		}
	}
	return nil, s.unexpected("a value")
}

// number consumes a number.
func (s *scanner) number() ([]byte, error) {
	start := s.pos
	if s.at() == '-' {
		s.pos++
	}
	switch c := s.at(); {
	case c == '0':
		s.pos++
	case c >= '1' && c <= '9':
		s.digits()
	case s.pos == start:
		return nil, s.unexpected("a value")
	default:
		return nil, s.unexpected("a digit")
	}
	if s.at() == '.' {
		s.pos++
		if s.digits() == 0 {
			return nil, s.unexpected("a digit")
		}
	}
	if s.at()|' ' == 'e' {
		s.pos++
		if c := s.at(); c == '+' || c == '-' {
			s.pos++
		}
		if s.digits() == 0 {
			return nil, s.unexpected("a digit")
		}
	}
	return s.data[start:s.pos], nil
}

// at returns the byte at the current position, or 0 at the end of the input.
func (s *scanner) at() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// digits consumes decimal digits and returns their number.
func (s *scanner) digits() int {
	start := s.pos
	for c := s.at(); c >= '0' && c <= '9'; c = s.at() {
		s.pos++
	}
	return s.pos - start
}

// plainText returns the content of a quoted string if it needs no decoding: it is
// valid UTF-8 and has no escapes.
func plainText(raw []byte) ([]byte, bool) {
	b := raw[1 : len(raw)-1]
	return b, bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b)
}

// recentTexts are short texts decoded lately, by length and some bytes. Namespaces,
// classes and label names repeat, so this keeps only one copy of each.
type recentTexts [64]string

// unquote is like the function unquote, but shares recent texts.
func (t *recentTexts) unquote(raw []byte) string {
	const longest = 32
	b, ok := plainText(raw)
	if !ok || len(b) == 0 || len(b) > longest {
		return unquote(raw)
	}
	place := len(b) + 7*int(b[len(b)-1]) + 31*int(b[len(b)/2])
	s := &t[place%len(t)]
	if *s != string(b) {
		*s = string(b)
	}
	return *s
}

// unquote returns the content of a quoted string. Bytes that are not UTF-8
// become U+FFFD, as in encoding/json.
func unquote(raw []byte) string {
	if b, ok := plainText(raw); ok {
		return string(b)
	}
	var v string
	_ = json.Unmarshal(raw, &v) // cannot fail: the scanner has checked the text
	return v
}

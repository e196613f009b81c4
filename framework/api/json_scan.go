package api

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxDepth bounds how deep lists and objects may nest in a document. Kubernetes'
// own objects stay below 40.
const maxDepth = 1000

// A SyntaxError says where a text is not valid JSON.
type SyntaxError struct {
	Offset  int64  // bytes before the error
	Line    int    // counted from 1
	Problem string // such as "unexpected end of input"
}

// Error returns the text, such as
//
//	not JSON: line 3, byte 41: unexpected end of input
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON: line %d, byte %d: %s", e.Line, e.Offset, e.Problem)
}

// A scanner reads JSON in place and allocates nothing itself.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

// fail returns an error at the current position.
func (s *scanner) fail(format string, args ...any) error {
	return &SyntaxError{
		Offset:  int64(s.pos),
		Line:    s.line(),
		Problem: fmt.Sprintf(format, args...),
	}
}

// line returns the line of the current position, counted from 1.
func (s *scanner) line() int { return 1 + bytes.Count(s.data[:s.pos], []byte{'\n'}) }

// tooDeep returns an error about the bracket at the current position.
func (s *scanner) tooDeep() error {
	return &valueError{err: fmt.Errorf(
		"nested deeper than %d levels at line %d, byte %d; no field that is read needs that, so leave it out", maxDepth, s.line(), s.pos)}
}

// unexpected returns an error about the byte at the current position.
func (s *scanner) unexpected(want string) error {
	if s.pos >= len(s.data) {
		return s.fail("unexpected end of input, want %s", want)
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	return s.fail("unexpected %q, want %s", r, want)
}

// peek returns the next byte that is not space, without consuming it, or 0 at the
// end of the input.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// open consumes the bracket that begins an object or list and reports whether
// an item follows. If none does, it consumes the closing bracket too.
func (s *scanner) open(begin byte) (bool, error) {
	if s.peek() != begin {
		return false, s.unexpected(fmt.Sprintf("%q", begin))
	}
	if s.depth++; s.depth > maxDepth {
		return false, s.tooDeep()
	}
	s.pos++
	if s.peek() == begin+2 { // ASCII: '{' and '}', '[' and ']' are two apart
		s.pos++
		s.depth--
		return false, nil
	}
	return true, nil
}

// more consumes the comma or the closing bracket after an item of an object or
// list, and reports whether another item follows.
func (s *scanner) more(end byte) (bool, error) {
	switch s.peek() {
	case ',':
		s.pos++
		return true, nil
	case end:
		s.pos++
		s.depth--
		return false, nil
	default:
		return false, s.unexpected(fmt.Sprintf("a comma or %q", end))
	}
}

// key consumes the key of an object member and the colon, and returns the key.
func (s *scanner) key() ([]byte, error) {
	raw, err := s.rawKey()
	if err != nil {
		return nil, err
	}
	if key, ok := plainText(raw); ok {
		return key, nil
	}
	return []byte(unquote(raw)), nil
}

// rawKey is like key, but returns the key with its quotes and escapes.
func (s *scanner) rawKey() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.unexpected("a key in quotes")
	}
	raw, err := s.text()
	if err != nil {
		return nil, err
	}
	if s.peek() != ':' {
		return nil, s.unexpected("a colon")
	}
	s.pos++
	return raw, nil
}

// skip consumes one value of any kind.
func (s *scanner) skip() error {
	var err error
	switch c := s.peek(); c {
	case '{', '[':
		return s.skipNested(c)
	case '"':
		_, err = s.text()
	case 't', 'f', 'n':
		_, err = s.word()
	default:
		_, err = s.number()
	}
	return err
}

// skipNested consumes an object or list.
func (s *scanner) skipNested(begin byte) error {
	ok, err := s.open(begin)
	for ; ok && err == nil; ok, err = s.more(begin + 2) {
		if begin == '{' {
			if _, err := s.rawKey(); err != nil {
				return err
			}
		}
		if err := s.skip(); err != nil {
			return err
		}
	}
	return err
}

// raw consumes one value of any kind and returns its text.
func (s *scanner) raw() ([]byte, error) {
	s.peek()
	start := s.pos
	if err := s.skip(); err != nil {
		return nil, err
	}
	return s.data[start:s.pos], nil
}

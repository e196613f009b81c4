package strictjson

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// A Scanner reads JSON in place. It copies only names with escapes.
//
// Seam: jsontext.Decoder of encoding/json/v2 can replace it; see the package page.
type Scanner struct {
	data     []byte
	pos      int
	depth    int
	maxDepth int
}

// Mark is a place in a text to which a scanner can return.
type Mark struct {
	Pos   int // bytes before it
	Depth int // lists and objects around it
}

// Mark returns the present place.
func (s *Scanner) Mark() Mark { return Mark{s.pos, s.depth} }

// Reset returns to a place.
func (s *Scanner) Reset(m Mark) { s.pos, s.depth = m.Pos, m.Depth }

// AtEnd consumes white space and reports whether nothing follows.
func (s *Scanner) AtEnd() bool {
	s.Peek()
	return s.pos == len(s.data)
}

// Peek consumes white space and returns the next byte, which it leaves, or 0 at
// the end of the text.
func (s *Scanner) Peek() byte {
	if s.pos < len(s.data) {
		if c := s.data[s.pos]; c > ' ' {
			return c
		}
	}
	return s.peekSpace()
}

// peekSpace is Peek where white space may be next.
func (s *Scanner) peekSpace() byte {
	s.pos = skipSpace(s.data, s.pos)
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// isSpace reports whether c is white space.
func isSpace(c byte) bool {
	return c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t')
}

// Open consumes begin, the bracket '{' or '[' of an object or list, and reports
// whether an item follows. If none does, it consumes the closing bracket too.
func (s *Scanner) Open(begin byte) (bool, error) {
	if s.Peek() != begin {
		return false, s.Unexpected(fmt.Sprintf("%q", begin))
	}
	if s.depth++; s.depth > s.maxDepth {
		return false, s.limit(Depth, s.maxDepth)
	}
	s.pos++
	if s.Peek() == begin+2 { // ASCII: '{' and '}', '[' and ']' are two apart
		s.pos++
		s.depth--
		return false, nil
	}
	return true, nil
}

// More consumes the comma or the closing bracket end after an item of an object
// or list, and reports whether another item follows.
func (s *Scanner) More(end byte) (bool, error) {
	switch s.Peek() {
	case ',':
		s.pos++
		return true, nil
	case end:
		s.pos++
		s.depth--
		return false, nil
	default:
		return false, s.Unexpected(fmt.Sprintf("a comma or %q", end))
	}
}

// Key consumes the name of a member of an object, and the colon, and returns the
// name. The caller must not change or keep it.
func (s *Scanner) Key() ([]byte, error) {
	t, err := s.key()
	if err != nil {
		return nil, err
	}
	return t.bytes(), nil
}

// key is Key, but returns the name as it is written.
func (s *Scanner) key() (text, error) {
	if s.Peek() != '"' {
		return text{}, s.Unexpected("a key in quotes")
	}
	t, err := s.text()
	if err != nil {
		return text{}, err
	}
	if s.Peek() != ':' {
		return text{}, s.Unexpected("a colon")
	}
	s.pos++
	return t, nil
}

// Skip consumes one value of any kind.
func (s *Scanner) Skip() error {
	var err error
	switch c := s.Peek(); c {
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
func (s *Scanner) skipNested(begin byte) error {
	if s.skipWhole() {
		return nil
	}
	return s.skipItems(begin)
}

// skipItems is skipNested item by item, which knows what is wrong.
func (s *Scanner) skipItems(begin byte) error {
	ok, err := s.Open(begin)
	for ; ok && err == nil; ok, err = s.More(begin + 2) {
		if begin == '{' {
			if _, err := s.key(); err != nil {
				return err
			}
		}
		if err := s.skipItem(); err != nil {
			return err
		}
	}
	return err
}

// skipItem is Skip within skipItems.
func (s *Scanner) skipItem() error {
	if c := s.Peek(); c == '{' || c == '[' {
		return s.skipItems(c)
	}
	return s.Skip()
}

// Raw consumes one value of any kind and returns its text, which is a part of
// the data.
func (s *Scanner) Raw() ([]byte, error) {
	s.Peek()
	start := s.pos
	if err := s.Skip(); err != nil {
		return nil, err
	}
	return s.data[start:s.pos], nil
}

// Unexpected returns a [*SyntaxError] about the byte at the present place. Want
// says in words which text would be right.
func (s *Scanner) Unexpected(want string) error {
	if s.pos >= len(s.data) {
		return s.fail("unexpected end of input, want %s", want)
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	return s.fail("unexpected %q, want %s", r, want)
}

// fail returns a [*SyntaxError] about the present place.
func (s *Scanner) fail(format string, args ...any) error {
	return &SyntaxError{Offset: int64(s.pos), Line: s.line(), Problem: fmt.Sprintf(format, args...)}
}

// limit returns a [*LimitError] about the value at the present place.
func (s *Scanner) limit(l Limit, most int) error {
	return &LimitError{Limit: l, Max: most, Offset: int64(s.pos), Line: s.line()}
}

// line returns the line of the present place, counted from 1.
func (s *Scanner) line() int { return 1 + bytes.Count(s.data[:s.pos], []byte{'\n'}) }

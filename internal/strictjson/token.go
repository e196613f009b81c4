package strictjson

import "encoding/binary"

// plainByte has the bytes that stand for themselves in a string: ASCII without
// controls, the quote and the backslash.
var plainByte = func() (is [256]bool) {
	for c := ' '; c < 0x80; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// skipPlain returns the first place from pos on with a byte that is not plain, or
// the end of data. A byte-wise loop took a third of the time of decoding, so this
// one looks at eight bytes at once. The high bit of a byte of odd is set if the byte
// is no ASCII, below the space, the quote or the backslash. A borrow may set more
// high bits; the second loop skips those bytes.
func skipPlain(data []byte, pos int) int {
	const each = 0x0101010101010101
	for pos+8 <= len(data) {
		x := binary.LittleEndian.Uint64(data[pos:])
		odd := x | (x - each*' ') | ((x ^ each*'"') - each) | ((x ^ each*'\\') - each)
		if odd&(each*0x80) != 0 {
			break
		}
		pos += 8
	}
	for pos < len(data) && plainByte[data[pos]] {
		pos++
	}
	return pos
}

// skipSpace returns the first place from pos on that is no white space, or the end of
// data. Half of what kubectl prints is indentation, hence the eight bytes at once.
func skipSpace(data []byte, pos int) int {
	const spaces = 0x2020202020202020
	for pos < len(data) && isSpace(data[pos]) {
		pos++
		for pos+8 <= len(data) && binary.LittleEndian.Uint64(data[pos:]) == spaces {
			pos += 8
		}
	}
	return pos
}

// text consumes a string, whose opening quote is next.
func (s *Scanner) text() (text, error) {
	start, plain := s.pos, true
	for s.pos++; ; s.pos++ {
		s.pos = skipPlain(s.data, s.pos)
		if s.pos == len(s.data) {
			return text{}, s.fail("unexpected end of input in a string")
		}
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return text{raw: s.data[start:s.pos], plain: plain}, nil
		case c == '\\':
			plain = false
			if err := s.escape(); err != nil {
				return text{}, err
			}
		case c < ' ':
			return text{}, s.fail("control character %q in a string", c)
		default:
			plain = false // it may not be UTF-8
		}
	}
}

// escape consumes an escape sequence but for its last byte.
func (s *Scanner) escape() error {
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
				return s.Unexpected("a hexadecimal digit")
			}
		}
		return nil
	default:
		return s.Unexpected("an escape sequence")
	}
}

// word consumes true, false or null.
func (s *Scanner) word() ([]byte, error) {
	rest := s.data[s.pos:]
	for _, w := range [...]string{"null", "true", "false"} {
		if len(rest) >= len(w) && string(rest[:len(w)]) == w {
			s.pos += len(w)
			return rest[:len(w)], nil
		}
	}
	return nil, s.Unexpected("a value")
}

// number consumes a number.
func (s *Scanner) number() ([]byte, error) {
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
		return nil, s.Unexpected("a value")
	default:
		return nil, s.Unexpected("a digit")
	}
	if s.at() == '.' {
		s.pos++
		if s.digits() == 0 {
			return nil, s.Unexpected("a digit")
		}
	}
	if s.at()|' ' == 'e' {
		s.pos++
		if c := s.at(); c == '+' || c == '-' {
			s.pos++
		}
		if s.digits() == 0 {
			return nil, s.Unexpected("a digit")
		}
	}
	return s.data[start:s.pos], nil
}

// at returns the byte at the present place, 0 at the end of the text.
func (s *Scanner) at() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// digits consumes decimal digits and returns their number.
func (s *Scanner) digits() int {
	start := s.pos
	for c := s.at(); c >= '0' && c <= '9'; c = s.at() {
		s.pos++
	}
	return s.pos - start
}

// isNumber reports whether c begins a number.
func isNumber(c byte) bool { return c == '-' || c >= '0' && c <= '9' }

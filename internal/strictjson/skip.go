package strictjson

// maxFast is how deep skipWhole goes: one bit of a word for each level.
const maxFast = 64

// skipWhole consumes the object or list that is next, in one loop over the text, and
// reports whether it could. It gives up, with the scanner where it was, at anything
// that is wrong or nests deeper than usual; skipItems consumes everything and has the
// errors. Most of a text is skipped, so this loop bounds the speed of decoding.
func (s *Scanner) skipWhole() bool {
	start := s.pos
	end := s.wholeEnd(start)
	if end < 0 {
		s.pos = start
		return false
	}
	s.pos = end
	return true
}

// wholeEnd returns the end of the object or list that begins at pos, or -1.
func (s *Scanner) wholeEnd(pos int) int {
	data, most := s.data, min(maxFast, s.maxDepth-s.depth)
	var objects uint64 // the lowest bit is set if the innermost level is an object
	depth := 0
	for {
		// A value begins at pos.
		switch c := data[pos]; c {
		case '{', '[':
			if depth == most {
				return -1
			}
			depth++
			objects = objects<<1 | uint64(c>>5&1) // ASCII: of the two, '{' has this bit
			if pos = skipSpace(data, pos+1); pos == len(data) {
				return -1
			}
			if data[pos] == c+2 {
				break // closed below
			}
			if c == '{' {
				pos = s.nameEnd(pos)
			}
			if pos < 0 {
				return -1
			}
			continue
		case '"':
			pos = s.textEnd(pos)
		default:
			s.pos = pos
			if s.Skip() != nil {
				return -1
			}
			pos = s.pos
		}
		for more := false; !more; {
			if pos < 0 {
				return -1
			}
			if pos = skipSpace(data, pos); pos == len(data) {
				return -1
			}
			object := objects & 1
			switch c := data[pos]; {
			case c == ',':
				if pos = skipSpace(data, pos+1); pos == len(data) {
					return -1
				}
				if object != 0 {
					if pos = s.nameEnd(pos); pos < 0 {
						return -1
					}
				}
				more = true
			case c == '}' && object != 0, c == ']' && object == 0:
				pos++
				objects >>= 1
				if depth--; depth == 0 {
					return pos
				}
			default:
				return -1
			}
		}
	}
}

// textEnd returns the end of the string that begins at pos, or -1.
func (s *Scanner) textEnd(pos int) int {
	if end := skipPlain(s.data, pos+1); end < len(s.data) && s.data[end] == '"' {
		return end + 1
	}
	s.pos = pos
	if _, err := s.text(); err != nil {
		return -1
	}
	return s.pos
}

// nameEnd returns the beginning of the value after the name at pos, or -1.
func (s *Scanner) nameEnd(pos int) int {
	if s.data[pos] != '"' {
		return -1
	}
	if pos = s.textEnd(pos); pos < 0 {
		return -1
	}
	if pos = skipSpace(s.data, pos); pos == len(s.data) || s.data[pos] != ':' {
		return -1
	}
	if pos = skipSpace(s.data, pos+1); pos == len(s.data) {
		return -1
	}
	return pos
}

package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/berth-sched/berth/framework/api"
)

// unmarshal is json.Unmarshal for what this package looks at itself.
var unmarshal = json.Unmarshal

// A jsonScanner takes a stream of JSON objects and lists apart without keeping it. It
// looks at the structure only; what is inside an object is judged when it is decoded.
type jsonScanner struct {
	r          io.Reader
	buf        []byte // what was read; from mark on it is still needed
	mark, pos  int
	line       int // of the next byte
	dropped    int64
	failed     error // of the reader
	take       func(piece, listKind) error
	endOfItems func(listKind) error // called when the kind of a list is known at last
}

// scan calls take for every object.
func (s *jsonScanner) scan() error {
	s.line = 1
	for document := 1; ; document++ {
		c, ok := s.space()
		switch {
		case !ok && s.failed == io.EOF:
			return nil
		case !ok:
			return s.failed
		case c != '{': // package api says what is wrong
			s.drop()
			s.rest()
			return s.emit(s.line, document, -1, listKind{})
		}
		if err := s.document(document); err != nil {
			return err
		}
	}
}

// peek returns the next byte, and whether there is one.
func (s *jsonScanner) peek() (byte, bool) {
	if s.pos == len(s.buf) && !s.fill() {
		return 0, false
	}
	return s.buf[s.pos], true
}

// fill reads more, and makes room for it. It returns false at the end.
func (s *jsonScanner) fill() bool {
	const block = 256 << 10
	for s.failed == nil {
		if cap(s.buf)-len(s.buf) < block {
			kept := s.buf[s.mark:]
			if cap(s.buf)-len(kept) < block {
				s.buf = make([]byte, len(kept), max(2*len(kept), 4*block))
			} else {
				s.buf = s.buf[:len(kept)]
			}
			copy(s.buf, kept)
			s.dropped += int64(s.mark)
			s.mark, s.pos = 0, s.pos-s.mark
		}
		var n int
		n, s.failed = s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if n > 0 {
			return true
		}
	}
	return false
}

// drop forgets everything before the current place.
func (s *jsonScanner) drop() { s.mark = s.pos }

// skip passes the current byte.
func (s *jsonScanner) skip() {
	if s.buf[s.pos] == '\n' {
		s.line++
	}
	s.pos++
}

// space passes white space and returns the byte after it.
func (s *jsonScanner) space() (byte, bool) {
	for {
		c, ok := s.peek()
		if !ok || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, ok
		}
		s.skip()
	}
}

// rest passes what is read, and a block more, for an error about it.
func (s *jsonScanner) rest() {
	s.fill()
	s.pos = len(s.buf)
}

// wrong is the error of a byte that JSON does not have in this place.
func (s *jsonScanner) wrong(want string) error {
	found := "end of input"
	if c, ok := s.peek(); ok {
		found = fmt.Sprintf("%q", c)
	} else if s.failed != nil && s.failed != io.EOF {
		return s.failed
	}
	return &api.SyntaxError{Line: s.line, Offset: s.dropped + int64(s.pos), Problem: "unexpected " + found + ", want " + want}
}

// value passes a value. An end inside is no error here: decoding finds it.
func (s *jsonScanner) value() {
	depth := 0
	for {
		c, ok := s.peek()
		if !ok {
			return
		}
		switch c {
		case '"':
			s.text()
			if depth == 0 {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return
			}
		case ',':
			if depth == 0 {
				return
			}
		}
		s.skip()
		if depth == 0 && (c == '}' || c == ']') {
			return
		}
	}
}

// text passes a text in quotes.
func (s *jsonScanner) text() {
	s.pos++
	for {
		if _, ok := s.peek(); !ok {
			return
		}
		rest := s.buf[s.pos:]
		for i := 0; i < len(rest); i++ {
			switch rest[i] {
			case '"':
				s.pos += i + 1
				return
			case '\n':
				s.line++
			case '\\':
				if i++; i == len(rest) { // the escaped byte is not read yet
					s.pos += i
					if _, ok := s.peek(); ok {
						s.pos++
					}
					rest = nil
				}
			}
		}
		if rest != nil {
			s.pos += len(rest)
		}
	}
}

// emit hands over the text from the mark to here.
func (s *jsonScanner) emit(line, document, item int, list listKind) error {
	if s.failed != nil && s.failed != io.EOF {
		return s.failed
	}
	return s.take(piece{text: s.buf[s.mark:s.pos], line: line, document: document, item: item}, list)
}

// document reads an object, whose brace is next. A list is taken apart.
func (s *jsonScanner) document(number int) error {
	s.drop()
	line := s.line
	var list listKind
	isList := false // its items are handed over
	passed := false // it has items of another kind
	s.skip()
	for first := true; ; first = false {
		c, ok := s.space()
		switch {
		case ok && c == '}':
			s.skip()
			if isList {
				return s.endOfItems(list)
			}
			return s.emit(line, number, -1, listKind{})
		case ok && c == ',' && !first:
			s.skip()
			c, ok = s.space()
		}
		if !ok || c != '"' {
			return s.broken(isList, line, number, "a key in quotes")
		}
		key := s.quoted()
		if c, ok = s.space(); !ok || c != ':' {
			return s.broken(isList, line, number, "a colon")
		}
		s.skip()
		switch c, ok = s.space(); {
		case !ok:
			return s.broken(isList, line, number, "a value")
		case key == "items" && (isList || passed && c == '[' && list.mayBeList()):
			err := &api.InvalidError{Object: fmt.Sprintf("document %d", number), Field: "items", Err: errors.New("is repeated")}
			return &FaultError{Line: s.line, Err: err}
		case c == '[' && key == "items" && list.mayBeList():
			isList = true
			if err := s.items(number, &list); err != nil {
				return err
			}
		case c == '"' && key == "kind":
			list.kind = s.quoted()
		case c == '"' && key == "apiVersion":
			list.apiVersion = s.quoted()
		default:
			passed = passed || c == '[' && key == "items"
			s.value()
		}
		if isList {
			s.drop()
		}
	}
}

// quoted passes a text in quotes and returns it.
func (s *jsonScanner) quoted() (text string) {
	start := s.pos - s.mark
	s.text()
	_ = unmarshal(s.buf[s.mark+start:s.pos], &text) // what is no text is found when it is decoded
	return text
}

// broken handles an object that is not JSON: package api says what is wrong, unless
// parts of it were handed over already.
func (s *jsonScanner) broken(isList bool, line, number int, want string) error {
	if isList {
		return s.wrong(want)
	}
	s.rest()
	return s.emit(line, number, -1, listKind{})
}

// items hands over the elements of a list, whose bracket is next.
func (s *jsonScanner) items(document int, list *listKind) error {
	s.skip()
	for i := 0; ; i++ {
		s.drop()
		c, ok := s.space()
		switch {
		case ok && c == ']' && i == 0:
			s.skip()
			return nil
		case !ok:
			return s.wrong("a value")
		}
		s.drop()
		line := s.line
		s.value()
		if s.pos == s.mark {
			return s.wrong("a value")
		}
		if err := s.emit(line, document, i, *list); err != nil {
			return err
		}
		s.drop()
		switch c, ok = s.space(); {
		case ok && c == ',':
			s.skip()
		case ok && c == ']':
			s.skip()
			return nil
		default:
			return s.wrong("a comma or ']'")
		}
	}
}

// missesKind reports whether it is the error of package api for an object without a kind.
func missesKind(err error) bool {
	var invalid *api.InvalidError
	return errors.As(err, &invalid) && invalid.Field == "kind" && invalid.Value == ""
}

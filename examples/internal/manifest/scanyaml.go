package manifest

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// maxDocument is how much of a YAML document is decoded at once, in bytes, if it is a
// list that can be taken apart.
const maxDocument = 2 << 20

// A yamlScanner takes a stream of YAML documents apart without keeping it. A list as
// kubectl prints it is taken apart further, at the dashes of its items. The scanner only looks at
// lines, so the YAML library reads all of the text, what is around the items too: a list that
// the scanner misjudges is read as a whole, or is an error.
type yamlScanner struct {
	r     *bufio.Reader
	take  func(yamlPart) error
	limit int // of a document that is not taken apart, in bytes

	part   yamlPart
	line   int // of the next line
	state  listState
	indent int  // of the dashes
	items  int  // that were begun in this document
	intact bool // the document is not taken apart
	// Of a list that is being taken apart, what is before the items.
	head     []byte
	headLine int
	list     listKind // as the head says
}

// A yamlPart is a whole document, or a number of items of one.
type yamlPart struct {
	text     []byte
	line     int // of its first byte, from 1
	document int // from 1
	first    int // the index of the first of the items
	starts   []yamlStart
	whole    bool      // a document from its begin to its end
	marked   bool      // a marker is before it
	tail     yamlStart // the fields after the items, at offset 0 if there are none
	list     listKind
}

// A yamlStart is where an item begins, or what follows the items.
type yamlStart struct{ offset, line int }

// A listState says where in a list a line is.
type listState int

const (
	outside listState = iota // before the items, or after them
	opening                  // after the line "items:"
	inside                   // among the items
)

// pieces returns the items, or the document as the only one.
func (p *yamlPart) pieces() []piece {
	if len(p.starts) == 0 {
		return []piece{{text: p.text, line: p.line, document: p.document, item: -1, yaml: true}}
	}
	list := make([]piece, len(p.starts))
	for i, at := range p.starts {
		end := len(p.text)
		if i+1 < len(p.starts) {
			end = p.starts[i+1].offset
		}
		list[i] = piece{text: trimTail(p.text[at.offset:end]), line: at.line, document: p.document, item: p.first + i, yaml: true, entry: true}
	}
	return list
}

// trimTail cuts the fields after the last item of a list off it: they stand further left.
func trimTail(text []byte) []byte {
	indent := len(text) - len(bytes.TrimLeft(text, " "))
	for at := bytes.IndexByte(text, '\n') + 1; at > 0 && at < len(text); {
		line, _, _ := bytes.Cut(text[at:], []byte("\n"))
		if body := bytes.TrimLeft(line, " "); len(bytes.TrimSpace(body)) > 0 && len(line)-len(body) <= indent && body[0] != '#' {
			return text[:at]
		}
		at += len(line) + 1
	}
	return text
}

// scan calls take for every document, or part of one.
func (s *yamlScanner) scan() error {
	s.line = 1
	s.begin(1)
	for {
		line, err := s.r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) > 0 {
			if err := s.add(line); err != nil {
				return err
			}
			s.line++
		}
		if err == io.EOF {
			return s.end()
		}
	}
}

// begin begins a document.
func (s *yamlScanner) begin(number int) {
	s.part = yamlPart{text: s.part.text[:0], line: s.line, document: number, whole: true}
	s.state, s.items, s.intact = outside, 0, false
}

// end hands over what is left of a document.
func (s *yamlScanner) end() error {
	if len(s.part.starts) == 0 {
		return s.take(s.part)
	}
	frame := s.frame()
	if s.part.whole && frame.isLong() {
		return s.take(s.part)
	}
	fields, err := frame.read()
	s.part.list = fields.list
	if s.part.whole { // what is wrong with it is found when it is decoded
		return s.take(s.part)
	}
	if s.part.tail.offset > 0 {
		s.part.text = s.part.text[:s.part.tail.offset]
	}
	if err := s.take(s.part); err != nil {
		return err
	}
	if err == nil {
		err = fields.check(s.list, s.part.document)
	}
	if err != nil {
		return frame.fault(err)
	}
	return nil
}

func (s *yamlScanner) add(line []byte) error {
	body := bytes.TrimLeft(line, " ")
	indent := len(line) - len(body)
	body = bytes.TrimRight(body, " \t\r\n")
	if indent == 0 && isMarker(body) {
		return s.marker(line, body)
	}
	if indent == 0 && s.part.marked && string(body) == "..." && !s.hasContent() { // an empty document ends
		s.begin(s.part.document)
		s.part.line++
		return nil
	}
	if len(body) > 0 && body[0] != '#' {
		if err := s.look(indent, string(body[:min(len(body), 200)])); err != nil {
			return err
		}
	}
	s.part.text = append(s.part.text, line...)
	if !s.part.whole && s.state == outside && len(s.part.text)-s.part.tail.offset > maxDocument {
		if err := s.end(); err != nil {
			return err
		}
		return &FaultError{Line: s.line, Err: errLongTail}
	}
	return nil
}

// isMarker reports whether a document begins on the line.
func isMarker(body []byte) bool {
	rest, found := bytes.CutPrefix(body, []byte("---"))
	return found && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r')
}

// marker ends a document, unless only comments and empty lines came so far.
func (s *yamlScanner) marker(line, body []byte) error {
	number := s.part.document
	if s.hasContent() {
		if err := s.end(); err != nil {
			return err
		}
		number++
	}
	s.begin(number)
	s.part.marked = true
	if len(body) > len("---") { // a document on the line of the marker
		s.part.text = append(s.part.text, line...)
	} else {
		s.part.line++
	}
	return nil
}

// hasContent reports whether the document has more than comments and directives.
func (s *yamlScanner) hasContent() bool {
	if !s.part.whole {
		return true
	}
	for line := range bytes.Lines(s.part.text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return true
		}
	}
	return false
}

// look follows the items of a list.
func (s *yamlScanner) look(indent int, body string) error {
	dash := body == "-" || strings.HasPrefix(body, "- ")
	switch {
	case s.state == opening && dash:
		s.state, s.indent, s.part.tail = inside, indent, yamlStart{}
	case s.state == opening, s.state == inside && (indent < s.indent || indent == s.indent && !dash):
		s.state, s.part.tail = outside, yamlStart{len(s.part.text), s.line}
	}
	switch {
	case s.state == inside && dash && indent == s.indent:
		if len(s.part.starts) > 0 && len(s.part.text) >= s.limit && s.divisible() {
			if err := s.cut(); err != nil {
				return err
			}
		}
		s.part.starts = append(s.part.starts, yamlStart{len(s.part.text), s.line})
		s.items++
	case s.state == outside && indent == 0 && body == "items:" && s.items == 0:
		s.state = opening
	}
	return nil
}

// frame returns what is around the items of the document.
func (s *yamlScanner) frame() listFrame {
	f := listFrame{head: s.head, line: s.headLine, indent: s.indent}
	if s.part.whole {
		f.head, f.line = s.part.text[:s.part.starts[0].offset], s.part.line
	}
	if tail := s.part.tail; tail.offset > 0 {
		f.tail, f.tailLine = s.part.text[tail.offset:], tail.line
	}
	return f
}

// divisible reports whether the list may be taken apart. Before that is begun, it reads the head.
func (s *yamlScanner) divisible() bool {
	if !s.part.whole || s.intact {
		return !s.intact
	}
	frame := s.frame()
	if s.intact = frame.isLong(); s.intact {
		return false
	}
	fields, err := frame.read()
	s.intact = err != nil || fields.repeated || !fields.list.mayBeList()
	s.head, s.headLine, s.list = bytes.Clone(frame.head), frame.line, fields.list
	return !s.intact
}

// cut hands over the items that are complete.
func (s *yamlScanner) cut() error {
	s.part.whole, s.part.list = false, s.list
	if start := s.part.starts[0].offset; start > 0 { // the fields before the items
		s.part.text = s.part.text[start:]
		for i := range s.part.starts {
			s.part.starts[i].offset -= start
		}
		s.part.line = s.part.starts[0].line
	}
	if err := s.take(s.part); err != nil {
		return err
	}
	s.part = yamlPart{text: s.part.text[:0], line: s.line, document: s.part.document, first: s.items}
	return nil
}

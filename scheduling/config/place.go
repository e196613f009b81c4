package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// maxPlaced bounds the size, in bytes, of a document with line lookup.
const maxPlaced = 1 << 20

// placeCost is what the places of YAML text cost: more than the text itself, because the
// library makes an error for every value whose line is asked for.
var placeCost = cost{entry: 900, value: 450, free: 4 << 20, perByte: 80, again: 2}

// loadPlaceCost is placeCost for [Load], which reads the text before.
var loadPlaceCost = cost{entry: 900, value: 450, free: 2 << 20, perByte: 40, again: 2}

// A place is the position of a value in a document.
type place struct {
	line   int // from 1; 0 for unknown, as for a YAML null
	fields map[string]*place
	items  []*place
}

// find returns the line of the value at path, or of the innermost value around it
// that has one; 0 if only the document itself is left.
func (p *place) find(path string) int {
	line := 0
	for path != "" && p != nil {
		var next *place
		if rest, ok := strings.CutPrefix(path, "["); ok {
			key, tail, _ := strings.Cut(rest, "]")
			path = strings.TrimPrefix(tail, ".")
			if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(p.items) {
				next = p.items[i]
			} else {
				next = p.fields[key]
			}
		} else {
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			next = p.fields[path[:end]]
			path = strings.TrimPrefix(path[end:], ".")
		}
		if next != nil && next.line > 0 {
			line = next.line
		}
		p = next
	}
	return line
}

// FieldLine returns the line of a field in a document, YAML or JSON, counted from 1. The
// path has the form of an [*api.InvalidError]:
//
//	spec.containers[0].resources.requests[cpu]
//
// If the document has no such field, the line is that of the innermost field around it
// that there is. It is 0 if there is none, if the document cannot be read, or if it is
// longer than 1 MiB. It is also 0 if YAML has thousands of values of a few bytes each.
//
// It reads the document; [FieldLines] reads it once for many fields.
func FieldLine(document []byte, path string) int { return FieldLines(document, path)[0] }

// FieldLines is [FieldLine] for many fields of a document: it returns the line of each.
func FieldLines(document []byte, paths ...string) []int {
	lines := make([]int, len(paths))
	if len(paths) == 0 || checkYAML(document, readCost) != nil {
		return lines
	}
	if looksLikeJSON(document) && !json.Valid(document) { // YAML that begins with a brace
		document = append([]byte("--- "), document...)
	}
	places := placesOf(document, placeCost)
	for i, path := range paths {
		lines[i] = places.find(path)
	}
	return lines
}

// placesOf returns the places of a document that has already parsed without error. A
// document that is too large has none. One with too many values for its size has only the
// line where it begins.
func placesOf(doc []byte, c cost) *place {
	if len(doc) > maxPlaced {
		return nil
	}
	if looksLikeJSON(doc) {
		s := jsonPlaces{doc: doc, dec: json.NewDecoder(bytes.NewReader(doc)), line: 1}
		s.dec.UseNumber()
		return s.value()
	}
	if _, err := c.exceeded(doc); err != nil {
		return &place{line: documentOf(doc, 0).line}
	}
	var y yamlPlace
	if err := guarded(func() error { return yaml.Unmarshal(doc, &y) }); err != nil {
		return nil
	}
	return &y.place
}

// jsonPlaces reads the places of a JSON document.
type jsonPlaces struct {
	doc  []byte
	dec  *json.Decoder
	pos  int // newlines are counted up to here
	line int
	last *place // of a text, number or other value without values inside

	depth  int // of the value that is read
	failed bool
}

// token reads a token and counts the lines before its end.
func (s *jsonPlaces) token() json.Token {
	t, err := s.dec.Token()
	if err != nil {
		s.failed = true
		return nil
	}
	end := int(s.dec.InputOffset())
	s.line += bytes.Count(s.doc[s.pos:end], []byte{'\n'})
	s.pos = end
	return t
}

// value reads a value. A field has the line of its name. What is nested too deeply has the
// line of what is around it, because the call stack is small in a browser.
func (s *jsonPlaces) value() *place {
	t := s.token()
	s.depth++
	defer func() { s.depth-- }()
	_, more := t.(json.Delim)
	if more && s.depth > maxNesting {
		s.skip()
		more = false
	}
	if !more {
		return s.leaf(s.line)
	}
	if begin := s.line; !s.dec.More() {
		s.token()
		return s.leaf(begin)
	}
	p := &place{line: s.line}
	switch t {
	case json.Delim('{'):
		p.fields = make(map[string]*place)
		for s.dec.More() {
			name, _ := s.token().(string)
			line := s.line
			v := s.value()
			p.fields[name] = &place{line: line, fields: v.fields, items: v.items}
		}
		s.token()
	case json.Delim('['):
		for s.dec.More() {
			p.items = append(p.items, s.value())
		}
		s.token()
	}
	return p
}

// leaf returns the place of a value without values inside. Neighbours in one line share it.
func (s *jsonPlaces) leaf(line int) *place {
	if s.last == nil || s.last.line != line {
		s.last = &place{line: line}
	}
	return s.last
}

// skip goes behind the list or object whose begin was read.
func (s *jsonPlaces) skip() {
	for open := 1; open > 0 && !s.failed; {
		switch s.token() {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
}

// A yamlPlace is a place that fills itself from a YAML node.
type yamlPlace struct{ place }

// UnmarshalYAML implements the interface of the YAML library. The library gives the
// line of a node only in the error for a value that does not fit. So every node is
// first decoded into a type that nothing fits.
func (y *yamlPlace) UnmarshalYAML(unmarshal func(any) error) error {
	var kind string
	var err error
	if y.line, kind, err = lineOf(unmarshal); err != nil {
		return err
	}
	switch kind {
	case "!!map":
		var m map[yamlKey]*yamlPlace
		if err := unmarshal(&m); err != nil {
			return within(y.line, err)
		}
		y.fields = make(map[string]*place, len(m))
		texts := make(map[string]bool, len(m))
		for k, v := range m {
			field := &place{line: k.line}
			if v != nil {
				field.fields, field.items = v.fields, v.items
			}
			was := y.fields[k.name]
			if was != nil && texts[k.name] != k.isText { // such as 1 and "1"
				return fmt.Errorf("line %d: the keys of a mapping are not unique", max(was.line, k.line))
			}
			texts[k.name] = k.isText
			if was == nil || was.line < field.line {
				y.fields[k.name] = field
			}
		}
	case "!!seq":
		var list []*yamlPlace
		if err := unmarshal(&list); err != nil {
			return within(y.line, err)
		}
		for _, v := range list {
			if v == nil {
				v = new(yamlPlace)
			}
			y.items = append(y.items, &v.place)
		}
	}
	return nil
}

// A yamlKey is the key of a YAML mapping and its line.
type yamlKey struct {
	name   string
	line   int
	isText bool
}

// UnmarshalYAML implements the interface of the YAML library.
func (k *yamlKey) UnmarshalYAML(unmarshal func(any) error) error {
	var err error
	if k.line, _, err = lineOf(unmarshal); err != nil {
		return err
	}
	var key any
	if err := unmarshal(&key); err != nil {
		return within(k.line, err)
	}
	if k.name, err = keyText(key); err != nil {
		return within(k.line, err)
	}
	_, k.isText = key.(string)
	return nil
}

// lineOf returns the line of a node, and its YAML kind if it is a collection. It is an error
// if the library cannot read the node as anything.
func lineOf(unmarshal func(any) error) (line int, kind string, fault error) {
	var nothing chan int
	err := unmarshal(&nothing)
	if err == nil {
		return 0, "", nil
	}
	line, text := cutLine(err.Error())
	if line == 0 {
		return 0, "", err
	}
	for _, k := range []string{"!!map", "!!seq"} {
		if strings.Contains(text, "cannot unmarshal "+k+" into") {
			kind = k
		}
	}
	return line, kind, nil
}

// cutLine splits the text of a YAML error into its line, 0 if it has none, and the
// rest.
func cutLine(text string) (int, string) {
	_, after, found := strings.Cut(text, "line ")
	if !found {
		return 0, text
	}
	number, rest, found := strings.Cut(after, ": ")
	line, err := strconv.Atoi(number)
	if !found || err != nil {
		return 0, text
	}
	return line, rest
}

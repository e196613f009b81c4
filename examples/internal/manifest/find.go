package manifest

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// A Field is a field of an object, and where it is.
type Field struct {
	// Object is named as in errors: by its name, or by its place in the text.
	Object string
	// Path is the path of the field, as in errors.
	Path string
	// Found is set once a source has the object.
	Found bool
	// Line is the line of the field in that source; 0 if it is not known.
	Line int
}

// FieldsOf returns the fields that errors are about. made has the workload of each pod that
// was made for one: the text has the field in the workload's template.
func FieldsOf(errs []*api.InvalidError, made map[string]string) []*Field {
	fields := make([]*Field, len(errs))
	for i, e := range errs {
		fields[i] = &Field{Object: e.Object, Path: e.Field}
		if workload, ok := made[e.Object]; ok {
			fields[i].Object, fields[i].Path = workload, "spec.template."+e.Field
		}
	}
	return fields
}

// Find looks for the fields that are not found yet. It reads the source once for all of
// them, so look for many fields together. If the source cannot be read again, none is found.
// Of several objects of one name the last counts.
func (c *Source) Find(fields []*Field) {
	s := fieldSearch{wanted: map[string][]*Field{}, lines: map[*Field]int{}}
	for _, f := range fields {
		if !f.Found {
			s.want(f)
		}
	}
	if len(s.wanted) == 0 {
		return
	}
	var r io.Reader = bytes.NewReader(c.text)
	if c.text == nil {
		if c.Open == nil {
			return
		}
		again, err := c.Open()
		if err != nil {
			return
		}
		defer again.Close()
		r = again
	}
	if in := bufio.NewReaderSize(r, maxKept); !s.inJSON(in) {
		if c.text != nil {
			in.Reset(bytes.NewReader(c.text))
		}
		s.inYAML(in)
	}
	for f, line := range s.lines {
		f.Found, f.Line = true, line
	}
}

// A fieldSearch looks for fields in the objects of a text.
type fieldSearch struct {
	wanted map[string][]*Field // by the names and places of objects
	lines  map[*Field]int      // of those found
}

// want adds a field. An error about an object without a name has its place: "pod (document 2)".
func (s *fieldSearch) want(f *Field) {
	s.wanted[f.Object] = append(s.wanted[f.Object], f)
	if _, place, found := strings.Cut(strings.TrimSuffix(f.Object, ")"), "("); found {
		s.wanted[place] = append(s.wanted[place], f)
	}
}

// look finds the fields that are wanted of a piece. It reads the piece once for them.
func (s *fieldSearch) look(p piece, list listKind) error {
	fields := s.wanted[p.place()]
	if name := p.label(list); name != "" {
		fields = append(fields[:len(fields):len(fields)], s.wanted[name]...)
		if full := withDefault(name); full != name {
			fields = append(fields, s.wanted[full]...)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	paths := make([]string, len(fields))
	for i, f := range fields {
		paths[i] = f.Path
	}
	for i, line := range p.linesOf(paths) {
		s.lines[fields[i]] = line
	}
	return nil
}

// inJSON looks in a text that begins with a brace. It returns false if the text must be read
// as YAML.
func (s *fieldSearch) inJSON(in *bufio.Reader) bool {
	head, err := in.Peek(maxKept)
	if text := bytes.TrimLeft(head, "\ufeff \t\r\n"); len(text) == 0 || text[0] != '{' {
		return false
	}
	scanner := jsonScanner{r: in, take: s.look, endOfItems: func(listKind) error { return nil }}
	return scanner.scan() == nil || err == nil // a longer text is JSON only
}

func (s *fieldSearch) inYAML(in *bufio.Reader) {
	scanner := yamlScanner{r: in, limit: maxDocument, take: func(part yamlPart) error {
		for _, p := range part.pieces() {
			_ = s.look(p, part.list) // it has no error
		}
		return nil
	}}
	_ = scanner.scan() // it was read before
}

// withDefault adds the default namespace to the name of an object.
func withDefault(object string) string {
	kind, name, _ := strings.Cut(object, " ")
	if strings.Contains(name, "/") {
		return object
	}
	return kind + " default/" + name
}

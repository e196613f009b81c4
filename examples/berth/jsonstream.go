package main

import (
	"bufio"
	"bytes"
	"encoding"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// writeJSON writes what a [json.Encoder] writes that indents by two spaces and does not escape
// HTML, with two differences. It never holds more than one element of a list as text, so a result
// with a million pods takes no memory for its text. Characters that are not seen are escaped: a
// terminal would obey some of them, and they could imitate other output.
func writeJSON(w io.Writer, value any) error {
	s := jsonStream{w: bufio.NewWriterSize(w, 1<<16), flat: map[reflect.Type]bool{}}
	s.encoder = json.NewEncoder(&s.buffer)
	s.encoder.SetEscapeHTML(false)
	s.value(reflect.ValueOf(value), "")
	s.text("\n")
	if s.err != nil {
		return s.err
	}
	return s.w.Flush()
}

// A jsonStream writes JSON until the first error.
type jsonStream struct {
	w       *bufio.Writer
	err     error
	buffer  bytes.Buffer
	encoder *json.Encoder // to the buffer
	flat    map[reflect.Type]bool
}

func (s *jsonStream) text(text string) {
	if s.err == nil {
		_, s.err = s.w.WriteString(text)
	}
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// isOwn reports whether a type says itself what its JSON is.
func isOwn(t reflect.Type) bool {
	return slices.ContainsFunc([]reflect.Type{t, reflect.PointerTo(t)}, func(t reflect.Type) bool {
		return t.Implements(marshaler) || t.Implements(textMarshaler)
	})
}

// isFlat reports whether values of a type have no lists, as far as one can tell, or say
// themselves what their JSON is.
func (s *jsonStream) isFlat(t reflect.Type) (yes bool) {
	yes, known := s.flat[t]
	if known {
		return yes
	}
	switch k := t.Kind(); {
	case isOwn(t):
		yes = true
	case k == reflect.Pointer:
		s.flat[t] = false // if it is within itself
		yes = s.isFlat(t.Elem())
	case k == reflect.Struct:
		yes = true
		for i := range t.NumField() {
			yes = yes && s.isFlat(t.Field(i).Type)
		}
	default:
		yes = k != reflect.Slice && k != reflect.Array && k != reflect.Map && k != reflect.Interface
	}
	s.flat[t] = yes
	return yes
}

// value writes a value whose lines begin with an indent.
func (s *jsonStream) value(v reflect.Value, indent string) {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() && !isOwn(v.Type()) {
		v = v.Elem()
	}
	switch {
	case s.err != nil:
	case !v.IsValid() || s.isFlat(v.Type()):
		s.whole(v, indent)
	case v.Kind() == reflect.Slice && v.Len() > 0 && v.Type().Elem().Kind() != reflect.Uint8:
		s.list(v, indent)
	case v.Kind() == reflect.Struct:
		fields, ok := fieldsOf(v)
		if !ok || len(fields) == 0 {
			s.whole(v, indent)
			return
		}
		s.fields(fields, indent)
	default:
		s.whole(v, indent)
	}
}

func (s *jsonStream) list(v reflect.Value, indent string) {
	inner := indent + "  "
	before := "[\n"
	for i := range v.Len() {
		s.text(before + inner)
		s.value(v.Index(i), inner)
		before = ",\n"
	}
	s.text("\n" + indent + "]")
}

func (s *jsonStream) fields(list []jsonField, indent string) {
	inner := indent + "  "
	before := "{\n"
	for _, f := range list {
		s.text(before + inner)
		s.whole(reflect.ValueOf(f.name), inner)
		s.text(": ")
		s.value(f.value, inner)
		before = ",\n"
	}
	s.text("\n" + indent + "}")
}

// whole writes a value at once.
func (s *jsonStream) whole(v reflect.Value, indent string) {
	if s.err != nil {
		return
	}
	var value any
	switch {
	case !v.IsValid():
	case v.CanAddr() && v.Kind() != reflect.Pointer:
		value = v.Addr().Interface()
	default:
		value = v.Interface()
	}
	s.buffer.Reset()
	s.encoder.SetIndent(indent, "  ")
	if s.err = s.encoder.Encode(value); s.err == nil {
		_, s.err = s.w.Write(escapeHidden(bytes.TrimSuffix(s.buffer.Bytes(), []byte("\n"))))
	}
}

// A jsonField is a field of a struct that is written.
type jsonField struct {
	name  string
	value reflect.Value
}

// fieldsOf lists the fields of a struct that are written; ok is false if a tag says more than a
// name and omitempty, or a field is embedded.
func fieldsOf(v reflect.Value) (list []jsonField, ok bool) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous || options != "" && options != "omitempty":
			return nil, false
		case !f.IsExported() || tag == "-" || options == "omitempty" && isEmpty(v.Field(i)):
			continue
		case name == "":
			name = f.Name
		}
		list = append(list, jsonField{name, v.Field(i)})
	}
	return list, true
}

// isEmpty is what omitempty leaves out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// escapeHidden escapes characters of a JSON text that are not seen. They can only be in its
// strings, which are the same when they are decoded.
func escapeHidden(text []byte) []byte {
	hidden := func(r rune) bool { return r >= utf8.RuneSelf-1 && !unicode.IsPrint(r) }
	if !bytes.ContainsFunc(text, hidden) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if !hidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		units := utf16.AppendRune(nil, r)
		for _, u := range units {
			const digits = "0123456789abcdef"
			out = append(out, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
		}
	}
	return out
}

package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// A shape holds what decoding needs to know about a type. The decoder builds shapes
// on demand: a document rarely uses more than a tenth of the fields.
type shape struct {
	typ    reflect.Type
	self   bool              // decodes itself
	packed bool              // a ResourceMap, to be decoded as the struct of elem
	elem   *shape            // of a pointer, list or map
	fields map[string]*field // of a struct, by JSON name
}

// A field is a field of a struct, or of a struct embedded in it.
type field struct {
	name  string
	typ   reflect.Type
	index []int
	shape *shape // nil until needed
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// shape returns the shape of t.
func (d *decoder) shape(t reflect.Type) *shape {
	if s := d.shapes[t]; s != nil {
		return s
	}
	if t == reflect.TypeFor[ResourceMap]() {
		s := &shape{typ: t, packed: true}
		d.shapes[t] = s
		s.elem = d.shape(reflect.TypeFor[resourceMapJSON]())
		return s
	}
	// Maps are always decoded entry by entry, so that an error can name the key.
	s := &shape{typ: t, self: t.Kind() != reflect.Map && reflect.PointerTo(t).Implements(unmarshaler)}
	d.shapes[t] = s
	switch t.Kind() {
	case reflect.Struct:
		if !s.self {
			s.fields = make(map[string]*field, t.NumField())
			s.collect(t, nil)
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		s.elem = d.shape(t.Elem())
	}
	return s
}

// collect adds the fields of t, which lies at index. The fields of a struct
// embedded without a JSON name belong to the outer struct.
func (s *shape) collect(t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name != "":
			s.fields[name] = &field{name: name, typ: f.Type, index: at}
		case f.Anonymous:
			s.collect(f.Type, at)
		}
	}
}

// Package memsize estimates how much memory an object holds.
package memsize

import "reflect"

// Of returns about how many bytes *p refers to, itself included: structs, strings, and
// the contents of slices, maps and pointers, as if nothing were shared. *p must not refer
// to itself. Channels, functions and what is in interfaces do not count.
//
// It costs about 20 ns a field, so it is for what is kept, not for every decision.
func Of[T any](p *T) int {
	if p == nil {
		return 0
	}
	v := reflect.ValueOf(p).Elem()
	return int(v.Type().Size()) + beyond(v)
}

// mapEntry is about the memory of a map entry besides its key and value.
const mapEntry = 8

// beyond is the memory that a value refers to.
func beyond(v reflect.Value) int {
	if v.IsZero() {
		return 0
	}
	n := 0
	switch v.Kind() {
	case reflect.String:
		n = v.Len()
	case reflect.Pointer:
		n = int(v.Type().Elem().Size()) + beyond(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			n += beyond(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			n += beyond(v.Index(i))
		}
	case reflect.Slice:
		n = v.Cap() * int(v.Type().Elem().Size())
		if refers(v.Type().Elem()) {
			for i := range v.Len() {
				n += beyond(v.Index(i))
			}
		}
	case reflect.Map:
		each := int(v.Type().Key().Size()+v.Type().Elem().Size()) + mapEntry
		for it := v.MapRange(); it.Next(); {
			n += each + beyond(it.Key()) + beyond(it.Value())
		}
	}
	return n
}

// refers reports whether values of a type may refer to more memory. Numbers do not, so
// long lists of them need no walk.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Pointer, reflect.Struct, reflect.Array, reflect.Slice, reflect.Map:
		return true
	}
	return false
}

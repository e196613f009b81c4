package api

import "reflect"

// Clone returns a deep copy of x: no change through the copy affects x. A nil x
// gives nil.
func Clone[T Object](x *T) *T { return clone(x) }

func clone[T any](x *T) *T {
	if x == nil {
		return nil
	}
	c := new(T)
	cloneInto(reflect.ValueOf(c).Elem(), reflect.ValueOf(x).Elem())
	return c
}

// cloneInto makes dst, which is zero, a deep copy of src. It copies structs with
// unexported fields (quantities, times) as a whole, because nothing can change
// their content.
func cloneInto(dst, src reflect.Value) {
	switch src.Kind() {
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			cloneInto(dst.Elem(), src.Elem())
		}
	case reflect.Slice:
		if !src.IsNil() {
			dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
			for i := range src.Len() {
				cloneInto(dst.Index(i), src.Index(i))
			}
		}
	case reflect.Map:
		if !src.IsNil() {
			dst.Set(reflect.MakeMapWithSize(src.Type(), src.Len()))
			for entries := src.MapRange(); entries.Next(); {
				c := reflect.New(src.Type().Elem()).Elem()
				cloneInto(c, entries.Value())
				dst.SetMapIndex(entries.Key(), c)
			}
		}
	case reflect.Struct:
		if src.NumField() > 0 && !src.Type().Field(0).IsExported() {
			dst.Set(src)
			return
		}
		for i := range src.NumField() {
			cloneInto(dst.Field(i), src.Field(i))
		}
	default:
		dst.Set(src)
	}
}

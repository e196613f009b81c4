package convert

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// A copier converts the value at src into the zero value at dst.
type copier func(dst, src unsafe.Pointer)

// A compiler makes copiers. It keeps the fields that it cannot fill.
type compiler struct {
	missing []string
}

// compile returns the copier between two types; path names the place in messages.
func (c *compiler) compile(dst, src reflect.Type, path string) copier {
	if leaf, ok := leaves[pair{dst, src}]; ok {
		return leaf
	}
	if alike(dst, src) {
		return sharing(dst)
	}
	if dst.Kind() != src.Kind() {
		if dst.Kind() == reflect.Int && src.Kind() == reflect.Int64 {
			return func(dst, src unsafe.Pointer) { *(*int)(dst) = int(*(*int64)(src)) }
		}
		return c.misses(path, fmt.Sprintf("%v cannot hold %v", dst, src))
	}
	switch dst.Kind() {
	case reflect.Struct:
		return c.structs(dst, src, path)
	case reflect.Pointer:
		return c.pointers(dst.Elem(), src.Elem(), path)
	case reflect.Slice:
		return c.slices(dst, src, path)
	case reflect.Map:
		return c.maps(dst, src, path)
	}
	return c.misses(path, fmt.Sprintf("%v cannot hold %v", dst, src))
}

func (c *compiler) misses(path, why string) copier {
	c.missing = append(c.missing, path+": "+why)
	return func(unsafe.Pointer, unsafe.Pointer) {}
}

// structs copies every field that dst has.
func (c *compiler) structs(dst, src reflect.Type, path string) copier {
	type step struct {
		dst, src uintptr
		copy     copier
	}
	from := fieldsOf(src)
	var steps []step
	for name, d := range ordered(fieldsOf(dst)) {
		s, ok := from[name]
		if !ok {
			c.misses(path+"."+name, "the API has no such field")
			continue
		}
		steps = append(steps, step{d.offset, s.offset, c.compile(d.typ, s.typ, path+"."+name)})
	}
	return func(dst, src unsafe.Pointer) {
		for i := range steps {
			s := &steps[i]
			s.copy(unsafe.Add(dst, s.dst), unsafe.Add(src, s.src))
		}
	}
}

func (c *compiler) pointers(dst, src reflect.Type, path string) copier {
	elem := c.compile(dst, src, path)
	return func(d, s unsafe.Pointer) {
		from := *(*unsafe.Pointer)(s)
		if from == nil {
			return
		}
		to := reflect.New(dst).UnsafePointer()
		*(*unsafe.Pointer)(d) = to
		elem(to, from)
	}
}

func (c *compiler) slices(dst, src reflect.Type, path string) copier {
	elem := c.compile(dst.Elem(), src.Elem(), path+"[]")
	dstSize, srcSize := dst.Elem().Size(), src.Elem().Size()
	return func(d, s unsafe.Pointer) {
		from := (*slice)(s)
		if from.len == 0 {
			return
		}
		to := reflect.NewAt(dst, d).Elem()
		to.Grow(from.len)
		to.SetLen(from.len)
		data := to.UnsafePointer()
		for i := range uintptr(from.len) {
			elem(unsafe.Add(data, i*dstSize), unsafe.Add(from.data, i*srcSize))
		}
	}
}

// maps copies a map whose keys are strings. Such maps are rare and small.
func (c *compiler) maps(dst, src reflect.Type, path string) copier {
	if dst.Key().Kind() != reflect.String || src.Key().Kind() != reflect.String {
		return c.misses(path, fmt.Sprintf("%v cannot hold %v", dst, src))
	}
	elem := c.compile(dst.Elem(), src.Elem(), path+"[]")
	return func(d, s unsafe.Pointer) {
		from := reflect.NewAt(src, s).Elem()
		if from.Len() == 0 {
			return
		}
		to := reflect.MakeMapWithSize(dst, from.Len())
		for k, v := range from.Seq2() {
			value, x := reflect.New(src.Elem()), reflect.New(dst.Elem())
			value.Elem().Set(v)
			elem(x.UnsafePointer(), value.UnsafePointer())
			to.SetMapIndex(k.Convert(dst.Key()), x.Elem())
		}
		reflect.NewAt(dst, d).Elem().Set(to)
	}
}

// sharing copies a value as it stands, with what it points to.
func sharing(t reflect.Type) copier {
	switch t.Kind() {
	case reflect.String:
		return func(dst, src unsafe.Pointer) { *(*string)(dst) = *(*string)(src) }
	case reflect.Pointer, reflect.Map:
		return func(dst, src unsafe.Pointer) { *(*unsafe.Pointer)(dst) = *(*unsafe.Pointer)(src) }
	case reflect.Slice:
		return func(dst, src unsafe.Pointer) { *(*slice)(dst) = *(*slice)(src) }
	case reflect.Bool:
		return func(dst, src unsafe.Pointer) { *(*bool)(dst) = *(*bool)(src) }
	case reflect.Int32:
		return func(dst, src unsafe.Pointer) { *(*int32)(dst) = *(*int32)(src) }
	case reflect.Int64:
		return func(dst, src unsafe.Pointer) { *(*int64)(dst) = *(*int64)(src) }
	}
	return func(dst, src unsafe.Pointer) {
		reflect.NewAt(t, dst).Elem().Set(reflect.NewAt(t, src).Elem())
	}
}

// slice is the memory of every slice.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

// alike reports whether values of both types have one layout and one meaning, so that
// one may stand for the other: the same kinds, and in structs the same fields, by their
// names in JSON, in the same order. Types that have a leaf are never alike, nor are those
// that hold one.
func alike(dst, src reflect.Type) bool {
	if dst == src {
		return !opaque(src)
	}
	if dst.Kind() != src.Kind() || opaque(src) {
		return false
	}
	switch dst.Kind() {
	case reflect.Pointer, reflect.Slice:
		return alike(dst.Elem(), src.Elem())
	case reflect.Struct:
		if dst.NumField() != src.NumField() || dst.Size() != src.Size() {
			return false
		}
		for i := range dst.NumField() {
			d, s := dst.Field(i), src.Field(i)
			if d.Offset != s.Offset || jsonName(d) != jsonName(s) || !alike(d.Type, s.Type) {
				return false
			}
		}
		return true
	case reflect.Map, reflect.Interface, reflect.Func, reflect.Chan, reflect.Array:
		return false
	}
	return dst.Size() == src.Size()
}

// opaque reports whether a type has a leaf.
func opaque(src reflect.Type) bool {
	for p := range leaves {
		if p.src == src {
			return true
		}
	}
	return false
}

// A field is a field of a struct or of one that is inlined into it.
type field struct {
	offset uintptr
	typ    reflect.Type
	index  int
}

// fieldsOf lists the fields by their names in JSON.
func fieldsOf(t reflect.Type) map[string]field {
	fields := map[string]field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name := jsonName(f)
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Type.Kind() == reflect.Struct:
			for n, inner := range fieldsOf(f.Type) {
				fields[n] = field{f.Offset + inner.offset, inner.typ, i<<8 + inner.index}
			}
		default:
			fields[name] = field{f.Offset, f.Type, i << 8}
		}
	}
	return fields
}

// jsonName returns the name of a field in JSON: "" if its fields are inlined, and the
// field's own name if it has no tag.
func jsonName(f reflect.StructField) string {
	tag, ok := f.Tag.Lookup("json")
	name, _, _ := strings.Cut(tag, ",")
	if name == "" && (!f.Anonymous || !ok) {
		return f.Name
	}
	return name
}

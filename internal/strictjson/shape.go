package strictjson

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Nulls says what null does to a value.
type Nulls int

// The rules for null.
const (
	// NullKeeps is encoding/json's rule. Null empties pointers, maps, lists and
	// interfaces; other values stay. A type with a [ReadFunc] decides itself.
	NullKeeps Nulls = iota

	// NullZeroes makes every value zero. A null in a list is an error.
	NullZeroes
)

// FreeGrowth is the memory in bytes that lists may take whatever [Dialect.MaxGrowth]
// says.
const FreeGrowth = 64 << 10

// A Dialect says how one caller reads JSON. Its fields must not change after the
// first use. It keeps the tables of the types that it has met.
type Dialect struct {
	// Name is the caller's, for panics about types that cannot be decoded.
	Name string

	// MaxDepth bounds how deep lists and objects may nest.
	MaxDepth int

	// MaxElements bounds the elements of a list; 0 is no bound.
	MaxElements int

	// MaxGrowth bounds the memory of lists, in bytes for each byte of the text; 0 is
	// no bound. Elements may be short in the text and large in memory. The first
	// [FreeGrowth] bytes do not count.
	MaxGrowth int

	// Nulls is the rule for null.
	Nulls Nulls

	// AnyCase is set if the case of ASCII letters in names of fields does not count.
	AnyCase bool

	// LastWins is set if the last of two fields of one name replaces the first.
	// Otherwise the last is read over the first, as in encoding/json.
	LastWins bool

	// Reads returns the reader of a type, or nil if the kind of the type implies
	// how to read it. If Reads is nil, no type has a reader.
	Reads func(reflect.Type) ReadFunc

	shapes sync.Map // reflect.Type -> *shape
}

// A ReadFunc consumes the next value and stores it in *p. It must return errors of
// the decoder's methods as they are.
type ReadFunc func(d *Decoder, p any) error

// FromRaw returns a ReadFunc that gives read the text of a whole value. If read
// returns an error, the value is a [Misfit] with the problem [Rejected]. Read must
// neither change nor keep raw.
func FromRaw(read func(p any, raw []byte) error) ReadFunc {
	return func(d *Decoder, p any) error {
		raw, err := d.Raw()
		if err != nil {
			return err
		}
		if err := read(p, raw); err != nil {
			return d.invalid(Misfit{Type: reflect.TypeOf(p).Elem(), Raw: raw, Problem: Rejected, Err: err})
		}
		return nil
	}
}

// A shape is the table of one type.
type shape struct {
	typ    reflect.Type
	kind   reflect.Kind
	read   ReadFunc          // nil if the kind implies how to read it
	shares bool              // two values may share memory
	elem   link              // of a pointer, list or map
	fields map[string]*field // of a struct, by JSON name
	folded map[string]*field // the same by the name in lower case, if any case counts
}

// A link finds the shape of a type when it is first needed. A text rarely has more
// than a tenth of the fields of its types.
type link struct {
	typ   reflect.Type
	shape atomic.Pointer[shape]
}

// A field is a field of a struct, or of a struct embedded in it.
type field struct {
	link
	name   string
	number int // among the fields of its shape, from 0
	index  []int
}

// field returns the field of that name, nil if there is none.
func (s *shape) field(name []byte) *field {
	f := s.fields[string(name)]
	if f == nil && s.folded != nil && len(name) < 64 {
		f = s.folded[strings.ToLower(string(name))]
	}
	return f
}

// of returns the shape of the link's type.
func (l *link) of(d *Dialect) *shape {
	if s := l.shape.Load(); s != nil {
		return s
	}
	s := d.shape(l.typ)
	l.shape.Store(s)
	return s
}

// shape returns the shape of t. Two goroutines that need a new one at once may
// both build it; both get the same.
func (d *Dialect) shape(t reflect.Type) *shape {
	if s, ok := d.shapes.Load(t); ok {
		return s.(*shape)
	}
	s, _ := d.shapes.LoadOrStore(t, d.build(t))
	return s.(*shape)
}

// build returns a new shape of t.
func (d *Dialect) build(t reflect.Type) *shape {
	s := &shape{typ: t, kind: t.Kind()}
	if d.Reads != nil {
		s.read = d.Reads(t)
	}
	switch {
	case s.read != nil:
	case s.kind == reflect.Struct:
		s.fields = make(map[string]*field, t.NumField())
		s.collect(t, nil)
		if d.AnyCase {
			s.folded = make(map[string]*field, len(s.fields))
			for name, f := range s.fields {
				s.folded[strings.ToLower(name)] = f
			}
		}
	case s.kind == reflect.Pointer || s.kind == reflect.Slice || s.kind == reflect.Map:
		s.elem.typ = t.Elem()
		s.shares = true
	}
	return s
}

// collect adds the fields of t, which is embedded at index. The fields of an
// embedded struct without a JSON name belong to the struct around it. Of two
// fields of one name the one less deep counts; at equal depth the last one does.
func (s *shape) collect(t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			s.collect(f.Type, at)
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		number := len(s.fields)
		if old := s.fields[name]; old != nil {
			if len(old.index) < len(at) {
				continue
			}
			number = old.number
		}
		s.fields[name] = &field{link: link{typ: f.Type}, name: name, number: number, index: at}
	}
}

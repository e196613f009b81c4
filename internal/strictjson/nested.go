package strictjson

import "reflect"

// structure reads an object into a struct.
func (d *Decoder) structure(v reflect.Value, s *shape) error {
	given := len(d.given)
	d.given = append(d.given, make([]bool, len(s.fields))...)
	at, here := len(d.path), d.site
	ok, err := d.Open('{')
	for ; ok && err == nil; ok, err = d.More('}') {
		key, err := d.Key()
		if err != nil {
			return err
		}
		f := s.field(key)
		if f == nil {
			if err := d.unknown(key); err != nil {
				return err
			}
			continue
		}
		d.path = append(d.path, Step{Kind: Field, Name: f.name})
		target := v.Field(f.index[0])
		for _, i := range f.index[1:] {
			target = target.Field(i)
		}
		if d.given[given+f.number] {
			if err := d.handler.Duplicate(d.path); err != nil {
				return err
			}
			if d.dialect.LastWins {
				target.SetZero()
			}
		}
		d.given[given+f.number] = true
		if here != nil {
			d.site = here.child(f, s)
		}
		if err := d.value(target, f.of(d.dialect)); err != nil {
			return err
		}
		d.path, d.site = d.path[:at], here
	}
	d.given = d.given[:given]
	return err
}

// unknown tells the handler of a name that is no field, and consumes the value.
func (d *Decoder) unknown(name []byte) error {
	if d.site != nil {
		d.countUnknown(name)
	} else {
		d.uncounted++
		if err := d.handler.Unknown(d.path, name); err != nil {
			return err
		}
	}
	err := d.Skip()
	if err != nil {
		d.path = append(d.path, Step{Kind: Field, Name: string(name)})
	}
	return err
}

// list reads a list into a new slice.
func (d *Decoder) list(v reflect.Value, s *shape) error {
	ok, err := d.Open('[')
	if !ok {
		if err == nil {
			v.Set(reflect.MakeSlice(s.typ, 0, 0))
		}
		return err
	}
	v.SetZero()
	if d.roots == nil {
		_, err := d.elements(v, s)
		return err
	}
	r := d.buffer(s)
	n, err := d.elements(r.elems, s)
	if err != nil {
		v.Set(r.elems)
		return err
	}
	v.Grow(n)
	v.SetLen(n)
	v.SetCap(n)
	reflect.Copy(v, r.elems)
	r.elems.Clear() // its pointers belong to v
	d.buffers = append(d.buffers, r)
	return nil
}

// elements reads the rest of a list, which has an element, and returns their number.
func (d *Decoder) elements(l reflect.Value, s *shape) (n int, err error) {
	elem := s.elem.of(d.dialect)
	at := len(d.path)
	d.path = append(d.path, Step{Kind: Index})
	for ok := true; ok && err == nil; n++ {
		d.path[at].Index = n
		if err := d.element(l, n, elem); err != nil {
			return n, err
		}
		ok, err = d.More(']')
	}
	d.path = d.path[:at]
	return n, err
}

// A buffer holds the elements of a list until their number is known. Then they move to a
// slice with just the memory that they need.
type buffer struct {
	shape *shape
	elems reflect.Value
}

// buffer returns memory for a list. Lists of one type share it, unless one is inside the
// other.
func (d *Decoder) buffer(s *shape) buffer {
	for i, r := range d.buffers {
		if r.shape == s {
			last := len(d.buffers) - 1
			d.buffers[i] = d.buffers[last]
			d.buffers = d.buffers[:last]
			r.elems.SetLen(0)
			return r
		}
	}
	return buffer{s, reflect.New(s.typ).Elem()}
}

// element reads element i of the list l, which has i elements so far.
func (d *Decoder) element(l reflect.Value, i int, s *shape) error {
	if most := d.dialect.MaxElements; i == most && most > 0 {
		d.Peek()
		return d.limit(Elements, most)
	}
	// Doubling takes twice the memory of the elements, taken together. It counts by the
	// element, so that a text reaches the limit at the same place however lists are read.
	if d.grown += 2 * int(s.typ.Size()); d.grown > d.mostGrown && d.mostGrown > 0 {
		d.Peek()
		return d.limit(Growth, i)
	}
	if i == l.Cap() {
		l.Grow(max(1, i)) // doubles
	}
	l.SetLen(i + 1)
	if d.dialect.Nulls == NullZeroes && d.Peek() == 'n' {
		return d.mismatch(s.typ)
	}
	return d.value(l.Index(i), s)
}

// mapping reads an object into a map. Entries that the object does not mention
// stay.
func (d *Decoder) mapping(v reflect.Value, s *shape) error {
	var before map[string]bool // the names so far, if the map had entries before
	if v.IsNil() {
		v.Set(reflect.MakeMap(s.typ))
	} else {
		before = map[string]bool{}
	}
	elem := s.elem.of(d.dialect)
	e := d.entry(s)
	at := len(d.path)
	ok, err := d.Open('{')
	for ; ok && err == nil; ok, err = d.More('}') {
		key, err := d.key()
		if err != nil {
			return err
		}
		name := d.recent.string(key)
		e.key.SetString(name)
		d.path = append(d.path, Step{Kind: Key, Name: name})
		if before[name] || before == nil && v.MapIndex(e.key).IsValid() {
			if err := d.handler.Duplicate(d.path); err != nil {
				return err
			}
		}
		if before != nil {
			before[name] = true
		}
		e.elem.SetZero()
		if err := d.value(e.elem, elem); err != nil {
			return err
		}
		v.SetMapIndex(e.key, e.elem)
		d.path = d.path[:at]
	}
	if err == nil {
		e.elem.SetZero() // its pointers belong to the map
		d.spare = append(d.spare, e)
	}
	return err
}

// An entry is a place for a key and an element of a map of one shape.
type entry struct {
	shape     *shape
	key, elem reflect.Value
}

// entry returns a place for the entries of a map. Maps of one type share a place,
// unless one is inside the other.
func (d *Decoder) entry(s *shape) entry {
	for i, e := range d.spare {
		if e.shape == s {
			last := len(d.spare) - 1
			d.spare[i] = d.spare[last]
			d.spare = d.spare[:last]
			return e
		}
	}
	return entry{s, reflect.New(s.typ.Key()).Elem(), reflect.New(s.typ.Elem()).Elem()}
}

package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// A decoder reads JSON into the types of this package.
//
// It works like encoding/json with two differences, and exists for them. It matches
// field names exactly, as Kubernetes does. An error carries the whole path to the
// bad value, through lists, maps and types that decode themselves.
type decoder struct {
	scanner
	shapes  map[reflect.Type]*shape
	skipped skippedFields
	recent  recentTexts
}

func newDecoder(data []byte) *decoder {
	return &decoder{scanner: scanner{data: data}, shapes: map[reflect.Type]*shape{}}
}

// value decodes the next value into v, whose shape is s. Null makes v zero.
func (d *decoder) value(v reflect.Value, s *shape) error {
	c := d.peek()
	if c == 'n' {
		if _, err := d.word(); err != nil {
			return err
		}
		v.SetZero()
		return nil
	}
	switch {
	case s.self:
		return d.own(v)
	case s.packed:
		return d.packed(v, s)
	}
	switch k := v.Kind(); {
	case k == reflect.Pointer:
		p := reflect.New(s.elem.typ)
		if err := d.value(p.Elem(), s.elem); err != nil {
			return err
		}
		v.Set(p)
		return nil
	case k == reflect.Struct && c == '{':
		return d.structure(v, s)
	case k == reflect.Map && c == '{':
		return d.dictionary(v, s)
	case k == reflect.Slice && c == '[':
		return d.list(v, s)
	case k == reflect.String && c == '"':
		raw, err := d.text()
		if err != nil {
			return err
		}
		v.SetString(d.recent.unquote(raw))
		return nil
	case k == reflect.Bool && (c == 't' || c == 'f'):
		w, err := d.word()
		if err != nil {
			return err
		}
		v.SetBool(w[0] == 't')
		return nil
	case v.CanInt() || v.CanUint():
		if c == '-' || c >= '0' && c <= '9' {
			return d.integer(v)
		}
	}
	return d.mismatch(v.Kind())
}

// structure decodes an object into a struct. It skips and counts unknown keys.
func (d *decoder) structure(v reflect.Value, s *shape) error {
	v.SetZero() // v is not zero if its key occurs twice
	ok, err := d.open('{')
	for ; ok && err == nil; ok, err = d.more('}') {
		key, err := d.key()
		if err != nil {
			return err
		}
		f := s.fields[string(key)]
		if f == nil {
			if d.peek() != 'n' {
				d.skipped.count(key)
			}
			if err := d.skip(); err != nil {
				return within(err, ".%s", key)
			}
			continue
		}
		if f.shape == nil {
			f.shape = d.shape(f.typ)
		}
		d.skipped.path = append(d.skipped.path, f.name)
		if err := d.value(v.FieldByIndex(f.index), f.shape); err != nil {
			return within(err, ".%s", f.name)
		}
		d.skipped.path = d.skipped.path[:len(d.skipped.path)-1]
	}
	return err
}

// packed decodes an object into a ResourceMap.
func (d *decoder) packed(v reflect.Value, s *shape) error {
	var m resourceMapJSON
	if err := d.value(reflect.ValueOf(&m).Elem(), s.elem); err != nil {
		return err
	}
	*v.Addr().Interface().(*ResourceMap) = ResourceMapOf(m.ResourceList)
	return nil
}

// dictionary decodes an object into a map.
func (d *decoder) dictionary(v reflect.Value, s *shape) error {
	m := reflect.MakeMap(s.typ)
	k := reflect.New(s.typ.Key()).Elem()
	e := reflect.New(s.elem.typ).Elem()
	ok, err := d.open('{')
	for ; ok && err == nil; ok, err = d.more('}') {
		key, err := d.key()
		if err != nil {
			return err
		}
		k.SetString(string(key))
		e.SetZero()
		if err := d.value(e, s.elem); err != nil {
			return within(err, "[%s]", k)
		}
		m.SetMapIndex(k, e)
	}
	if err == nil {
		v.Set(m)
	}
	return err
}

// maxList bounds the elements of a list within an object. An element of three bytes
// can become a container of some hundred bytes, so without a bound a small file of
// junk could fill the memory.
const maxList = 100_000

// list decodes a list. It rejects nulls, because no caller can use them.
func (d *decoder) list(v reflect.Value, s *shape) error {
	l := reflect.New(s.typ).Elem()
	l.Set(reflect.MakeSlice(s.typ, 0, 0))
	ok, err := d.open('[')
	for i := 0; ok && err == nil; i++ {
		if err := d.element(l, i, s.elem); err != nil {
			return within(err, "[%d]", i)
		}
		ok, err = d.more(']')
	}
	if err == nil {
		v.Set(l)
	}
	return err
}

// element decodes element i of the list l, which has i elements so far.
func (d *decoder) element(l reflect.Value, i int, s *shape) error {
	switch {
	case i == maxList:
		return &valueError{err: fmt.Errorf("more than %d elements", maxList)}
	case d.peek() == 'n':
		if s.typ.Kind() == reflect.Pointer {
			s = s.elem
		}
		return d.mismatch(s.typ.Kind())
	case i == l.Cap():
		l.Grow(max(1, i)) // doubles
	}
	l.SetLen(i + 1)
	return d.value(l.Index(i), s)
}

// integer decodes a number into a signed or unsigned integer.
func (d *decoder) integer(v reflect.Value) error {
	raw, err := d.number()
	if err != nil {
		return err
	}
	if v.CanInt() {
		var n int64
		if n, err = strconv.ParseInt(string(raw), 10, v.Type().Bits()); err == nil {
			v.SetInt(n)
			return nil
		}
	} else {
		var n uint64
		if n, err = strconv.ParseUint(string(raw), 10, v.Type().Bits()); err == nil {
			v.SetUint(n)
			return nil
		}
	}
	if errors.Is(err, strconv.ErrRange) {
		return &valueError{value: string(raw), err: fmt.Errorf("out of the range of %s", v.Kind())}
	}
	return &valueError{value: string(raw), err: errors.New("want " + kindName(v.Kind()))}
}

// own calls the UnmarshalJSON method of a value.
func (d *decoder) own(v reflect.Value) error {
	v.SetZero()
	raw, err := d.raw()
	if err != nil {
		return err
	}
	if raw[0] == '{' || raw[0] == '[' {
		return &valueError{err: errors.New("want a string or a number, got " + rawName(raw))}
	}
	if err := v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw); err != nil {
		if v.Type() == reflect.TypeFor[time.Time]() {
			err = errors.New(`want a time such as "2026-01-02T15:04:05Z"`)
		}
		return &valueError{value: scalarText(raw), err: plainReason(err)}
	}
	return nil
}

// mismatch consumes a value that does not fit a field of kind k, and returns the
// error.
func (d *decoder) mismatch(k reflect.Kind) error {
	raw, err := d.raw()
	if err != nil {
		return err
	}
	return &valueError{value: scalarText(raw), err: fmt.Errorf("want %s, got %s", kindName(k), rawName(raw))}
}

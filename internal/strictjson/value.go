package strictjson

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
)

// value reads the next value into v, whose shape is s.
//
// On an error the path stays as it is, so it shows the place.
func (d *Decoder) value(v reflect.Value, s *shape) error {
	c := d.Peek()
	if c == 'n' && (s.read == nil || d.dialect.Nulls == NullZeroes) {
		return d.null(v, s.kind)
	}
	if s.read != nil {
		return s.read(d, v.Addr().Interface())
	}
	if s.shares && d.site != nil {
		if done, err := d.shared(v, s); done {
			return err
		}
	}
	return d.plain(v, s)
}

// plain is value for what is not null and has no reader, without sharing.
func (d *Decoder) plain(v reflect.Value, s *shape) error {
	c := d.Peek()
	switch s.kind {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(s.elem.typ))
		}
		return d.value(v.Elem(), s.elem.of(d.dialect))
	case reflect.Struct:
		if c == '{' {
			return d.structure(v, s)
		}
	case reflect.Map:
		if c == '{' && s.typ.Key().Kind() == reflect.String {
			return d.mapping(v, s)
		}
	case reflect.Slice:
		if c == '[' {
			return d.list(v, s)
		}
		if c == '"' && s.elem.typ.Kind() == reflect.Uint8 {
			return d.base64(v)
		}
	case reflect.String:
		if c == '"' {
			t, err := d.text()
			if err != nil {
				return err
			}
			v.SetString(d.recent.string(t))
			return nil
		}
	case reflect.Bool:
		if c == 't' || c == 'f' {
			w, err := d.word()
			if err != nil {
				return err
			}
			v.SetBool(w[0] == 't')
			return nil
		}
	case reflect.Interface:
		raw, err := d.Raw()
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
			return d.invalid(Misfit{Type: s.typ, Raw: raw, Problem: Rejected, Err: err})
		}
		return nil
	default:
		if !v.CanInt() && !v.CanUint() && !v.CanFloat() {
			panic(d.dialect.Name + ": Decode cannot fill a " + s.typ.String())
		}
		if isNumber(c) {
			return d.numeric(v)
		}
	}
	return d.mismatch(s.typ)
}

// null reads null into v.
func (d *Decoder) null(v reflect.Value, k reflect.Kind) error {
	if _, err := d.word(); err != nil {
		return err
	}
	if d.dialect.Nulls == NullZeroes || k == reflect.Pointer || k == reflect.Map || k == reflect.Slice || k == reflect.Interface {
		v.SetZero()
	}
	return nil
}

// numeric reads a number into v.
func (d *Decoder) numeric(v reflect.Value) error {
	raw, err := d.number()
	if err != nil {
		return err
	}
	bits := v.Type().Bits()
	switch {
	case v.CanInt():
		var n int64
		if n, err = strconv.ParseInt(string(raw), 10, bits); err == nil {
			v.SetInt(n)
			return nil
		}
	case v.CanUint():
		var n uint64
		if n, err = strconv.ParseUint(string(raw), 10, bits); err == nil {
			v.SetUint(n)
			return nil
		}
	default:
		var n float64
		if n, err = strconv.ParseFloat(string(raw), bits); err == nil {
			v.SetFloat(n)
			return nil
		}
	}
	problem := NotInteger
	if errors.Is(err, strconv.ErrRange) {
		problem = OutOfRange
	}
	return d.invalid(Misfit{Type: v.Type(), Raw: raw, Problem: problem})
}

// base64 reads text into a list of bytes.
func (d *Decoder) base64(v reflect.Value) error {
	raw, err := d.Raw()
	if err != nil {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(Unquote(raw))
	if err != nil {
		return d.invalid(Misfit{Type: v.Type(), Raw: raw, Problem: Rejected, Err: err})
	}
	v.SetBytes(b)
	return nil
}

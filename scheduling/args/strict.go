package args

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// maxStrict limits how many unknown and duplicate fields are reported.
const maxStrict = 100

// Decode reads the JSON value raw into the value that into points to, as
// encoding/json does, but strictly. Names must match in case. It reports all unknown
// fields, duplicate fields and values of the wrong type, in the order of the text.
// Absent or null fields keep their values; empty raw means null. Values that decode
// are stored even if there are errors.
//
// Unknown and duplicate fields have the paths and texts of upstream's decoder, which
// reports at most the first 100 of them, and only the first other error.
//
// Differs: errors other than unknown and duplicate fields.
// Original: kube-scheduler reports only the first, without list indices.
// Here: all are reported, and their paths have list indices.
// Why: a user can correct all of them at once.
//
// The cost is linear in the size of raw.
func Decode(raw []byte, into any) []FieldError {
	raw = bytes.Trim(raw, " \t\r\n") // JSON knows no other space
	if len(raw) == 0 {
		return nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return []FieldError{{Type: Syntax, Detail: err.Error()}}
	}
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		panic("args: Decode needs a non-nil pointer")
	}
	d := decoder{cursor: cursor{data: raw}, seen: make(map[strictKey]bool)}
	d.value(target.Elem(), "")
	return d.errs
}

// A strictKey identifies a reported unknown or duplicate field.
type strictKey struct {
	errorType ErrorType
	field     string
}

type decoder struct {
	cursor
	errs   []FieldError
	seen   map[strictKey]bool
	strict int
}

// fail records an error of a value.
func (d *decoder) fail(t ErrorType, path, detail string) {
	d.errs = append(d.errs, FieldError{Type: t, Field: path, Detail: detail})
}

// strictly records an unknown or duplicate field, once.
func (d *decoder) strictly(t ErrorType, path string) {
	key := strictKey{t, path}
	if d.seen[key] || d.strict == maxStrict {
		return
	}
	d.seen[key] = true
	d.strict++
	d.errs = append(d.errs, FieldError{Type: t, Field: path})
}

// mismatch records a value of the wrong type.
func (d *decoder) mismatch(path string, raw []byte, want string) {
	got := kindOf(raw[0])
	if got == "a number" {
		got = "the number " + string(raw)
	}
	d.fail(WrongType, path, "got "+got+", want "+want)
}

// value reads the next value into v.
func (d *decoder) value(v reflect.Value, path string) {
	null := d.peek() == 'n'
	for v.Kind() == reflect.Pointer {
		if null {
			d.skip()
			v.SetZero()
			return
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	if d.custom(v, path) {
		return
	}
	if null {
		d.skip()
		switch v.Kind() {
		case reflect.Interface, reflect.Map, reflect.Slice:
			v.SetZero()
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(v, path)
	case reflect.Map:
		d.mapping(v, path)
	case reflect.Slice:
		d.list(v, path)
	case reflect.Interface:
		raw := d.skip()
		if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
			d.fail(WrongType, path, err.Error())
		}
	default:
		d.scalar(v, path)
	}
}

// custom reads the value with the methods of v's type, if it has any.
func (d *decoder) custom(v reflect.Value, path string) bool {
	switch p := v.Addr().Interface().(type) {
	case *api.Duration:
		d.duration(p, path)
	case *json.RawMessage:
		if raw := d.skip(); raw[0] != 'n' {
			*p = bytes.Clone(raw)
		}
	case json.Unmarshaler:
		err := p.UnmarshalJSON(d.skip())
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &wrong):
			d.fail(WrongType, path, err.Error())
		case err != nil:
			d.fail(BadValue, path, err.Error())
		}
	case encoding.TextUnmarshaler:
		raw := d.skip()
		if raw[0] == 'n' {
			break
		}
		if raw[0] != '"' {
			d.mismatch(path, raw, "a string")
		} else if err := p.UnmarshalText([]byte(unquote(raw))); err != nil {
			d.fail(BadValue, path, err.Error())
		}
	default:
		return false
	}
	return true
}

// duration reads a duration, with the error texts of package time.
func (d *decoder) duration(p *api.Duration, path string) {
	raw := d.skip()
	switch raw[0] {
	case 'n':
	case '"':
		v, err := time.ParseDuration(unquote(raw))
		if err != nil {
			d.fail(BadValue, path, err.Error())
			return
		}
		p.Duration = v
	default:
		d.mismatch(path, raw, "a duration such as \"10s\"")
	}
}

// structure reads an object into the fields of a struct.
func (d *decoder) structure(v reflect.Value, path string) {
	if d.peek() != '{' {
		d.mismatch(path, d.skip(), "an object")
		return
	}
	fields := make(map[string]reflect.Value)
	collect(v, fields)
	given := make(map[string]bool)
	d.object(func(name string) {
		at := child(path, name)
		field, known := fields[name]
		if !known {
			d.strictly(UnknownField, at)
			d.skip()
			return
		}
		if given[name] {
			d.strictly(DuplicateField, at)
		}
		given[name] = true
		d.value(field, at)
	})
}

// collect maps the JSON names of v's fields to the fields. The fields of an embedded
// struct without a name of its own are promoted.
func collect(v reflect.Value, fields map[string]reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			collect(v.Field(i), fields)
		case !f.IsExported() || name == "-":
		case name == "":
			fields[f.Name] = v.Field(i)
		default:
			fields[name] = v.Field(i)
		}
	}
}

// mapping reads an object into a map with string keys.
func (d *decoder) mapping(v reflect.Value, path string) {
	t := v.Type()
	if d.peek() != '{' || t.Key().Kind() != reflect.String {
		d.mismatch(path, d.skip(), "an object")
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(t))
	}
	given := make(map[string]bool)
	d.object(func(name string) {
		at := child(path, name)
		if given[name] {
			d.strictly(DuplicateField, at)
		}
		given[name] = true
		elem := reflect.New(t.Elem()).Elem()
		d.value(elem, at)
		v.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), elem)
	})
}

// list reads an array into a slice, or base64 text into bytes.
func (d *decoder) list(v reflect.Value, path string) {
	t := v.Type()
	if c := d.peek(); c != '[' {
		raw := d.skip()
		if c != '"' || t.Elem().Kind() != reflect.Uint8 {
			d.mismatch(path, raw, "a list")
			return
		}
		b, err := base64.StdEncoding.DecodeString(unquote(raw))
		if err != nil {
			d.fail(BadValue, path, err.Error())
			return
		}
		v.SetBytes(b)
		return
	}
	out := reflect.MakeSlice(t, 0, 0)
	d.array(func(i int) {
		out = reflect.Append(out, reflect.Zero(t.Elem()))
		d.value(out.Index(i), index(path, i))
	})
	v.Set(out)
}

// scalar reads a string, boolean or number.
func (d *decoder) scalar(v reflect.Value, path string) {
	raw := d.skip()
	kind, bits := raw[0], 0
	if n := v.Kind(); n >= reflect.Int && n <= reflect.Float64 {
		bits = v.Type().Bits()
	}
	number := kind == '-' || kind >= '0' && kind <= '9'
	switch v.Kind() {
	case reflect.String:
		if kind == '"' {
			v.SetString(unquote(raw))
			return
		}
		d.mismatch(path, raw, "a string")
	case reflect.Bool:
		if kind == 't' || kind == 'f' {
			v.SetBool(kind == 't')
			return
		}
		d.mismatch(path, raw, "true or false")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(string(raw), 10, bits)
		if number && err == nil {
			v.SetInt(n)
			return
		}
		d.mismatch(path, raw, fmt.Sprintf("an integer of %d bits", bits))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(string(raw), 10, bits)
		if number && err == nil {
			v.SetUint(n)
			return
		}
		d.mismatch(path, raw, fmt.Sprintf("an unsigned integer of %d bits", bits))
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(string(raw), bits)
		if number && err == nil {
			v.SetFloat(n)
			return
		}
		d.mismatch(path, raw, "a number")
	default:
		panic("args: Decode cannot fill a " + v.Type().String())
	}
}

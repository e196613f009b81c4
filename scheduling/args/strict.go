package args

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/strictjson"
)

// The bounds of arguments. Longer lists and more errors help nobody, and a text of
// small values would become memory of many times its size.
const (
	maxStrict   = 100  // unknown and duplicate fields that are reported
	maxErrors   = 100  // other errors
	maxElements = 1000 // of a list
)

// dialect holds the rules for arguments: those of encoding/json and its bound on
// depth, and a bound on lists.
var dialect = strictjson.Dialect{Name: "args", MaxDepth: 10_000, MaxElements: maxElements, Reads: readerOf}

// Decode reads the JSON value raw into what into points at, as encoding/json
// does, but strictly: names must match in case, and unknown fields, duplicate
// fields and values of the wrong type are all reported, in the order of the text.
// Fields that are absent or null keep the values they have; empty raw is null.
// What could be read is stored also when there are errors.
//
// Decode stops at the first list of more than 1,000 elements, and after 100 errors
// other than unknown and duplicate fields.
//
// Differs: very long lists.
// Original: kube-scheduler reads lists of any length.
// Here: one of more than 1,000 elements is an error.
// Why: a small file of empty elements would take gigabytes.
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
	if err := check(raw); err != nil {
		return []FieldError{{Type: Syntax, Detail: err.Error()}}
	}
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		panic("args: Decode needs a non-nil pointer")
	}
	var d decoder
	d.Init(&dialect, raw, &d)
	var limit *strictjson.LimitError // check found the syntax right
	if err := d.Value(into); errors.As(err, &limit) {
		d.fail(TooMany, limit.Path, fmt.Sprintf("more than %d elements", limit.Max))
	}
	return d.errs
}

// check returns an error unless raw is a JSON value. The text is encoding/json's,
// which is upstream's.
func check(raw []byte) error {
	ours := dialect.Check(raw)
	if ours == nil {
		return nil
	}
	var whole json.RawMessage
	return cmp.Or(json.Unmarshal(raw, &whole), ours)
}

// A decoder collects the errors of one text.
type decoder struct {
	strictjson.Decoder
	errs []FieldError
	seen map[strictKey]bool
	hard int // how many of errs are neither unknown nor duplicate fields
}

// errEnough stops a decoder that has found enough errors.
var errEnough = errors.New("too many errors")

// A strictKey identifies an unknown or duplicate field that was reported.
type strictKey struct {
	errorType ErrorType
	field     string
}

// Unknown records a name that is no field.
func (d *decoder) Unknown(path strictjson.Path, name []byte) error {
	if len(d.seen) < maxStrict {
		d.strictly(UnknownField, child(path.Dotted(), string(name)))
	}
	return nil
}

// Duplicate records a field that is given again.
func (d *decoder) Duplicate(path strictjson.Path) error {
	if len(d.seen) < maxStrict {
		d.strictly(DuplicateField, path.Dotted())
	}
	return nil
}

// strictly records an unknown or duplicate field, once.
func (d *decoder) strictly(t ErrorType, field string) {
	key := strictKey{t, field}
	if d.seen[key] {
		return
	}
	if d.seen == nil {
		d.seen = make(map[strictKey]bool)
	}
	d.seen[key] = true
	d.errs = append(d.errs, FieldError{Type: t, Field: field})
}

// Invalid records a misfit.
func (d *decoder) Invalid(m *strictjson.Misfit) error {
	var other *json.UnmarshalTypeError
	var want wanted
	switch {
	case m.Problem != strictjson.Rejected:
		d.fail(WrongType, m.Path, mismatch(m.Raw, wants(m.Type)))
	case errors.As(m.Err, &want):
		d.fail(WrongType, m.Path, mismatch(m.Raw, string(want)))
	case errors.As(m.Err, &other) || m.Type.Kind() == reflect.Interface:
		d.fail(WrongType, m.Path, m.Err.Error())
	default:
		d.fail(BadValue, m.Path, m.Err.Error())
	}
	if d.hard++; d.hard == maxErrors {
		return errEnough
	}
	return nil
}

// fail records an error of a value.
func (d *decoder) fail(t ErrorType, path strictjson.Path, detail string) {
	d.errs = append(d.errs, FieldError{Type: t, Field: path.Dotted(), Detail: detail})
}

// mismatch returns the text about a value of the wrong type.
func mismatch(raw []byte, want string) string {
	got := strictjson.NameOfValue(raw[0])
	if got == "a number" {
		got = "the number " + string(raw)
	}
	return "got " + got + ", want " + want
}

// wants says what a field of type t holds.
func wants(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("an integer of %d bits", t.Bits())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("an unsigned integer of %d bits", t.Bits())
	}
	return strictjson.NameOf(t)
}

// wanted is the error about a value that is not of the JSON type in its text.
type wanted string

func (w wanted) Error() string { return "want " + string(w) }

// readerOf returns the reader of a type, nil if its kind implies how to read it.
func readerOf(t reflect.Type) strictjson.ReadFunc {
	p := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[api.Duration]():
		return strictjson.FromRaw(readDuration)
	case t == reflect.TypeFor[json.RawMessage]():
		return strictjson.FromRaw(readRaw)
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return strictjson.FromRaw(func(p any, raw []byte) error { return p.(json.Unmarshaler).UnmarshalJSON(raw) })
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return strictjson.FromRaw(readText)
	}
	return nil
}

// readDuration reads a duration, with the error texts of package time.
func readDuration(p any, raw []byte) error {
	switch raw[0] {
	case 'n':
		return nil
	case '"':
		v, err := time.ParseDuration(strictjson.Unquote(raw))
		if err == nil {
			p.(*api.Duration).Duration = v
		}
		return err
	}
	return wanted(`a duration such as "10s"`)
}

// readRaw keeps a copy of the text. Null keeps what is there.
func readRaw(p any, raw []byte) error {
	if raw[0] != 'n' {
		*p.(*json.RawMessage) = bytes.Clone(raw)
	}
	return nil
}

// readText reads a string with the type's own method. Null keeps what is there.
func readText(p any, raw []byte) error {
	switch raw[0] {
	case 'n':
		return nil
	case '"':
		return p.(encoding.TextUnmarshaler).UnmarshalText([]byte(strictjson.Unquote(raw)))
	}
	return wanted("a string")
}

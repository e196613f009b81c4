package api

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/berth-sched/berth/internal/strictjson"
	"github.com/berth-sched/berth/resource"
)

// A SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset  int64  // bytes before the error
	Line    int    // counted from 1
	Problem string // such as "unexpected end of input"
}

// Error returns the text, such as
//
//	not JSON: line 3, byte 41: unexpected end of input
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON: line %d, byte %d: %s", e.Line, e.Offset, e.Problem)
}

// A valueError is a value that does not fit its field.
type valueError struct {
	field string // path from the object to the value
	value string
	err   error
}

func (e *valueError) Error() string { return e.err.Error() }

// at turns an error of the decoder into one of an object.
func at(err error, object string) error { return atField(err, object, "") }

// atField turns an error of the decoder into one of an object. Field is the name
// of the field if the error does not have it.
func atField(err error, object, field string) error {
	switch e := err.(type) {
	case *strictjson.SyntaxError:
		return &SyntaxError{Offset: e.Offset, Line: e.Line, Problem: e.Problem}
	case *strictjson.LimitError:
		return &InvalidError{Object: object, Field: cmp.Or(e.Path.Bracketed(), field), Err: limitReason(e)}
	case *valueError:
		return &InvalidError{Object: object, Field: cmp.Or(e.field, field), Value: e.value, Err: e.err}
	}
	return err
}

// limitReason says which bound a text exceeds.
func limitReason(e *strictjson.LimitError) error {
	switch e.Limit {
	case strictjson.Elements:
		return fmt.Errorf("more than %d elements", e.Max)
	case strictjson.Growth:
		return fmt.Errorf("more than %d elements, too many for the size of the text", e.Max)
	}
	return fmt.Errorf("nested deeper than %d levels at line %d, byte %d; no field that is read needs that, so leave it out", e.Max, e.Line, e.Offset)
}

// scalarText returns the text of a string, number or truth value, and nothing
// for what is none of these.
func scalarText(raw []byte) string {
	switch raw[0] {
	case '"':
		return strictjson.Unquote(raw)
	case '{', '[', 'n':
		return ""
	default:
		return string(raw)
	}
}

// nameOf says in words what a field of a type holds. All numbers of objects are integers.
func nameOf(t reflect.Type) string {
	if name := strictjson.NameOf(t); name != "a number" {
		return name
	}
	return "an integer"
}

// A reason is an error without the value in its text, because the InvalidError
// around it has the value.
type reason struct {
	text string
	err  error
}

func (r *reason) Error() string { return r.text }
func (r *reason) Unwrap() error { return r.err }

// plainReason returns err without the quantity in its text.
func plainReason(err error) error {
	var e *resource.SyntaxError
	if errors.As(err, &e) {
		return &reason{e.Reason, err}
	}
	return err
}

package api

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/resource"
)

// A valueError reports a value that does not fit its field. The steps lead from the
// value outward to the object.
type valueError struct {
	steps []string
	value string
	err   error
}

func (e *valueError) Error() string { return e.err.Error() }

// field returns the path from the object to the value.
func (e *valueError) field() string {
	steps := slices.Clone(e.steps)
	slices.Reverse(steps)
	return strings.TrimPrefix(strings.Join(steps, ""), ".")
}

// within adds a step to the path of err if it is a valueError.
func within(err error, format string, arg any) error {
	if e, ok := err.(*valueError); ok {
		e.steps = append(e.steps, fmt.Sprintf(format, arg))
	}
	return err
}

// scalarText returns the text of a string, number or truth value, and "" for any
// other value.
func scalarText(raw []byte) string {
	switch raw[0] {
	case '"':
		return unquote(raw)
	case '{', '[', 'n':
		return ""
	default:
		return string(raw)
	}
}

// kindName describes the content of a field of kind k.
func kindName(k reflect.Kind) string {
	switch k {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	default:
		return "an integer"
	}
}

// rawName describes a JSON value in words.
func rawName(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
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

package api

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/resource"
)

// A valueError is a value that does not fit its field. Steps lead from the value
// out to the object.
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

// within adds a step to the path of err, if it is an error of a value.
func within(err error, format string, arg any) error {
	if e, ok := err.(*valueError); ok {
		e.steps = append(e.steps, fmt.Sprintf(format, arg))
	}
	return err
}

// scalarText returns the text of a string, number or truth value, and nothing
// for what is none of these.
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

// kindName says in words what a field of kind k holds.
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

// rawName says in words what a JSON value is.
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

// A reason is an error that leaves out the value in its text, because the
// InvalidError around it has it.
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

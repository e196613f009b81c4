package api

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/berth-sched/berth/internal/errtext"
)

// An InvalidError reports that an object cannot be used: the object, the field, the
// value found there, and the problem. Every package that takes objects reports bad
// ones this way; find it with errors.As.
//
// The text has the form
//
//	pod default/web: spec.containers[0].resources.requests[cpu]: "1x": unknown suffix
//
// The text leaves out parts that are not known.
type InvalidError struct {
	Object string // kind and key, such as "pod default/web" or "node n1"
	Field  string // path from the object, with list indexes and map keys
	Value  string // the value as text; Error shortens long ones
	Err    error  // the problem
}

// maxErrorValue is the number of bytes of a value that an error prints.
const maxErrorValue = 64

// maxErrorName is the number of bytes of an object or a field that an error prints.
const maxErrorName = 512

// Error returns the text.
func (e *InvalidError) Error() string {
	parts := make([]string, 0, 4)
	if e.Object != "" {
		parts = append(parts, printable(errtext.Cut(e.Object, maxErrorName)))
	}
	if e.Field != "" {
		parts = append(parts, printable(errtext.Cut(e.Field, maxErrorName)))
	}
	if e.Value != "" {
		parts = append(parts, quoteShort(e.Value))
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	if len(parts) == 0 {
		return "invalid object"
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns Err.
func (e *InvalidError) Unwrap() error { return e.Err }

// printable quotes s if it has control characters. Otherwise an object's name could
// imitate further lines of output.
func printable(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// quoteShort quotes s, cut to at most maxErrorValue bytes without splitting a
// character.
func quoteShort(s string) string {
	if len(s) <= maxErrorValue {
		return fmt.Sprintf("%q", s)
	}
	n := maxErrorValue
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%q... (%d bytes)", s[:n], len(s))
}

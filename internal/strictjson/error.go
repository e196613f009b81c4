package strictjson

import (
	"fmt"
	"reflect"
	"strconv"
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

// Limit names a bound on a text.
type Limit int

// The limits.
const (
	Depth    Limit = iota // of lists and objects in each other
	Elements              // of one list
	Growth                // of all lists; Max is how many elements fitted into the last one
)

// A LimitError says that a text exceeds a limit of its dialect.
type LimitError struct {
	Limit  Limit
	Max    int
	Path   Path  // of the value; nil outside [Decoder.Value]
	Offset int64 // bytes before the value
	Line   int   // counted from 1
}

// Error returns the text.
func (e *LimitError) Error() string {
	what := "nested deeper than %d levels at line %d, byte %d"
	switch e.Limit {
	case Elements:
		what = "more than %d elements at line %d, byte %d"
	case Growth:
		what = "more than %d elements, too many for the size of the text, at line %d, byte %d"
	}
	return fmt.Sprintf(what, e.Max, e.Line, e.Offset)
}

// Problem says why a value does not fit.
type Problem int

// The problems of a value.
const (
	WrongType  Problem = iota // its target takes another JSON type
	NotInteger                // it has a fraction, an exponent, or a sign that its target cannot hold
	OutOfRange                // it is a number that its target cannot hold
	Rejected                  // its type cannot read it; Err says why
)

// A Misfit is a value that does not fit its target.
type Misfit struct {
	Path    Path         // of the value
	Type    reflect.Type // of the target, without pointers
	Raw     []byte       // text of the value
	Problem Problem
	Err     error // why it was rejected; otherwise nil
}

// StepKind says what a step of a path leads through.
type StepKind uint8

// The kinds of steps.
const (
	Field StepKind = iota // a field of a struct, by its JSON name
	Key                   // an entry of a map
	Index                 // an element of a list
)

// A Step leads from a value to one inside it.
type Step struct {
	Kind  StepKind
	Name  string // of a field or key
	Index int    // of an element
}

// A Path leads from the whole value to one inside it.
type Path []Step

// Dotted writes the path with dots before fields and keys, such as
// "list[0].limits.cpu".
func (p Path) Dotted() string { return p.text(false) }

// Bracketed writes the path with brackets around keys, such as
// "list[0].limits[cpu]".
func (p Path) Bracketed() string { return p.text(true) }

func (p Path) text(brackets bool) string {
	var b []byte
	for _, s := range p {
		switch {
		case s.Kind == Index:
			b = append(strconv.AppendInt(append(b, '['), int64(s.Index), 10), ']')
		case s.Kind == Key && brackets:
			b = append(append(append(b, '['), s.Name...), ']')
		default:
			if len(b) > 0 {
				b = append(b, '.')
			}
			b = append(b, s.Name...)
		}
	}
	return string(b)
}

package expr

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/internal/errtext"
)

// A CompileError says why an expression is not valid.
type CompileError struct {
	Offset int // in bytes
	Text   string
}

// Error returns the text and the place.
func (e *CompileError) Error() string { return fmt.Sprintf("at offset %d: %s", e.Offset, e.Text) }

// A RefusedError names a part of the language that this package does not have, so that
// nothing is known about the expression.
type RefusedError struct{ What string }

// Error returns the text.
func (e *RefusedError) Error() string { return "the built-in selectors do not have " + e.What }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

func invalid(at int, format string, args ...any) error {
	return &CompileError{at, fmt.Sprintf(format, args...)}
}

// The errors of evaluations.
var (
	errOverload      = errors.New("no such overload")
	errOverflow      = errors.New("integer overflow")
	errDivision      = errors.New("division by zero")
	errModulus       = errors.New("modulus by zero")
	errNaN           = errors.New("NaN values cannot be ordered")
	errNoValue       = errors.New("optional.none() dereference")
	errNotWhole      = errors.New("cannot convert value to integer")
	errComputed      = &RefusedError{"a sum or difference of quantities as an integer"}
	errLargePatterns = refuse("patterns of more than %d parts in an expression, with repetitions written out", maxPattern)
	errManySteps     = &RefusedError{"a way to count the cost of so long an evaluation"}
)

// noSuchKey cuts the key: an expression can make a long one.
func noSuchKey(key string) error {
	const most = 512
	return fmt.Errorf("no such key: %s", errtext.Cut(key, most))
}

package args

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
)

// ErrorType is the type of a [FieldError].
type ErrorType string

// The types of validation errors, by upstream's names.
const (
	FieldValueInvalid      ErrorType = "FieldValueInvalid"
	FieldValueRequired     ErrorType = "FieldValueRequired"
	FieldValueDuplicate    ErrorType = "FieldValueDuplicate"
	FieldValueNotSupported ErrorType = "FieldValueNotSupported"
	FieldValueForbidden    ErrorType = "FieldValueForbidden"
)

// The types of decoding errors.
const (
	Syntax         ErrorType = "Syntax"         // the text is not JSON
	UnknownField   ErrorType = "UnknownField"   // no such field; case counts
	DuplicateField ErrorType = "DuplicateField" // a field is given twice
	WrongType      ErrorType = "WrongType"      // a value of another JSON type, or a number out of range
	TooMany        ErrorType = "TooMany"        // a list with more elements than [Decode] reads
	BadValue       ErrorType = "BadValue"       // a value of the right type that cannot be parsed, such as the duration "ten"
)

// A FieldError reports what is wrong with one field. Validation errors and errors
// about unknown and duplicate fields have upstream's text.
type FieldError struct {
	Type   ErrorType
	Field  string // path, such as "scoringStrategy.resources[0].weight"; empty for the whole value
	Value  any    // the offending value; not used by Required and Forbidden
	Detail string // what is allowed; may be empty
}

// Error returns the text of the error.
func (e FieldError) Error() string {
	field := errtext.Cut(e.Field, maxText)
	switch e.Type {
	case UnknownField:
		return "unknown field " + strconv.Quote(field)
	case DuplicateField:
		return "duplicate field " + strconv.Quote(field)
	}
	s := errtext.Cut(e.body(), maxText)
	if field != "" {
		s = field + ": " + s
	}
	return s
}

// maxText is the number of bytes of a field, and of what is said about it, that an error
// prints. Both may hold text of any length from the file.
const maxText = 4 << 10

// body returns the text without the field.
func (e FieldError) body() string {
	var s string
	switch e.Type {
	case FieldValueRequired:
		s = "Required value"
	case FieldValueForbidden:
		s = "Forbidden"
	case FieldValueInvalid:
		s = "Invalid value: " + quote(e.Value)
	case FieldValueDuplicate:
		s = "Duplicate value: " + quote(e.Value)
	case FieldValueNotSupported:
		s = "Unsupported value: " + quote(e.Value)
	default:
		return e.Detail
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// quote prints a value as upstream does: strings in Go syntax, everything else as
// JSON.
func quote(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v", v)
	}
	return string(b)
}

// Invalid returns the error for a value that breaks a rule.
func Invalid(field string, value any, detail string) FieldError {
	return FieldError{Type: FieldValueInvalid, Field: field, Value: value, Detail: detail}
}

// Required returns the error for a missing required field.
func Required(field, detail string) FieldError {
	return FieldError{Type: FieldValueRequired, Field: field, Detail: detail}
}

// Duplicate returns the error for a repeated value that must be unique.
func Duplicate(field string, value any) FieldError {
	return FieldError{Type: FieldValueDuplicate, Field: field, Value: value}
}

// NotSupported returns the error for an unsupported value. It lists the supported
// values in the given order.
func NotSupported[T ~string](field string, value any, supported []T) FieldError {
	quoted := make([]string, len(supported))
	for i, s := range supported {
		quoted[i] = strconv.Quote(string(s))
	}
	detail := "supported values: " + strings.Join(quoted, ", ")
	return FieldError{Type: FieldValueNotSupported, Field: field, Value: value, Detail: detail}
}

// Forbidden returns the error for a field that must not be set.
func Forbidden(field, detail string) FieldError {
	return FieldError{Type: FieldValueForbidden, Field: field, Detail: detail}
}

// Join returns the errors as one, or nil if there is none. The text is upstream's:
// the text of a single error, or "[a, b]" without repeated texts. It unwraps to the
// errors.
func Join(errs []FieldError) error {
	if len(errs) == 0 {
		return nil
	}
	return joined(errs)
}

type joined []FieldError

func (j joined) Error() string {
	seen := make(map[string]bool, len(j))
	texts := make([]string, 0, len(j))
	for _, e := range j {
		if t := e.Error(); !seen[t] {
			seen[t] = true
			texts = append(texts, t)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func (j joined) Unwrap() []error {
	errs := make([]error, len(j))
	for i := range j {
		errs[i] = j[i]
	}
	return errs
}

// child returns the path of a field below path.
func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// index returns the path of an element of the list at path.
func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

package strictjson

import (
	"reflect"
	"slices"
)

// A Handler hears of what a decoder finds besides values that fit. If a method
// returns an error, the decoder stops and returns it. The paths are valid during
// the call only.
type Handler interface {
	// Unknown is called for a name that is no field of the struct at path. The
	// decoder is at the value, which the handler must leave.
	Unknown(path Path, name []byte) error

	// Duplicate is called for the field or entry at path when its name comes
	// again, before its value is read.
	Duplicate(path Path) error

	// Invalid is called for a value that does not fit. If it returns nil, the
	// decoder goes on behind the value and leaves its target as it is.
	Invalid(e *ValueError) error
}

// A Decoder reads the values of one text. Call Init first, and do not copy it.
type Decoder struct {
	Scanner
	dialect *Dialect
	handler Handler
	path    Path   // of the value that is being read
	given   []bool // the fields that were met, of each struct around it
	recent  recentTexts
	spare   []entry

	// Where path and given begin, so that most texts need no others.
	firstSteps [16]Step
	firstGiven [128]bool
}

// Init makes d a decoder of data, at its beginning.
func (d *Decoder) Init(dialect *Dialect, data []byte, h Handler) {
	d.Scanner = Scanner{data: data, maxDepth: dialect.MaxDepth}
	d.dialect, d.handler = dialect, h
	d.path, d.given = d.firstSteps[:0], d.firstGiven[:0]
}

// Check returns a [*SyntaxError] or [*LimitError] unless data is one JSON value.
func (d *Dialect) Check(data []byte) error {
	s := Scanner{data: data, maxDepth: d.MaxDepth}
	if err := s.Skip(); err != nil {
		return err
	}
	if !s.AtEnd() {
		return s.Unexpected("the end of the input")
	}
	return nil
}

// Reset returns to a place that is not inside a value that [Decoder.Value] reads.
// It makes a decoder that returned an error usable again.
func (d *Decoder) Reset(m Mark) {
	d.Scanner.Reset(m)
	d.path, d.given = d.path[:0], d.given[:0]
}

// Value consumes the next value and stores it in what p points at, which keeps
// what the text does not mention. A [ReadFunc] may call it.
func (d *Decoder) Value(p any) error {
	v := reflect.ValueOf(p).Elem()
	err := d.value(v, d.dialect.shape(v.Type()))
	if e, ok := err.(*LimitError); ok && e.Path == nil {
		e.Path = slices.Clone(d.path)
	}
	return err
}

// invalid tells the handler of a value that does not fit.
func (d *Decoder) invalid(e ValueError) error {
	e.Path = d.path
	return d.handler.Invalid(&e)
}

// mismatch consumes a value that a target of type t cannot hold.
func (d *Decoder) mismatch(t reflect.Type) error {
	raw, err := d.Raw()
	if err != nil {
		return err
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return d.invalid(ValueError{Type: t, Raw: raw, Problem: WrongType})
}

// Mismatch consumes the next value, which does not fit the type of what p points
// at, and tells the handler. It serves callers that read objects and lists by the
// methods of [Scanner].
func (d *Decoder) Mismatch(p any) error { return d.mismatch(reflect.TypeOf(p).Elem()) }

package strictjson

import (
	"hash/maphash"
	"reflect"
	"slices"
)

// A Handler is told of unknown names, repeated names and misfits. If a method
// returns an error, the decoder stops and returns it. The handler must not keep
// paths or misfits after the call.
type Handler interface {
	// Unknown is called if name is no field of the struct at path. The decoder is
	// at the value, which the handler may peek at but must not consume.
	Unknown(path Path, name []byte) error

	// Duplicate is called before the field or entry at path is read again.
	Duplicate(path Path) error

	// Invalid is called after a value that does not fit. If it returns nil, the
	// target stays as it is and the decoder goes on.
	Invalid(m *Misfit) error
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
	buffers []buffer

	// For sharing; see Share.
	roots     map[reflect.Type]*site
	site      *site  // of the value that is being read, nil if it is not to be shared
	noted     []*int // counted in the values that are being kept
	recording int    // how many values are being kept
	uncounted int    // unknown names that were not noted
	seed      maphash.Seed

	grown, mostGrown int // bytes that lists took, and may take; 0 for no bound

	// The first arrays of path and given; most texts need no larger ones.
	firstSteps [16]Step
	firstGiven [128]bool
	firstTexts [64]string
}

// Init makes d a decoder of data, at its beginning.
func (d *Decoder) Init(dialect *Dialect, data []byte, h Handler) {
	d.Scanner = Scanner{data: data, maxDepth: dialect.MaxDepth}
	d.dialect, d.handler = dialect, h
	d.path, d.given, d.recent = d.firstSteps[:0], d.firstGiven[:0], d.firstTexts[:]
	if d.grown, d.mostGrown = 0, 0; dialect.MaxGrowth > 0 {
		d.mostGrown = FreeGrowth + dialect.MaxGrowth*len(data)
	}
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

// Reset returns to a place. It also makes a decoder usable again after an error. A
// ReadFunc must not call it.
func (d *Decoder) Reset(m Mark) {
	d.Scanner.Reset(m)
	d.path, d.given, d.site, d.noted, d.recording = d.path[:0], d.given[:0], nil, d.noted[:0], 0
}

// Value consumes the next value and stores it in *p; p must be a pointer. Fields
// that the text does not mention stay. A [ReadFunc] may call Value.
func (d *Decoder) Value(p any) error {
	v := reflect.ValueOf(p).Elem()
	around := d.site
	if d.site = nil; len(d.path) == 0 { // what a ReadFunc reads has no site
		d.site = d.root(v.Type())
	}
	err := d.value(v, d.dialect.shape(v.Type()))
	d.site = around
	if e, ok := err.(*LimitError); ok && e.Path == nil {
		e.Path = slices.Clone(d.path)
	}
	return err
}

// invalid tells the handler of a misfit at the present path.
func (d *Decoder) invalid(m Misfit) error {
	m.Path = d.path
	return d.handler.Invalid(&m)
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
	return d.invalid(Misfit{Type: t, Raw: raw, Problem: WrongType})
}

// Mismatch consumes the next value and tells the handler that *p takes another
// JSON type. It serves callers that read objects and lists by the methods of
// [Scanner].
func (d *Decoder) Mismatch(p any) error { return d.mismatch(reflect.TypeOf(p).Elem()) }

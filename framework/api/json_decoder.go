package api

import (
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/berth-sched/berth/internal/strictjson"
)

// Bounds of a document. Kubernetes' own objects nest less than 40 levels deep. The
// smallest element of a list, of three bytes, can become a container of some
// hundred, so that without a bound a small file of junk could fill the memory.
const (
	maxDepth  = 1000
	maxList   = 100_000
	maxGrowth = 40 // bytes of lists for a byte of text; what kubectl prints takes less than 10
)

// dialect holds the rules for objects: null makes a field zero, and of two fields
// of one name the last counts.
var dialect = strictjson.Dialect{
	Name:        "api",
	MaxDepth:    maxDepth,
	MaxElements: maxList,
	MaxGrowth:   maxGrowth,
	Nulls:       strictjson.NullZeroes,
	LastWins:    true,
	Reads:       readerOf,
}

// readerOf returns the reader of a type, nil if its kind implies how to read it.
func readerOf(t reflect.Type) strictjson.ReadFunc {
	switch {
	case t == reflect.TypeFor[ResourceMap]():
		return readResourceMap
	case t == reflect.TypeFor[Device]():
		return readDevice
	case t == reflect.TypeFor[DeviceRequest]():
		return readRequest
	case t == reflect.TypeFor[json.RawMessage]():
		return strictjson.FromRaw(readRaw)
	case t.Kind() == reflect.Map: // read entry by entry, so that an error can name the key
		return nil
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return strictjson.FromRaw(readScalar)
	}
	return nil
}

// readResourceMap reads an object into a ResourceMap.
func readResourceMap(d *strictjson.Decoder, p any) error {
	var m resourceMapJSON
	if err := d.Value(&m); err != nil {
		return err
	}
	*p.(*ResourceMap) = ResourceMapOf(m.ResourceList)
	return nil
}

// readScalar lets a value decode itself. It must be a string, number or truth
// value.
func readScalar(p any, raw []byte) error {
	switch p := p.(type) {
	case *time.Time:
		if t, ok := plainTime(raw); ok {
			*p = t
			return nil
		}
	}
	if raw[0] == '{' || raw[0] == '[' {
		return errors.New("want a string or a number, got " + strictjson.NameOfValue(raw[0]))
	}
	err := p.(json.Unmarshaler).UnmarshalJSON(raw)
	if _, ok := p.(*time.Time); ok && err != nil {
		return errors.New(`want a time such as "2026-01-02T15:04:05Z"`)
	}
	return err
}

// plainTime reads a time as Kubernetes writes it, such as "2026-01-02T15:04:05Z", and
// reports whether it is one. It is a tenth of the work of time.Time's own decoding,
// which reads the others.
func plainTime(raw []byte) (time.Time, bool) {
	const form = `"0000-00-00T00:00:00Z"`
	if len(raw) != len(form) {
		return time.Time{}, false
	}
	for i := range raw {
		if digit := raw[i] >= '0' && raw[i] <= '9'; digit != (form[i] == '0') || !digit && raw[i] != form[i] {
			return time.Time{}, false
		}
	}
	two := func(i int) int { return 10*int(raw[i]-'0') + int(raw[i+1]-'0') }
	year, month, day, hour, minute, second := 100*two(1)+two(3), two(6), two(9), two(12), two(15), two(18)
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	// Date moves what is out of range to the next unit.
	if y, m, d := t.Date(); y != year || int(m) != month || d != day || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	return t, true
}

// A decoder reads JSON into the types of this package. It stops at the first value
// that does not fit.
type decoder struct {
	strictjson.Decoder
	skipped *skippedFields // counts the fields that have no place, unless nil
	header  header         // of the document that was looked at last
}

func newDecoder(data []byte) *decoder {
	d := new(decoder)
	d.Init(&dialect, data, d)
	return d
}

// forMany prepares d for many objects: equal parts of them share memory, and fields that
// have no place are counted.
func (d *decoder) forMany() {
	d.skipped = new(skippedFields)
	d.Share()
}

// again begins again with nothing counted.
func (d *decoder) again(data []byte) {
	d.Reset(strictjson.Mark{})
	d.Init(&dialect, data, d)
	d.forMany()
}

// Unknown counts a field that has no place, unless it is null.
func (d *decoder) Unknown(path strictjson.Path, name []byte) error {
	if d.skipped != nil && d.Peek() != 'n' {
		n, _ := d.skipped.counter(path, name)
		*n++
	}
	return nil
}

// Counter returns where a field that has no place is counted.
func (d *decoder) Counter(path strictjson.Path, name []byte) (n *int, own bool) {
	return d.skipped.counter(path, name)
}

// Duplicate accepts a field that is given again.
func (d *decoder) Duplicate(strictjson.Path) error { return nil }

// Invalid returns the error of a misfit.
func (d *decoder) Invalid(m *strictjson.Misfit) error {
	v := &valueError{field: m.Path.Bracketed(), value: scalarText(m.Raw), err: m.Err}
	switch m.Problem {
	case strictjson.WrongType:
		v.err = errors.New("want " + nameOf(m.Type) + ", got " + strictjson.NameOfValue(m.Raw[0]))
	case strictjson.NotInteger:
		v.err = errors.New("want " + nameOf(m.Type))
	case strictjson.OutOfRange:
		v.err = errors.New("out of the range of " + m.Type.Kind().String())
	case strictjson.Rejected:
		v.err = plainReason(m.Err)
	}
	return v
}

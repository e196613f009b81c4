package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/strictjson"
)

// dialect holds the rules for the lines of a trace.
var dialect = strictjson.Dialect{Name: "simulate", MaxDepth: 1000, Reads: readerOf}

// readerOf returns the reader of a type, nil if its kind implies how to read it.
func readerOf(t reflect.Type) strictjson.ReadFunc {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return strictjson.FromRaw(func(p any, raw []byte) error {
			*p.(*json.RawMessage) = bytes.Clone(raw)
			return nil
		})
	case reflect.TypeFor[time.Time]():
		return strictjson.FromRaw(func(p any, raw []byte) error {
			if p.(*time.Time).UnmarshalJSON(raw) != nil {
				return errors.New(`want a time such as "2030-01-02T15:04:05Z"`)
			}
			return nil
		})
	}
	return nil
}

// A lineDecoder reads a line. It stops at the first field that is unknown, given twice, or
// of the wrong type.
type lineDecoder struct{ strictjson.Decoder }

// line reads a line that is JSON and nothing else.
func (d *lineDecoder) line(text []byte, l *line) error {
	d.Init(&dialect, text, d)
	if err := d.Value(l); err != nil {
		var syntax *strictjson.SyntaxError
		if errors.As(err, &syntax) { // its own line is always the first
			return fmt.Errorf("not JSON: byte %d: %s", syntax.Offset, syntax.Problem)
		}
		return err
	}
	if !d.AtEnd() {
		return errors.New("there is text after the object")
	}
	return nil
}

// Unknown refuses a field that a line does not have.
func (d *lineDecoder) Unknown(path strictjson.Path, name []byte) error {
	at := path.Bracketed()
	if at != "" {
		at += "."
	}
	return field(at+string(name), "", errors.New("there is no such field"))
}

// Duplicate refuses a field that is given again.
func (d *lineDecoder) Duplicate(path strictjson.Path) error {
	return field(path.Bracketed(), "", errTwice)
}

var errTwice = errors.New("is given twice")

// Invalid refuses a value that does not fit.
func (d *lineDecoder) Invalid(m *strictjson.Misfit) error {
	err := m.Err
	switch {
	case err != nil:
	case m.Problem == strictjson.OutOfRange:
		err = errors.New("is too large")
	default:
		err = fmt.Errorf("want a value of type %v", m.Type)
	}
	return field(m.Path.Bracketed(), string(m.Raw), err)
}

// objects reads the objects of a line. Other than a dump of a cluster, they have no
// field twice, and none that would not be looked at.
func (d *lineDecoder) objects(text []byte) (*api.Objects, error) {
	o, err := api.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	d.Init(&dialect, text, d)
	if err := noDuplicates(&d.Scanner, "apply"); err != nil {
		return nil, err
	}
	if skipped := slices.Sorted(maps.Keys(o.Skipped)); len(skipped) > 0 && len(items(o)) > 0 {
		return nil, field("apply.kind", skipped[0], errKind)
	}
	if skipped := slices.Sorted(maps.Keys(o.SkippedFields)); len(skipped) > 0 {
		return nil, field("apply", skipped[0], errors.New("is no field that scheduling reads; leave it out"))
	}
	return o, nil
}

var errKind = errors.New("is not a kind that scheduling reads")

// noDuplicates consumes a value and returns an error if an object in it has a name twice.
// At is the path of the value.
func noDuplicates(s *strictjson.Scanner, at string) error {
	return s.Repeats(func(path strictjson.Path) error {
		inside := path.Dotted()
		if path[0].Kind == strictjson.Field {
			inside = "." + inside
		}
		return field(at+inside, "", errTwice)
	})
}

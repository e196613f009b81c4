package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/config"
)

// A listFrame is the text of a YAML list around its items.
type listFrame struct {
	head     []byte // up to the line before the first item
	line     int    // of the head
	indent   int    // of the dashes
	tail     []byte // from the line after the last item on
	tailLine int
}

var (
	errNoField  = errors.New("after the items of a long list, want fields of the list or another document")
	errLongTail = errors.New("more than 2 MiB after the items of a long list")
	errTwice    = errors.New("a field of a long list is repeated")
	errLate     = errors.New("must stand before the items of a long list that omit their kind")
)

// isLong reports whether the text is too long to be read once more.
func (f *listFrame) isLong() bool { return len(f.head)+len(f.tail) > 2*maxDocument }

// read reads the fields of the list as the YAML library does: with an empty text in place of
// the items. It is an error if anything else then takes their place.
func (f *listFrame) read() (listFields, error) {
	item := []byte(strings.Repeat(" ", f.indent) + "- \"\"\n")
	documents, repeated, err := config.YAMLToJSONStrict(slices.Concat(f.head, item, f.tail))
	if err != nil {
		return listFields{}, err
	}
	var fields map[string]json.RawMessage
	if len(documents) != 1 || unmarshal(documents[0], &fields) != nil || string(fields["items"]) != `[""]` {
		return listFields{}, errNoField
	}
	list := listFields{repeated: repeated}
	if err := text(fields, "kind", &list.list.kind); err != nil {
		return list, err
	}
	return list, text(fields, "apiVersion", &list.list.apiVersion)
}

// text reads a field that is a text, if there is one.
func text(fields map[string]json.RawMessage, name string, value *string) error {
	raw, found := fields[name]
	if found && unmarshal(raw, value) != nil {
		return fmt.Errorf("%s: want a text", name)
	}
	return nil
}

// fault says where in the text an error of the list is. The head was read before, so if there is
// a tail it is at fault.
func (f *listFrame) fault(err error) error {
	line := f.tailLine - bytes.Count(f.head, []byte("\n")) - 1 // of the text that was read
	n := yamlLine(err)
	switch {
	case f.tail == nil:
		line = f.line
	case n == 0 || line+n-1 < f.tailLine:
		line = f.tailLine - max(n-1, 0)
	}
	return yamlFault("", line, err)
}

// listFields is what a list says of itself.
type listFields struct {
	list     listKind
	repeated bool // it has a field twice
}

// check reports what is wrong with a list whose items were decoded as those of an early kind.
func (l *listFields) check(early listKind, document int) error {
	invalid := &api.InvalidError{Object: "document " + strconv.Itoa(document), Field: "kind", Value: l.list.kind}
	switch {
	case l.repeated:
		return errTwice
	case l.list.kind == "":
		invalid.Err = errors.New("is missing")
	case l.list.follows(early):
		return nil
	case l.list.isList() && l.list.kind == early.kind:
		invalid.Field, invalid.Value, invalid.Err = "apiVersion", l.list.apiVersion, errLate
	case l.list.isList():
		invalid.Err = errLate
	default:
		invalid.Err = errors.New("has items, so want a kind that ends in List")
	}
	return invalid
}

// isList reports whether the kind is that of a list, by its name.
func (k listKind) isList() bool { return strings.HasSuffix(k.kind, "List") }

// mayBeList reports whether the kind is that of a list, as far as it is known.
func (k listKind) mayBeList() bool { return k.kind == "" || k.isList() }

// follows reports whether items that were decoded as those of a list of an early kind, as far as
// it was known, are the same in a list of the kind.
func (k listKind) follows(early listKind) bool {
	return k == early || k.isList() && (early.kind == "" || early.kind == "List")
}

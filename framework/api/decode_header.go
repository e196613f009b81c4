package api

import (
	"cmp"
	"strings"
)

// A header is what an object states about its kind.
type header struct {
	kind, apiVersion string
	items            bool // it has a list of items
}

// groupOf returns the API group of an apiVersion: "" for the core group.
func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// groupKind returns the kind and, after a dot, the API group unless it is core.
func (h header) groupKind() string {
	if g := groupOf(h.apiVersion); g != "" {
		return h.kind + "." + g
	}
	return h.kind
}

// label names an object that has no name.
func (h header) label(where string) string {
	if h.kind == "" || h.kind == "List" {
		return where
	}
	return strings.ToLower(h.kind) + " (" + where + ")"
}

// header reads the header of the next object without consuming the object. It stops
// as soon as it can, so the rest may not be JSON.
func (d *decoder) header() (header, error) {
	var h header
	look := decoder{scanner: d.scanner, shapes: d.shapes}
	ok, err := look.open('{')
	for ; ok && err == nil; ok, err = look.more('}') {
		key, err := look.key()
		if err != nil {
			return h, err
		}
		switch string(key) {
		case "kind":
			err = within(look.into(&h.kind), ".%s", "kind")
		case "apiVersion":
			err = within(look.into(&h.apiVersion), ".%s", "apiVersion")
		default:
			// Only a list needs to be read to its end, for its items.
			if h.kind != "" && h.apiVersion != "" && !strings.HasSuffix(h.kind, "List") {
				return h, nil
			}
			c := look.peek()
			h.items = h.items || string(key) == "items" && (c == '[' || c == 'n')
			err = within(look.skip(), ".%s", key)
			// Too deep a value is met again later, once the object's name is known.
			if _, ok := err.(*valueError); ok && h.kind != "" && !strings.HasSuffix(h.kind, "List") {
				return h, nil
			}
		}
		if err != nil {
			return h, err
		}
	}
	return h, err
}

// at turns an error about a value into an error about an object.
func at(err error, object string) error {
	if e, ok := err.(*valueError); ok {
		return &InvalidError{Object: object, Field: e.field(), Value: e.value, Err: e.err}
	}
	return err
}

// label names the object of kind k that begins at offset start, by its key if it
// can read that.
func (d *decoder) label(k *kind, start int, where string) string {
	var x struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	l := newDecoder(d.data)
	l.pos = start
	_ = l.into(&x) // read as far as possible: the object is known to be bad
	m := ObjectMeta{Name: x.Metadata.Name}
	if m.Name == "" {
		return header{kind: k.name}.label(where)
	}
	if k.namespaced {
		m.Namespace = cmp.Or(x.Metadata.Namespace, "default")
	}
	return strings.ToLower(k.name) + " " + m.Key()
}

package api

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/berth-sched/berth/internal/strictjson"
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

// maxHeaderText bounds a kind and an apiVersion, in bytes. An API server takes 63 and 317.
// Each item of a list reads what the list around it states.
const maxHeaderText = 512

// headerText reads a kind or an apiVersion.
func (d *decoder) headerText(p *string) error {
	if err := d.Value(p); err != nil {
		return err
	}
	if len(*p) > maxHeaderText {
		return &valueError{value: *p, err: fmt.Errorf("want at most %d bytes", maxHeaderText)}
	}
	return nil
}

// readHeader reads the header of the object that is next, and leaves the object
// unread. It looks no further than it needs to, so the rest may not be JSON. With
// an error it returns the field that was being read, if any.
func (d *decoder) readHeader() (header, string, error) {
	defer d.Reset(d.Mark())
	d.header = header{}
	h := &d.header
	ok, err := d.Open('{')
	for ; ok && err == nil; ok, err = d.More('}') {
		key, err := d.Key()
		if err != nil {
			return *h, "", err
		}
		switch string(key) {
		case "kind":
			err = d.headerText(&h.kind)
		case "apiVersion":
			err = d.headerText(&h.apiVersion)
		default:
			// Only a list needs to be read to its end, for its items.
			if h.kind != "" && h.apiVersion != "" && !h.isList() {
				return *h, "", nil
			}
			c := d.Peek()
			h.items = h.items || string(key) == "items" && (c == '[' || c == 'n')
			err = d.Skip()
			// What nests too deep is met again when the name of the object is known.
			if _, ok := err.(*strictjson.LimitError); ok && h.kind != "" && !h.isList() {
				return *h, "", nil
			}
		}
		if err != nil {
			return *h, string(key), err
		}
	}
	return *h, "", err
}

// guessList reads the first document as a list, and reports whether it is one and has no
// error. What kubectl prints has the items before the kind, so reading the header first
// means to read all of the text twice. So the kind is taken for List if the items come
// first. If the guess is wrong, o and the decoder are of no more use.
func (o *Objects) guessList(d *decoder) bool {
	var h, guess header
	var where place
	ok, err := d.Open('{')
	for ; ok && err == nil; ok, err = d.More('}') {
		key, err := d.Key()
		if err != nil {
			return false
		}
		switch string(key) {
		case "kind":
			err = d.headerText(&h.kind)
		case "apiVersion":
			err = d.headerText(&h.apiVersion)
		case "items":
			if h.items || d.Peek() != '[' {
				return false
			}
			h.items = true
			guess = header{kind: strings.TrimSuffix(h.kind, "List"), apiVersion: h.apiVersion}
			where.number = 1
			err = o.items(d, guess, &where)
		default:
			err = d.Skip()
		}
		if err != nil || h.kind != "" && !h.isList() {
			return false
		}
	}
	return err == nil && h.items && h.isList() && kindOf(h.kind, h.apiVersion) == nil &&
		guess == header{kind: strings.TrimSuffix(h.kind, "List"), apiVersion: h.apiVersion}
}

// isList reports whether the kind is that of a list, by its name.
func (h *header) isList() bool { return strings.HasSuffix(h.kind, "List") }

// label names the object of kind k that begins at offset start, by its key if it
// can read that.
func (d *decoder) label(k *kind, start int, where string) string {
	var x struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	d.Reset(strictjson.Mark{Pos: start})
	_ = d.Value(&x) // read as far as it goes: the object is known to be bad
	m := ObjectMeta{Name: x.Metadata.Name}
	if m.Name == "" {
		return header{kind: k.name}.label(where)
	}
	if k.namespaced {
		m.Namespace = cmp.Or(x.Metadata.Namespace, "default")
	}
	return strings.ToLower(k.name) + " " + m.Key()
}

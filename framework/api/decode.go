package api

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// maxLists bounds how deep lists of objects may nest. Nobody needs more than one
// level.
const maxLists = 4

var errBareList = errors.New(`want an object, got a list; put the objects under "items" of an object of the kind List, or one after another`)

// Decode reads the JSON of any number of objects, in any mixture of the forms in
// which Kubernetes writes them:
//
//   - a single object;
//   - a List, as "kubectl get pods,nodes -A -o json" prints it, whose items may
//     be of different kinds;
//   - a list of one kind, such as PodList, whose items may leave their kind out;
//   - several of these one after another.
//
// Text without any document holds no objects. YAML must be converted to JSON
// first.
//
// A kind is recognised by its name and API group; the version does not matter,
// and an apiVersion that is missing is taken to be right. Objects of other kinds
// are counted in Skipped, and fields that the types here do not have are
// ignored and counted in SkippedFields. Field names are matched exactly, a field that is null is absent, and
// of a field that is given twice the last one counts.
//
// An object of a namespaced kind that names no namespace is put into "default",
// as kubectl would do, and one of any other kind loses the namespace that it
// should not have. The kind and the apiVersion that an object left out are
// filled in. Nothing else is: see [Objects.Default].
//
// Decode checks the form of what it reads and that every object has a name. It
// does not check what the API server would, so Kubernetes may refuse an object
// that Decode accepts, nor that names are unique.
//
// Text that is not JSON is a [*SyntaxError] with the place. A list that is no
// part of an object, a value that does not fit its field, one that nests deeper
// than 1,000 levels, a null in a list, and a list of more than 100,000 elements
// inside an object is an [*InvalidError] with the object, the path of the field,
// and the value. Decode stops at the first error. The cost is linear in the length
// of data, and little memory is needed beyond the result.
func Decode(data []byte) (*Objects, error) {
	o := new(Objects)
	if err := o.decode(data); err != nil {
		return nil, err
	}
	return o, nil
}

// Decode adds the objects in data to o, as the function [Decode] reads them. If
// it returns an error, o is as it was before.
func (o *Objects) Decode(data []byte) error {
	p, err := Decode(data)
	if err != nil {
		return err
	}
	o.extend(p)
	return nil
}

// decode reads all documents in data into o, which it leaves half filled on an
// error.
func (o *Objects) decode(data []byte) error {
	d := newDecoder(data)
	d.skipped = new(skippedFields)
	for n := 1; !d.AtEnd(); n++ {
		where := fmt.Sprintf("document %d", n)
		switch c := d.Peek(); {
		case c == '[':
			return &InvalidError{Object: where, Err: errBareList}
		case c != '{' && n == 1:
			return at(d.Unexpected("an object in JSON (YAML must be converted first)"), where)
		case c != '{':
			return at(d.Unexpected("an object"), where)
		}
		if err := o.document(d, header{}, where); err != nil {
			return err
		}
	}
	d.skipped.addTo(o)
	return nil
}

// document reads one object or list. If it says itself what it is, that counts;
// otherwise it is what the list around it implies. Where says in words where it
// stands.
func (o *Objects) document(d *decoder, implied header, where string) error {
	start := d.Mark()
	h, field, err := d.readHeader()
	if err != nil {
		return atField(err, implied.label(where), field)
	}
	if h.kind == "" {
		h.kind = implied.kind
		if h.apiVersion == "" {
			h.apiVersion = implied.apiVersion
		}
	}
	if h.kind == "" {
		return &InvalidError{Object: where, Field: "kind", Err: errors.New("is missing")}
	}
	k := kindOf(h.kind, h.apiVersion)
	if item, ok := strings.CutSuffix(h.kind, "List"); ok && k == nil {
		if h.items || item == "" || kindOf(item, h.apiVersion) != nil {
			return o.list(d, header{kind: item, apiVersion: h.apiVersion}, where)
		}
	}
	if k == nil {
		o.skip(h.groupKind(), 1)
		return at(d.Skip(), h.label(where))
	}
	d.skipped.kind = k.name
	x, err := k.decode(o, d)
	if err != nil {
		return at(err, d.label(k, start.Pos, where))
	}
	return k.complete(x, h, where)
}

// list reads the items of a list.
func (o *Objects) list(d *decoder, implied header, where string) error {
	// Every list is read once to find its kind and once for its items, so the
	// work doubles with each level.
	if d.Mark().Depth > 2*maxLists {
		return &InvalidError{Object: where, Err: fmt.Errorf("lists nested deeper than %d levels", maxLists)}
	}
	ok, err := d.Open('{')
	for ; ok && err == nil; ok, err = d.More('}') {
		key, err := d.Key()
		if err != nil {
			return at(err, where)
		}
		if string(key) == "items" {
			err = o.items(d, implied, where)
		} else if err = d.Skip(); err != nil {
			err = atField(err, where, string(key))
		}
		if err != nil {
			return err
		}
	}
	return at(err, where)
}

// items reads what stands under the key "items" of a list. Null is an empty
// list.
func (o *Objects) items(d *decoder, implied header, where string) error {
	switch d.Peek() {
	case 'n':
		return at(d.Skip(), where)
	case '[':
	default:
		return atField(d.Mismatch(new([]any)), where, "items")
	}
	ok, err := d.Open('[')
	for i := 0; ok && err == nil; i++ {
		place := fmt.Sprintf("%s, items[%d]", where, i)
		if d.Peek() != '{' {
			return at(d.Mismatch(new(struct{})), place)
		}
		if err := o.document(d, implied, place); err != nil {
			return err
		}
		ok, err = d.More(']')
	}
	return at(err, where)
}

// complete fills in what an object may leave out.
func (k *kind) complete(x object, h header, where string) error {
	t, m := x.typeMeta(), x.objectMeta()
	t.Kind, t.APIVersion = k.name, cmp.Or(h.apiVersion, k.apiVersion)
	if m.Name == "" {
		return &InvalidError{Object: h.label(where), Field: "metadata.name", Err: errors.New("is missing")}
	}
	switch {
	case !k.namespaced:
		m.Namespace = ""
	case m.Namespace == "":
		m.Namespace = "default"
	}
	return nil
}

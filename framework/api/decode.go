package api

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// maxLists bounds how deep lists of objects may nest. One level is enough in
// practice.
const maxLists = 4

var errBareList = errors.New(`want an object, got a list; put the objects under "items" of an object of the kind List, or one after another`)

// Decode reads the JSON of any number of objects, in any mixture of the forms that
// Kubernetes writes:
//
//   - a single object;
//   - a List, as "kubectl get pods,nodes -A -o json" prints it, with items of any
//     kinds;
//   - a list of one kind, such as PodList, whose items may omit their kind;
//   - several of these one after another.
//
// Empty text holds no objects. Convert YAML to JSON first.
//
// Decode recognises a kind by its name and API group. It ignores the version, and
// takes a missing apiVersion for a match. Objects of other kinds are counted in
// Skipped. Fields that the types here do not have are ignored and counted in
// SkippedFields. Field names are matched exactly; a null field is absent; if a
// field occurs twice, the last one counts, but a list must not have its items twice.
//
// Decode puts an object of a namespaced kind without a namespace into "default", as
// kubectl does, and drops the namespace of an object of any other kind. It fills in
// a missing kind and apiVersion, and nothing else: see [Objects.Default].
//
// Equal parts of the objects share memory: maps, lists, and what pointers point to, such
// as the labels and resources of pods of one template. So do not write to a part of an
// object; replace the part, as Default does, or change a [Clone].
//
// Decode checks the form of its input and that every object has a name. It does not
// check that names are unique, nor what the API server checks, so Kubernetes may
// refuse an object that Decode accepts.
//
// Text that is not JSON is a [*SyntaxError] with the place. Other errors are an
// [*InvalidError] with the object, the path of the field, and the value. It reports
// a list that is not part of an object, a value that does not fit its field, and
// nesting deeper than 1,000 levels. It also reports a null in a list, and a list of
// more than 100,000 elements inside an object. Lists whose elements are almost empty,
// such as {}, are an error once they would take 40 bytes of memory for each byte of
// data. Decode stops at the first error. Its cost is linear in the length of data.
func Decode(data []byte) (*Objects, error) {
	o := new(Objects)
	if err := o.decode(data); err != nil {
		return nil, err
	}
	return o, nil
}

// Decode adds the objects in data to o, as the function [Decode] reads them. If it
// returns an error, o is unchanged.
func (o *Objects) Decode(data []byte) error {
	p, err := Decode(data)
	if err != nil {
		return err
	}
	o.extend(p)
	return nil
}

// decode reads all documents in data into o. After an error, o may hold some of
// them.
func (o *Objects) decode(data []byte) error {
	d := newDecoder(data)
	d.forMany()
	if o.guessList(d) {
		return o.documents(d, 2)
	}
	*o = Objects{}
	d.again(data)
	return o.documents(d, 1)
}

// documents reads the documents that are left, from number n on.
func (o *Objects) documents(d *decoder, n int) error {
	for ; !d.AtEnd(); n++ {
		where := &place{number: n}
		switch c := d.Peek(); {
		case c == '[':
			return &InvalidError{Object: where.String(), Err: errBareList}
		case c != '{' && n == 1:
			return at(d.Unexpected("an object in JSON (YAML must be converted first)"), where.String())
		case c != '{':
			return at(d.Unexpected("an object"), where.String())
		}
		if err := o.document(d, header{}, where); err != nil {
			return err
		}
	}
	d.skipped.addTo(o)
	return nil
}

// document reads one object or list. Its own kind wins over the kind that the list
// around it implies. where describes its place in words.
func (o *Objects) document(d *decoder, implied header, where *place) error {
	start := d.Mark()
	h, field, err := d.readHeader()
	if err != nil {
		return atField(err, implied.label(where.String()), field)
	}
	if h.kind == "" {
		h.kind = implied.kind
		if h.apiVersion == "" {
			h.apiVersion = implied.apiVersion
		}
	}
	if h.kind == "" {
		return &InvalidError{Object: where.String(), Field: "kind", Err: errors.New("is missing")}
	}
	k := kindOf(h.kind, h.apiVersion)
	if item, ok := strings.CutSuffix(h.kind, "List"); ok && k == nil {
		if h.items || item == "" || kindOf(item, h.apiVersion) != nil {
			return o.list(d, header{kind: item, apiVersion: h.apiVersion}, where)
		}
	}
	if k == nil {
		d.skipped.object(h)
		if err := d.Skip(); err != nil {
			return at(err, h.label(where.String()))
		}
		return nil
	}
	d.skipped.kind = k.name
	x, err := k.decode(o, d)
	if err != nil {
		return at(err, d.label(k, start.Pos, where.String()))
	}
	return k.complete(x, h, where)
}

// list reads the items of a list.
func (o *Objects) list(d *decoder, implied header, where *place) error {
	// Every list is read twice, first for its kind and then for its items, so the
	// work doubles with each level.
	if d.Mark().Depth > 2*maxLists {
		return &InvalidError{Object: where.String(), Err: fmt.Errorf("lists nested deeper than %d levels", maxLists)}
	}
	read := false
	ok, err := d.Open('{')
	for ; ok && err == nil; ok, err = d.More('}') {
		key, err := d.Key()
		if err != nil {
			return at(err, where.String())
		}
		if string(key) == "items" {
			if read {
				return &InvalidError{Object: where.String(), Field: "items", Err: errors.New("is repeated")}
			}
			read = d.Peek() == '['
			err = o.items(d, implied, where)
		} else if err = d.Skip(); err != nil {
			err = atField(err, where.String(), string(key))
		}
		if err != nil {
			return err
		}
	}
	return where.at(err)
}

// items reads the value of the key "items" of a list. Null is an empty list.
func (o *Objects) items(d *decoder, implied header, where *place) error {
	switch d.Peek() {
	case 'n':
		return where.at(d.Skip())
	case '[':
	default:
		return atField(d.Mismatch(new([]any)), where.String(), "items")
	}
	ok, err := d.Open('[')
	for i := 0; ok && err == nil; i++ {
		item := place{list: where, number: i}
		if d.Peek() != '{' {
			return item.at(d.Mismatch(new(struct{})))
		}
		if err := o.document(d, implied, &item); err != nil {
			return err
		}
		ok, err = d.More(']')
	}
	return where.at(err)
}

// A place is where an object stands: a document, or an item of a list at a place.
type place struct {
	list   *place
	number int
}

func (p *place) String() string {
	if p.list == nil {
		return fmt.Sprintf("document %d", p.number)
	}
	return fmt.Sprintf("%s, items[%d]", p.list, p.number)
}

// at turns an error of the decoder, or nil, into one of the place.
func (p *place) at(err error) error {
	if err == nil {
		return nil
	}
	return at(err, p.String())
}

// maxName bounds names, namespaces and the kinds of owners, in bytes. They are repeated in what is made for an object, and in
// what is said about it. An API server takes 253; names that are made of such a name, as those of a workload's pods, fit too.
const maxName = 512

// complete fills in the parts that an object may omit.
func (k *kind) complete(x object, h header, where *place) error {
	t, m := x.typeMeta(), x.objectMeta()
	t.Kind, t.APIVersion = k.name, cmp.Or(h.apiVersion, k.apiVersion)
	if m.Name == "" {
		return &InvalidError{Object: h.label(where.String()), Field: "metadata.name", Err: errors.New("is missing")}
	}
	if field, name := longName(m); field != "" {
		return &InvalidError{Object: h.label(where.String()), Field: field, Value: name, Err: fmt.Errorf("must have at most %d bytes", maxName)}
	}
	switch {
	case !k.namespaced:
		m.Namespace = ""
	case m.Namespace == "":
		m.Namespace = "default"
	}
	return nil
}

// longName returns the first name that is too long, with its field; "" if there is none.
func longName(m *ObjectMeta) (field, name string) {
	if len(m.Name) > maxName {
		return "metadata.name", m.Name
	}
	if len(m.Namespace) > maxName {
		return "metadata.namespace", m.Namespace
	}
	for i := range m.OwnerReferences {
		if o := &m.OwnerReferences[i]; len(o.Name) > maxName {
			return fmt.Sprintf("metadata.ownerReferences[%d].name", i), o.Name
		} else if len(o.Kind) > maxName {
			return fmt.Sprintf("metadata.ownerReferences[%d].kind", i), o.Kind
		}
	}
	return "", ""
}

package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/config"
)

const (
	// maxKept bounds, in bytes, the text that is kept to find the line of a fault, and
	// that is tried as YAML if it begins like JSON.
	maxKept = 1 << 20
	// chunkSize is how much JSON is decoded at once: equal parts of these objects share
	// memory.
	chunkSize = 8 << 20
	// maxHeld bounds what waits for the kind of its list.
	maxHeld = 64 << 20
)

// A Source is a file or another text, and what is kept of it to find lines.
type Source struct {
	// Name is what errors call it.
	Name string
	// Open reads it again, if it is too long to be kept; nil if that cannot be.
	Open func() (io.ReadCloser, error)
	// Strict is set if Doubts tells repeated fields too; of these the last counts.
	Strict bool

	text     []byte // nil if it is too long
	limit    int    // of a YAML list that is not taken apart, in bytes; 0 means maxDocument
	misspelt misspelt
	repeated repeated
}

// Decode adds the objects of a text to o, in the forms that kubectl prints: what begins
// with a brace is JSON. Everything else is YAML, also text that begins with a brace but is
// not JSON. Objects are decoded as they come, so that the text need not fit in memory. An
// error is a [*FaultError].
func (c *Source) Decode(o *api.Objects, r io.Reader) error {
	in := bufio.NewReaderSize(r, maxKept)
	head, err := in.Peek(maxKept)
	if err != nil && err != io.EOF {
		return &FaultError{File: c.Name, Err: err}
	}
	if bom := []byte("\ufeff"); bytes.HasPrefix(head, bom) {
		head = head[len(bom):]
		_, _ = in.Discard(len(bom)) // it was peeked at
	}
	if err == io.EOF {
		c.text = slices.Clone(head)
	}
	first := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case isTable(first):
		return &FaultError{c.Name, 1, errors.New("this is a table for people; print the objects: kubectl get nodes,pods -A -o json")}
	case len(first) == 0 || first[0] != '{':
		return c.decodeYAML(o, in)
	case c.text == nil:
		return c.decodeJSON(o, in)
	}
	before := *o
	before.Skipped, before.SkippedFields = maps.Clone(o.Skipped), maps.Clone(o.SkippedFields)
	jsonErr := c.decodeJSON(o, bytes.NewReader(c.text))
	if jsonErr == nil || isInvalid(jsonErr) {
		return jsonErr
	}
	*o, c.misspelt, c.repeated = before, misspelt{}, repeated{}
	if err := c.decodeYAML(o, bytes.NewReader(c.text)); err == nil || isInvalid(err) {
		return err
	}
	return jsonErr
}

// isTable reports whether a text begins as kubectl's tables do: with the names of columns.
func isTable(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	columns := strings.Fields(string(line[:min(len(line), 200)]))
	return len(columns) > 1 && (columns[0] == "NAME" || columns[0] == "NAMESPACE") && strings.ToUpper(columns[1]) == columns[1]
}

// isInvalid reports whether the error is about an object, and not about the text.
func isInvalid(err error) bool {
	var invalid *api.InvalidError
	return errors.As(err, &invalid)
}

// decodeJSON adds the objects of a JSON text.
func (c *Source) decodeJSON(o *api.Objects, r io.Reader) error {
	b := chunk{source: c, objects: o}
	s := jsonScanner{r: r, take: b.add, endOfItems: b.endOfList}
	err := s.scan()
	var syntax *api.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &FaultError{c.Name, syntax.Line, errors.New("not JSON: " + syntax.Problem)}
	case err == nil:
		return b.flush()
	}
	return inFile(c.Name, err)
}

// inFile names the file of an error that does not.
func inFile(file string, err error) error {
	var fault *FaultError
	if !errors.As(err, &fault) {
		return &FaultError{File: file, Err: err}
	}
	fault.File = cmp.Or(fault.File, file)
	return err
}

// A chunk collects objects that are decoded together.
type chunk struct {
	source  *Source
	objects *api.Objects
	list    listKind
	text    []byte
	starts  []piece // without texts; they lie one after the other in text
	ends    []int
	held    bool // the kind of the objects is known only after them
	// Of a list whose first items are decoded already, the kind that they were decoded with.
	early *listKind
}

// add adds a piece; its text need not stay.
func (b *chunk) add(p piece, list listKind) error {
	other := b.list != list || p.item == 0 // a list begins
	if len(b.text) > 0 && (other || len(b.text)+len(p.text) > cmp.Or(b.source.limit, chunkSize)) && !b.held {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if b.held && len(b.text) > maxHeld {
		return b.fault(errors.New("objects without a kind in a list whose kind stands after them"))
	}
	if len(b.text) > 0 {
		b.text = append(b.text, ',')
	}
	b.list = list
	b.text = append(b.text, p.text...)
	p.text = nil
	b.starts, b.ends = append(b.starts, p), append(b.ends, len(b.text))
	return nil
}

// piece returns piece number i with its text.
func (b *chunk) piece(i int) piece {
	p, start := b.starts[i], 0
	if i > 0 {
		start = b.ends[i-1] + 1
	}
	p.text = b.text[start:b.ends[i]]
	return p
}

// endOfList decodes what is left of a list, whose kind is known now.
func (b *chunk) endOfList(list listKind) error {
	if n := len(b.starts); n == 0 || b.starts[n-1].item < 0 { // the list is empty
		if list.mayBeList() {
			return nil
		}
		return b.objects.Decode(list.wrap(nil))
	}
	if b.early != nil && list.kind != "" && !list.follows(*b.early) {
		return b.lateKind(list)
	}
	b.list, b.held = list, false
	err := b.flush()
	b.early = nil
	return err
}

// lateKind is the error of a list with a kind that its first items were not decoded with.
func (b *chunk) lateKind(list listKind) error {
	fields := listFields{list: list}
	return &FaultError{Line: b.starts[0].line, Err: fields.check(*b.early, b.starts[0].document)}
}

// flush decodes what was collected. If the objects have no kind and that of their list is
// not known yet, it waits for it.
func (b *chunk) flush() error {
	if len(b.starts) == 0 {
		return nil
	}
	if err := b.objects.Decode(b.list.wrap(b.text)); err != nil {
		if missesKind(err) && b.list.kind == "" && b.starts[0].item >= 0 && !b.held {
			b.held = true
			return nil
		}
		return b.fault(err)
	}
	if m := &b.source.misspelt; m.isNew(b.objects) {
		for i := range b.starts {
			m.look(b.source.Name, b.piece(i), b.list)
		}
	}
	if b.source.Strict && config.JSONRepeats(b.text) {
		for i := range b.starts {
			b.source.repeated.look(b.source.Name, b.piece(i), b.list)
		}
	}
	if list := b.list; b.starts[len(b.starts)-1].item >= 0 {
		b.early = &list
	}
	b.text, b.starts, b.ends, b.held = b.text[:0], b.starts[:0], b.ends[:0], false
	return nil
}

// fault finds the first piece at fault.
func (b *chunk) fault(err error) error {
	for i := range b.starts {
		p := b.piece(i)
		text := p.text
		if p.item >= 0 {
			text = b.list.wrap(p.text)
		}
		if _, err := api.Decode(text); err != nil {
			return p.fault(b.source.Name, err)
		}
	}
	return &FaultError{b.source.Name, b.lineOf(err), err}
}

// lineOf returns the line of an error about all pieces together.
func (b *chunk) lineOf(err error) int {
	var invalid *api.InvalidError
	if line := 0; errors.As(err, &invalid) {
		line = deepLine(invalid)
		for i := range b.starts {
			p := b.piece(i)
			breaks := bytes.Count(p.text, []byte("\n"))
			if 0 < line && line <= breaks+1 {
				return p.line + line - 1
			}
			line -= breaks
		}
	}
	return b.starts[0].line
}

// decodeYAML adds the objects of a YAML text.
func (c *Source) decodeYAML(o *api.Objects, r io.Reader) error {
	s := yamlScanner{r: bufio.NewReader(r), limit: cmp.Or(c.limit, maxDocument), take: func(p yamlPart) error { return c.decodePart(o, &p) }}
	if err := s.scan(); err != nil {
		return inFile(c.Name, err)
	}
	return nil
}

// decodePart adds the objects of a part of a YAML text.
func (c *Source) decodePart(o *api.Objects, p *yamlPart) error {
	convert := func(text []byte) (documents [][]byte, repeated bool, err error) {
		documents, err = config.YAMLToJSON(text)
		return documents, false, err
	}
	if c.Strict {
		convert = config.YAMLToJSONStrict
	}
	documents, repeated, err := convert(p.text)
	if err != nil {
		return yamlFault(c.Name, p.line, err)
	}
	for _, d := range documents {
		if d[0] != '{' && d[0] != '[' { // a list has an error of its own
			err := fmt.Errorf("document %d: %q: is no Kubernetes object", p.document, d)
			return &FaultError{c.Name, p.line, err}
		}
	}
	text := bytes.Join(documents, []byte("\n"))
	if !p.whole {
		if len(documents) != 1 || documents[0][0] != '[' {
			return &FaultError{c.Name, p.line, errors.New("a document begins among the items of a long list")}
		}
		text = p.list.wrap(unlisted(text))
	}
	if err := o.Decode(text); err != nil {
		return c.faultOf(p, err)
	}
	if c.misspelt.isNew(o) {
		for _, piece := range p.pieces() {
			c.misspelt.look(c.Name, piece, p.list)
		}
	}
	if repeated {
		for _, piece := range p.pieces() {
			c.repeated.look(c.Name, piece, p.list)
		}
	}
	return nil
}

// faultOf finds the first piece of the part at fault.
func (c *Source) faultOf(p *yamlPart, err error) error {
	pieces := p.pieces()
	for i := range pieces {
		text, jsonErr := pieces[i].json()
		if jsonErr != nil {
			break // such as an item that refers to another one
		}
		if pieces[i].item >= 0 {
			text = p.list.wrap(text)
		}
		if _, err := api.Decode(text); err != nil {
			return pieces[i].fault(c.Name, err)
		}
	}
	return &FaultError{c.Name, p.line, err}
}

package extender

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/internal/strictjson"
)

// maxPod bounds the text of a pod, in bytes. An API server stores no object of more
// than 1.5 MiB.
const maxPod = 2 << 20

// maxGrowth bounds the memory of lists, in bytes for each byte of text. Names of one
// letter take 8, and empty nodes, which say nothing, would take 27.
const maxGrowth = 16

// dialect holds the rules for the messages of the protocol: those of encoding/json,
// and bounds.
var dialect = strictjson.Dialect{Name: "extender", MaxDepth: 1000, MaxGrowth: maxGrowth, AnyCase: true, Reads: readerOf}

// readerOf returns the reader of a type, nil if its kind implies how to read it.
func readerOf(t reflect.Type) strictjson.ReadFunc {
	switch t {
	case reflect.TypeFor[api.Pod]():
		return strictjson.FromRaw(readPod)
	case reflect.TypeFor[Node]():
		return readNode
	}
	return nil
}

func readPod(p any, raw []byte) error {
	if raw[0] != '{' {
		return errors.New("want an object")
	}
	if len(raw) > maxPod {
		return fmt.Errorf("has %d bytes, more than %d", len(raw), maxPod)
	}
	pod, err := api.DecodeObject[api.Pod](raw)
	if err == nil {
		*p.(*api.Pod) = *pod
	}
	return err
}

// A nodeHead is what is read of a node.
type nodeHead struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

// readNode reads the name of a node. The rest stays a part of the text.
func readNode(d *strictjson.Decoder, p any) error {
	var head nodeHead
	d.Peek()
	start := d.Mark()
	if err := d.Value(&head); err != nil {
		return err
	}
	d.Scanner.Reset(start)
	raw, err := d.Raw()
	*p.(*Node) = Node{Name: head.Metadata.Name, JSON: raw}
	return err
}

// An answerReader stops at the first value that does not fit.
type answerReader struct{}

// Unknown accepts a field that has no place.
func (answerReader) Unknown(strictjson.Path, []byte) error { return nil }

// Duplicate accepts a field that is given again.
func (answerReader) Duplicate(strictjson.Path) error { return nil }

// Invalid returns the error of a misfit.
func (answerReader) Invalid(m *strictjson.Misfit) error {
	err := m.Err
	switch m.Problem {
	case strictjson.WrongType:
		err = fmt.Errorf("want %s", strictjson.NameOf(m.Type))
	case strictjson.NotInteger, strictjson.OutOfRange:
		err = fmt.Errorf("want an integer of %d bits", m.Type.Bits())
	}
	if field := m.Path.Bracketed(); field != "" {
		return fmt.Errorf("%s: %w", shown(field), err)
	}
	return err
}

// decode reads the first value of a text into *p, whatever follows.
func decode(text []byte, p any) error {
	var d strictjson.Decoder
	d.Init(&dialect, text, answerReader{})
	if d.AtEnd() {
		return io.EOF
	}
	return d.Value(p)
}

// decodeAll reads a text that is one value.
func decodeAll(text []byte, p any) error {
	var d strictjson.Decoder
	d.Init(&dialect, text, answerReader{})
	if err := d.Value(p); err != nil {
		return err
	}
	if !d.AtEnd() {
		return errors.New("text after the end of the message")
	}
	return nil
}

// encode returns a message as JSON. Unlike [json.Marshal] it writes <, > and & as they are: six
// bytes for each would make an answer longer than what it repeats.
func encode(message any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(message)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// maxText is the number of bytes of others' text that an error prints.
const maxText = 1 << 10

// cut shortens a text that others chose.
func cut(s string) string { return errtext.Cut(s, maxText) }

// shown is a text that others chose as people may see it: cut, and in quotes if it has
// characters that are not seen.
func shown(s string) string { return errtext.Visible(cut(s)) }

package input

import (
	"bufio"
	"bytes"
	"io"

	"github.com/berth-sched/berth/examples/internal/manifest"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// maxHead is how much of a text decides whether it is a table.
const maxHead = 1 << 20

// A source is a file or another text: objects, or a table of the OpenB trace.
type source struct {
	manifest.Source
	table string // "node" or "pod" for a table
	pods  [2]int // which of the pods are from here
}

// decode adds the objects of a text to o. The content decides the format: tables begin with
// a line of column names.
func (c *source) decode(o *api.Objects, r io.Reader) error {
	in := bufio.NewReaderSize(r, maxHead)
	head, _ := in.Peek(maxHead) // an error comes again
	bom := []byte("\ufeff")     // as spreadsheets write it
	if !simulate.IsOpenB(bytes.TrimPrefix(head, bom)) {
		return c.Decode(o, in)
	}
	if bytes.HasPrefix(head, bom) {
		_, _ = in.Discard(len(bom)) // it was peeked at
	}
	nodes := len(o.Nodes)
	text, err := io.ReadAll(in)
	if err == nil {
		err = simulate.DecodeOpenB(o, text)
	}
	if c.table = "pod"; nodes < len(o.Nodes) {
		c.table = "node"
	}
	if err != nil {
		return &manifest.FaultError{File: c.Name, Err: err}
	}
	return nil
}

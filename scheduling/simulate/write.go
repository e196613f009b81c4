package simulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// A traceWriter writes the lines of a trace.
type traceWriter struct {
	w   *bufio.Writer
	err error
}

// newTraceWriter writes the first line.
func newTraceWriter(w io.Writer, start time.Time) *traceWriter {
	t := &traceWriter{w: bufio.NewWriter(w)}
	t.line(&line{Trace: format, Start: &start})
	return t
}

func (t *traceWriter) line(l *line) {
	text, err := marshal(l)
	if err != nil {
		t.fail(err)
		return
	}
	_, err = t.w.Write(text) // with the end of the line
	t.fail(err)
}

func (t *traceWriter) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func marshal(x any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(x)
	return b.Bytes(), err
}

// event writes a line for each object.
func (t *traceWriter) event(e *Event) {
	at := e.At.String()
	if e.Apply == nil {
		t.line(&line{At: at, Delete: &e.Delete})
		return
	}
	for _, x := range items(e.Apply) {
		text, err := marshal(x.object)
		if err != nil {
			t.fail(fmt.Errorf("%s %s: %w", x.kind, x.name, err))
			return
		}
		if !bytes.HasPrefix(text, []byte(`{"kind":`)) {
			text = append([]byte(fmt.Sprintf(`{"kind":%q,`, x.kind)), text[1:]...)
		}
		t.line(&line{At: at, Apply: bytes.TrimSpace(text)})
	}
}

func (t *traceWriter) decision(d *Decision) { t.line(&line{At: d.At.String(), Decision: d}) }

func (t *traceWriter) flush() error {
	t.fail(t.w.Flush())
	return t.err
}

// Write writes the trace as JSON lines, one for each object and decision, in the order
// of time. What happens at the same time as a decision comes before it.
func (t *Trace) Write(w io.Writer) error {
	out := newTraceWriter(w, t.start())
	next := 0
	for i := range t.Events {
		for next < len(t.Decisions) && t.Decisions[next].At < t.Events[i].At {
			out.decision(&t.Decisions[next])
			next++
		}
		out.event(&t.Events[i])
	}
	for ; next < len(t.Decisions); next++ {
		out.decision(&t.Decisions[next])
	}
	return out.flush()
}

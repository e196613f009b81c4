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
func newTraceWriter(w io.Writer, start time.Time, recorded bool) *traceWriter {
	t := &traceWriter{w: bufio.NewWriter(w)}
	t.line(&line{Trace: format, Start: &start, Recorded: recorded})
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
	if e.Apply != nil {
		for _, x := range items(e.Apply) {
			t.apply(e.At, e.After, x)
		}
		return
	}
	l := line{At: e.At.String(), After: e.After, Wake: e.Wake}
	if !e.Wake {
		l.Delete = &e.Delete
	}
	if e.Evicted {
		l.Evicted = e.Grace.String()
	}
	t.line(&l)
}

// apply writes a line for an object that comes or changes.
func (t *traceWriter) apply(at time.Duration, after int, x item) {
	text, err := marshal(x.object)
	if err != nil {
		t.fail(fmt.Errorf("%s %s: %w", x.kind, x.name, err))
		return
	}
	if !bytes.HasPrefix(text, []byte(`{"kind":`)) {
		text = append([]byte(fmt.Sprintf(`{"kind":%q,`, x.kind)), text[1:]...)
	}
	t.line(&line{At: at.String(), After: after, Apply: bytes.TrimSpace(text)})
}

func (t *traceWriter) decision(d *Decision) { t.line(&line{At: d.At.String(), Decision: d}) }

func (t *traceWriter) flush() error {
	t.fail(t.w.Flush())
	return t.err
}

// Write writes the trace as JSON lines, one for each object and decision, in the order
// of time. What happens at the same time as a decision comes before it, unless the event
// says that it comes after something.
func (t *Trace) Write(w io.Writer) error {
	out := newTraceWriter(w, t.Begin(), t.Recorded)
	next := 0
	for i := range t.Events {
		e := &t.Events[i]
		for next < len(t.Decisions) && (t.Decisions[next].At < e.At || t.Decisions[next].At == e.At && e.After > 0) {
			out.decision(&t.Decisions[next])
			next++
		}
		out.event(e)
	}
	for ; next < len(t.Decisions); next++ {
		out.decision(&t.Decisions[next])
	}
	return out.flush()
}

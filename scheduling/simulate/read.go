package simulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// format is the first line's mark of a trace.
const format = "berth/1"

// line is one line of a trace.
type line struct {
	Trace    string          `json:"trace,omitempty"`
	Start    *time.Time      `json:"start,omitempty"`
	At       string          `json:"at,omitempty"`
	Apply    json.RawMessage `json:"apply,omitempty"`
	Delete   *Ref            `json:"delete,omitempty"`
	Decision *Decision       `json:"decision,omitempty"`
}

// A TraceError says what is wrong with a trace, and where.
type TraceError struct {
	// Line is the number of the line, from 1; of an event that was not read from lines,
	// its place among them.
	Line int
	Err  error
}

// Error names the line.
func (e *TraceError) Error() string { return fmt.Sprintf("trace: line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *TraceError) Unwrap() error { return e.Err }

// ReadTrace reads a trace of JSON lines, as the page of the package shows them. Empty
// lines count as lines. The first fault is a [*TraceError] with the line, the field and
// the value: text that is not JSON, an unknown field, time that goes back, a node or pod
// that is not there, a pod that is there already.
func ReadTrace(r io.Reader) (*Trace, error) {
	t, c := new(Trace), newChecker()
	lines := bufio.NewReader(r)
	first := true
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if err := t.readLine(text, first, c); err != nil {
				return nil, &TraceError{n, err}
			}
			first = false
		}
		if err == io.EOF {
			return t, nil
		}
	}
}

func (t *Trace) readLine(text []byte, first bool, c *checker) error {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is text after the object")
	}
	if l.Trace != "" || l.Start != nil {
		return t.readHeader(&l, first)
	}
	at, err := parseTime(l.At)
	if err != nil {
		return field("at", l.At, err)
	}
	switch {
	case count(l.Apply != nil, l.Delete != nil, l.Decision != nil) != 1:
		return errors.New("want one of apply, delete and decision")
	case l.Decision != nil:
		l.Decision.At = at
		if l.Decision.Pod == "" {
			return field("decision.pod", "", errors.New("is missing"))
		}
		t.Decisions = append(t.Decisions, *l.Decision)
		return c.time(at)
	}
	e := Event{At: at}
	if l.Delete != nil {
		e.Delete = *l.Delete
	} else if e.Apply, err = api.Decode(l.Apply); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	if err := c.check(&e); err != nil {
		return err
	}
	t.Events = append(t.Events, e)
	return nil
}

func (t *Trace) readHeader(l *line, first bool) error {
	switch {
	case !first:
		return field("trace", l.Trace, errors.New("only the first line may have it"))
	case l.At != "" || l.Apply != nil || l.Delete != nil || l.Decision != nil:
		return field("trace", l.Trace, errors.New("the line with it holds nothing else but start"))
	case l.Trace != format:
		return field("trace", l.Trace, errors.New("want "+format))
	case l.Start != nil:
		t.Start = *l.Start
	}
	return nil
}

func count(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

func field(name, value string, err error) error {
	return &api.InvalidError{Object: "event", Field: name, Value: value, Err: err}
}

// A checker follows a trace and refuses what cannot happen.
type checker struct {
	now   time.Duration
	known map[Ref]bool
}

func newChecker() *checker { return &checker{known: map[Ref]bool{}} }

func (c *checker) time(at time.Duration) error {
	if at < c.now {
		return field("at", at.String(), fmt.Errorf("time goes back from %v", c.now))
	}
	if at > longest {
		return field("at", at.String(), errTime)
	}
	c.now = at
	return nil
}

// check refuses an event that cannot happen after the earlier ones.
func (c *checker) check(e *Event) error {
	if err := c.time(e.At); err != nil {
		return err
	}
	if e.Apply == nil {
		return c.delete(e.Delete)
	}
	list := items(e.Apply)
	if len(list) == 0 {
		return field("apply", "", errors.New("holds no object of a kind that scheduling reads"))
	}
	for _, x := range list {
		ref := Ref{x.kind, x.name}
		if p, ok := x.object.(*api.Pod); ok {
			if c.known[ref] {
				return field("apply", "pod "+x.name, errors.New("the pod is there already"))
			}
			if name := p.Spec.NodeName; name != "" && !c.known[Ref{"Node", name}] {
				return field("apply", "pod "+x.name, fmt.Errorf("spec.nodeName: there is no node %q", name))
			}
			if _, err := timeOf(p, AnnotationRunTime, forever); err != nil {
				return err
			}
		}
		c.known[ref] = true
	}
	return nil
}

func (c *checker) delete(ref Ref) error {
	switch {
	case ref.Kind == "":
		return field("delete.kind", "", errors.New("is missing"))
	case ref.Name == "":
		return field("delete.name", "", errors.New("is missing"))
	case !c.known[ref]:
		return field("delete", ref.Kind+" "+ref.Name, errors.New("there is no such object"))
	}
	delete(c.known, ref)
	return nil
}

// check refuses a trace that cannot happen.
func (t *Trace) check() error {
	c := newChecker()
	for i := range t.Events {
		if err := c.check(&t.Events[i]); err != nil {
			return &TraceError{i + 1, err}
		}
	}
	return nil
}

package simulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
)

// format is the first line's mark of a trace.
const format = "berth/1"

// line is one line of a trace.
type line struct {
	Trace    string          `json:"trace,omitempty"`
	Start    *time.Time      `json:"start,omitempty"`
	Recorded bool            `json:"recorded,omitempty"`
	At       string          `json:"at,omitempty"`
	After    int             `json:"after,omitempty"`
	Evicted  string          `json:"evicted,omitempty"`
	Wake     bool            `json:"wake,omitempty"`
	Apply    json.RawMessage `json:"apply,omitempty"`
	Delete   *Ref            `json:"delete,omitempty"`
	Decision *Decision       `json:"decision,omitempty"`
}

// A TraceError says what is wrong with a trace, and where.
type TraceError struct {
	// Line is the number of the line, from 1; of an event or decision that was not read from
	// lines, its place among them.
	Line int
	Err  error
}

// Error names the line.
func (e *TraceError) Error() string { return fmt.Sprintf("trace: line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *TraceError) Unwrap() error { return e.Err }

// ReadTrace reads a trace of JSON lines, as the page of the package shows them. Empty
// lines count as lines. The first fault is a [*TraceError] with the line, the field and
// the value: text that is not JSON, an unknown field, a field twice, time that goes back, a
// node or pod that is not there, a pod that is there already, a malformed annotation, a
// decision that cannot be true. In a recorded trace, that is a decision about a pod or a
// node that is not there, a second binding without an eviction, and an eviction without a
// binding. In other traces the run may make pods and add nodes, so unknown nodes pass until
// [Replay] knows the autoscaler, and after them, or after a workload, unknown pods. A recorded pod may be on a node that comes
// later, or that never comes if the pod is deleted. The deletion of a node that never came
// says that it went before the recording began; its pods pass too.
//
// Objects hold only fields that scheduling reads, so that a misspelt one is found. For what
// kubectl prints, use api.Decode and [FromObjects].
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
			c.line = n
			if err := t.readLine(text, first, c); err != nil {
				return nil, atLine(n, err)
			}
			first = false
		}
		if err == io.EOF {
			if err := c.end(); err != nil {
				return nil, err
			}
			if len(t.Decisions) > 0 {
				t.read = &t.Decisions[0]
			}
			return t, nil
		}
	}
}

func (t *Trace) readLine(text []byte, first bool, c *checker) error {
	var l line
	if err := c.text.line(text, &l); err != nil {
		return err
	}
	if l.Trace != "" || l.Start != nil || l.Recorded {
		return t.readHeader(&l, first, c)
	}
	at, err := parseTime(l.At)
	if err != nil {
		return field("at", l.At, err)
	}
	switch {
	case count(l.Apply != nil, l.Delete != nil, l.Decision != nil, l.Wake) != 1:
		return errors.New("want one of apply, delete, decision and wake")
	case l.Decision != nil:
		l.Decision.At = at
		if l.Decision.Pod == "" {
			return field("decision.pod", "", errors.New("is missing"))
		}
		if err := c.time(at); err != nil {
			return err
		}
		t.Decisions, t.lines = append(t.Decisions, *l.Decision), append(t.lines, c.line)
		c.undecided = append(c.undecided, numbered{*l.Decision, c.line})
		return nil
	}
	e := Event{At: at, After: l.After, Wake: l.Wake}
	if l.Evicted != "" {
		e.Evicted = true
		if e.Grace, err = parseTime(l.Evicted); err != nil {
			return field("evicted", l.Evicted, err)
		}
	}
	switch {
	case l.Delete != nil:
		e.Delete = *l.Delete
	case l.Apply != nil:
		if e.Apply, err = c.text.objects(l.Apply); err != nil {
			return err
		}
	}
	if err := c.check(&e); err != nil {
		return err
	}
	t.Events = append(t.Events, e)
	return nil
}

func (t *Trace) readHeader(l *line, first bool, c *checker) error {
	switch {
	case !first:
		return field("trace", l.Trace, errors.New("only the first line may have it"))
	case l.At != "" || l.After != 0 || l.Evicted != "" || l.Wake || l.Apply != nil || l.Delete != nil || l.Decision != nil:
		return field("trace", l.Trace, errors.New("the line with it holds nothing else but start and recorded"))
	case l.Trace != format:
		return field("trace", l.Trace, errors.New("want "+format))
	case l.Start != nil:
		t.Start = *l.Start
	}
	t.Recorded, c.recorded = l.Recorded, l.Recorded
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

// short cuts a name for the text of an error, which must not grow with the trace.
func short(name string) string { return errtext.Cut(name, 512) }

func field(name, value string, err error) error {
	return &api.InvalidError{Object: "event", Field: name, Value: value, Err: err}
}

// check refuses an event that cannot happen after the earlier ones.
func (c *checker) check(e *Event) error {
	if err := c.time(e.At); err != nil {
		return err
	}
	switch pod := e.Apply == nil && e.Delete.Kind == "Pod"; {
	case e.After < 0:
		return field("after", strconv.Itoa(e.After), errors.New("must not be negative"))
	case e.Evicted && !(c.recorded && pod):
		return field("evicted", e.Grace.String(), errors.New("only the deletion of a pod in a recorded trace may have it"))
	case e.Grace < 0 || e.Grace > longest:
		return field("evicted", e.Grace.String(), errTime)
	}
	if e.Wake {
		if e.Apply != nil || e.Delete != (Ref{}) {
			return field("wake", "true", errors.New("something else happens too"))
		}
		return nil
	}
	if e.Apply == nil {
		return c.delete(e.Delete)
	}
	list := items(e.Apply)
	if len(list) == 0 {
		return field("apply", "", errors.New("holds no object of a kind that scheduling reads"))
	}
	for _, x := range list {
		if p, ok := x.object.(*api.Pod); ok {
			if c.known[Ref{x.kind, x.name}] {
				return field("apply", "pod "+x.name, errors.New("the pod is there already"))
			}
			// A recorder may hear of a pod before its node, and after it.
			if name := p.Spec.NodeName; name != "" && !c.recorded && !c.known[Ref{"Node", name}] && !p.Status.Phase.HasEnded() {
				return field("apply", "pod "+x.name, fmt.Errorf("spec.nodeName: there is no node %q", short(name)))
			}
			for _, key := range []string{AnnotationArrival, AnnotationRunTime} {
				if _, err := timeOf(p, key, forever); err != nil {
					return err
				}
			}
		}
		c.come(x)
	}
	return nil
}

func (c *checker) delete(ref Ref) error {
	switch {
	case ref.Kind == "":
		return field("delete.kind", "", errors.New("is missing"))
	case ref.Name == "":
		return field("delete.name", "", errors.New("is missing"))
	case !c.known[ref] && !c.isAwaited(ref):
		return field("delete", ref.Kind+" "+ref.Name, errors.New("there is no such object"))
	}
	c.leave(ref)
	return nil
}

// isAwaited reports whether the object is a node that pods of a recorded trace stand on, and
// that has not come.
func (c *checker) isAwaited(ref Ref) bool {
	return ref.Kind == "Node" && len(c.awaited[ref.Name]) > 0
}

// check refuses a trace that cannot happen.
func (t *Trace) check() error {
	c := newChecker()
	c.recorded = t.Recorded
	for i := range t.Events {
		c.line = i + 1
		if err := c.check(&t.Events[i]); err != nil {
			return atLine(c.line, err)
		}
	}
	return c.end()
}

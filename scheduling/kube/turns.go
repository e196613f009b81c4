package kube

import (
	"container/list"
	"context"
	"sync"
)

// turns let a number of writes run at once. If more are to be done, namespaces take turns, one write
// each; the writes of one namespace come in order. So a write waits for one write of each other
// namespace, not for the thousands that one of them may have.
type turns struct {
	mu    sync.Mutex
	free  int                      // 0 if anybody waits
	lines list.List                // of *line, the next one first; none is empty
	of    map[string]*list.Element // in lines, by namespace
}

// A line holds the writes of one namespace that wait.
type line struct {
	namespace string
	waiting   list.List // of chan struct{}, which is closed when the turn comes
}

func newTurns(most int) *turns { return &turns{free: most, of: map[string]*list.Element{}} }

// do calls write in a turn of the namespace.
func (t *turns) do(ctx context.Context, namespace string, write func() error) error {
	end, err := t.take(ctx, namespace)
	if err != nil {
		return err
	}
	defer end() // also after a panic
	return write()
}

// take waits for a turn of the namespace, or until ctx ends. The turn lasts until the first call of end.
func (t *turns) take(ctx context.Context, namespace string) (end func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return sync.OnceFunc(t.pass), nil
	}
	came, leave := t.join(namespace)
	t.mu.Unlock()
	select {
	case <-came:
		return sync.OnceFunc(t.pass), nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// join adds a write to the line of a namespace. leave takes it out again; if its turn has come meanwhile,
// the next write gets it. Hold the lock to call join, but not to call leave.
func (t *turns) join(namespace string) (came chan struct{}, leave func()) {
	e := t.of[namespace]
	if e == nil {
		e = t.lines.PushBack(&line{namespace: namespace})
		t.of[namespace] = e
	}
	came = make(chan struct{})
	at := e.Value.(*line).waiting.PushBack(came)
	return came, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		select {
		case <-came:
			t.next()
		default:
			t.remove(e, at)
		}
	}
}

// remove takes a write out of its line.
func (t *turns) remove(e, at *list.Element) {
	l := e.Value.(*line)
	if l.waiting.Remove(at); l.waiting.Len() == 0 {
		t.lines.Remove(e)
		delete(t.of, l.namespace)
	}
}

// pass ends a turn.
func (t *turns) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next()
}

// next gives a turn to the first of the line whose turn it is.
func (t *turns) next() {
	e := t.lines.Front()
	if e == nil {
		t.free++
		return
	}
	t.lines.MoveToBack(e)
	first := e.Value.(*line).waiting.Front()
	close(first.Value.(chan struct{}))
	t.remove(e, first)
}

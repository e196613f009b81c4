package lifecycle

import (
	"context"
	"errors"
	"sync"
)

// tasks runs work that may block outside the scheduling goroutine, up to a number of
// tasks at a time. Only the scheduling goroutine uses it.
type tasks struct {
	most    int // 0: run in the scheduling goroutine
	running int
	ready   []func() // start a task, or let one go on after [Await]
}

// errExited is the error of code outside this module that called [runtime.Goexit].
var errExited = errors.New("it ended its goroutine without an answer")

// run runs the task; the scheduling goroutine calls then with its error, or with
// [errExited] if the task ended its goroutine. A task must not panic.
func (d *Driver) run(ctx context.Context, task func() error, then func(context.Context, error)) {
	if d.tasks.most == 0 {
		then(ctx, task())
		return
	}
	d.tasks.enter(func() { d.start(task, then) })
}

func (d *Driver) start(task func() error, then func(context.Context, error)) {
	go func() {
		err := errExited // unless the task returns
		defer func() {
			d.mail.post(func(ctx context.Context) {
				d.tasks.leave()
				then(ctx, err)
			})
		}()
		err = task()
	}()
}

// enter calls begin, which must not block, once fewer than most tasks run.
func (t *tasks) enter(begin func()) {
	if t.running >= t.most {
		t.ready = append(t.ready, begin)
		return
	}
	t.running++
	begin()
}

// leave ends a task, so that another one can begin.
func (t *tasks) leave() {
	t.running--
	if len(t.ready) > 0 && t.running < t.most {
		next := t.ready[0]
		t.ready = t.ready[1:]
		t.running++
		next()
	}
}

// A place is the place of a binding among the tasks.
type place struct {
	d     *Driver
	mu    sync.Mutex
	waits int // calls of Await; there is no place meanwhile
}

type placeKey struct{}

// withPlace returns a context in which [Await] gives up the place of a binding.
func (d *Driver) withPlace(ctx context.Context) context.Context {
	if d.tasks.most == 0 {
		return ctx
	}
	return context.WithValue(ctx, placeKey{}, &place{d: d})
}

// Await calls wait, which blocks until something has happened outside: a volume was
// provisioned, a device is ready. Meanwhile the binding is none of Config.Bindings, so that
// pods whose objects never get ready keep no other pod from being bound. Call it in PreBind
// or Bind with the context that these get. Several plugins of one pod may call it at once: the
// place is given up by the first, and taken again by the last that goes on. Otherwise one
// whose device is ready would keep the place for one whose volume never comes.
// With any other context, and without Config.Bindings, it only calls wait.
func Await(ctx context.Context, wait func() error) error {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return wait()
	}
	p.leave()
	defer p.enter()
	return wait()
}

func (p *place) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waits++; p.waits == 1 {
		p.d.mail.post(func(context.Context) { p.d.tasks.leave() })
	}
}

// enter returns once the binding has its place again, or at once if others still wait.
func (p *place) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waits--; p.waits == 0 {
		back := make(chan struct{})
		p.d.mail.post(func(context.Context) { p.d.tasks.enter(func() { close(back) }) })
		<-back
	}
}

package lifecycle

import "context"

// tasks runs work that may block outside the scheduling goroutine, up to a number of
// tasks at a time. Only the scheduling goroutine uses it.
type tasks struct {
	most    int // 0: run in the scheduling goroutine
	running int
	ready   []func() message
}

// run runs the task; the scheduling goroutine carries out the message that the task
// returns. A task must not panic.
func (d *Driver) run(ctx context.Context, task func() message) {
	switch t := &d.tasks; {
	case t.most == 0:
		task()(ctx)
	case t.running < t.most:
		d.start(task)
	default:
		t.ready = append(t.ready, task)
	}
}

func (d *Driver) start(task func() message) {
	d.tasks.running++
	go func() {
		then := task()
		d.mail.post(func(ctx context.Context) {
			t := &d.tasks
			t.running--
			if len(t.ready) > 0 {
				next := t.ready[0]
				t.ready = t.ready[1:]
				d.start(next)
			}
			then(ctx)
		})
	}()
}

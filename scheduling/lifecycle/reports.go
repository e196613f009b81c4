package lifecycle

import (
	"container/list"
	"context"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling/queue"
)

// reports carries reports to the [Reporter], beside the scheduling goroutine, which alone
// uses this type. At most one report of a pod waits, the newest, and at most one is under
// way. Namespaces take turns, one report each; the reports of one namespace are sent in order. So
// a report waits for one of each other namespace, not for all that one of them may have.
type reports struct {
	closed  bool // nothing is sent any more
	running int
	waiting map[*pod]Report
	lines   list.List                // of *reportLine, the next one first; none is empty
	of      map[string]*list.Element // in lines, by namespace
	places  map[*pod]*list.Element   // in the line of its namespace
	busy    map[*pod]bool
}

// A reportLine holds the pods of one namespace that are to be reported.
type reportLine struct {
	pods list.List // of *pod: waiting, and none under way
}

func newReports() reports {
	return reports{waiting: map[*pod]Report{}, of: map[string]*list.Element{}, places: map[*pod]*list.Element{}, busy: map[*pod]bool{}}
}

// line puts a pod into the line of its namespace. Its report waits, and none about it is under way.
func (q *reports) line(p *pod) {
	namespace := p.info.Pod.Namespace
	e := q.of[namespace]
	if e == nil {
		e = q.lines.PushBack(&reportLine{})
		q.of[namespace] = e
	}
	q.places[p] = e.Value.(*reportLine).pods.PushBack(p)
}

// forget drops the report that waits about a pod. Otherwise pods that come and go faster
// than they can be reported would fill the memory.
func (q *reports) forget(p *pod) {
	delete(q.waiting, p)
	at := q.places[p]
	if at == nil {
		return
	}
	delete(q.places, p)
	namespace := p.info.Pod.Namespace
	e := q.of[namespace]
	l := e.Value.(*reportLine)
	if l.pods.Remove(at); l.pods.Len() == 0 {
		q.lines.Remove(e)
		delete(q.of, namespace)
	}
}

// next takes the report whose turn it is, nil if none waits. A namespace loses no turn by reports
// that are no longer true.
func (q *reports) next() (*pod, Report) {
	for e := q.lines.Front(); e != nil; e = q.lines.Front() {
		p := e.Value.(*reportLine).pods.Front().Value.(*pod)
		r := q.waiting[p]
		q.forget(p)
		if stands(p, r) {
			q.lines.MoveToBack(e) // unless that was its last one
			return p, r
		}
	}
	return nil, Report{}
}

// mostReports is how many reports are under way at once: few, because they take
// requests to the API server from bindings.
func (d *Driver) mostReports() int { return max(1, d.config.Bindings/4) }

// report tells the Reporter what became of a pod. With Bindings 0 that happens at once.
func (d *Driver) report(ctx context.Context, p *pod, r Report) {
	reporter, ok := d.config.Binder.(Reporter)
	if !ok {
		return
	}
	q := &d.reports
	switch {
	case d.config.Bindings == 0:
		d.problem(d.send(ctx, reporter, p, r))
		return
	case q.closed:
		return
	case q.waiting == nil:
		*q = newReports()
	}
	if _, waits := q.waiting[p]; !waits && !q.busy[p] {
		q.line(p)
	}
	q.waiting[p] = r
	d.sendReports(ctx, reporter)
}

// sendReports starts as many reports as may be under way.
func (d *Driver) sendReports(ctx context.Context, reporter Reporter) {
	q := &d.reports
	for q.running < d.mostReports() {
		p, r := q.next()
		if p == nil {
			return
		}
		q.running++
		q.busy[p] = true
		background, pod := d.bindingContext(ctx), p.info.Pod
		go func() {
			what := "reporter: pod " + pod.Key()
			err := fmt.Errorf("%s: %w", what, errExited) // unless the reporter returns
			defer func() {
				d.mail.post(func(ctx context.Context) {
					d.problem(err)
					q.running--
					delete(q.busy, p)
					if _, waits := q.waiting[p]; waits {
						q.line(p)
					}
					d.sendReports(ctx, reporter)
				})
			}()
			err = protected(what, func() { reporter.Report(background, pod, r) })
		}()
	}
}

// stands reports whether a report is still true when it is sent. A pod that is on a node
// must not be called unschedulable, even if the answer to its binding was lost.
func stands(p *pod, r Report) bool {
	switch {
	case p.gone || p.info.Pod.Spec.NodeName != "":
		return false
	case r.Reason == "":
		return p.binding != nil
	}
	return p.host == nil
}

// closeReports drops the reports that wait, and all further ones.
func (d *Driver) closeReports() {
	q := &d.reports
	q.closed = true
	q.lines.Init()
	clear(q.of)
	clear(q.places)
	clear(q.waiting)
}

func (d *Driver) send(ctx context.Context, reporter Reporter, p *pod, r Report) error {
	return protected("reporter: pod "+p.info.Pod.Key(), func() { reporter.Report(ctx, p.info.Pod, r) })
}

// release asks for the devices of claims that a PostFilter plugin wants back, and then calls done,
// with an error if one of them could not be asked for.
func (d *Driver) release(ctx context.Context, p *pod, claims []framework.ClaimRelease, done func(ctx context.Context, err error)) {
	releaser, ok := d.config.Binder.(ClaimReleaser)
	if !ok || len(claims) == 0 {
		done(ctx, nil)
		return
	}
	background, pod := d.bindingContext(ctx), p.info.Pod
	d.open++
	var errs []error
	d.run(ctx, func() error {
		for _, c := range claims {
			if err := errtext.Guard("releaser", func() error { return releaser.ReleaseClaim(background, c, pod) }); err != nil {
				errs = append(errs, fmt.Errorf("releasing claim %s: %w", c.Claim, err))
			}
		}
		return nil
	}, func(ctx context.Context, err error) {
		d.open--
		errs = append(errs, err) // of a releaser that ended its goroutine
		for _, err := range errs {
			d.problem(err)
		}
		done(ctx, errors.Join(errs...))
	})
}

// failedUntilReleased is failed for a pod whose claims are given back: it is in flight until they
// have been asked for, so it misses none of their next versions. If one could not be asked for,
// none may come, and the pod is tried again after its backoff.
func (d *Driver) failedUntilReleased(ctx context.Context, p *pod, it *queue.Item, a *Attempt, claims []framework.ClaimRelease, cause error) {
	a.State, a.Err = Failed, cause
	stays := a.Nominated == p.nominated
	d.release(ctx, p, claims, func(ctx context.Context, err error) {
		if stays {
			a.Nominated = p.nominated // it may have been withdrawn meanwhile
		}
		switch {
		case p.item != it: // it was deleted meanwhile, or is on a node
		case err != nil:
			d.requeue(ctx, p, it, a, queue.Rejectors{})
		default:
			d.requeue(ctx, p, it, a, rejectorsOf(cause))
		}
	})
}

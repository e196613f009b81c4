package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// binding is one binding cycle. The scheduling goroutine takes its steps; whatever
// may block between them runs as a task:
//
//	preflight (task) ─┐
//	                  ├─▶ permitted ─▶ PreBind, Bind, PostBind (task) ─▶ ended
//	Permit decided  ──┘        │                      │
//	                           └───── failure ────────┴─▶ Unreserve, forget, requeue
type binding struct {
	*scheduling.Binding
	d       *Driver
	p       *pod
	item    *queue.Item
	group   *group // whose attempt began it, nil for a pod alone
	attempt *Attempt
	took    time.Duration // the attempt, until the binding began; 0 for a pod of a group
	plugged bool          // the profile has Bind plugins
	left    string        // the node that the pod was nominated to before, "" for none
	wait    *waitingPod   // nil unless the pod waits on Permit
	ctx     context.Context
	cancel  context.CancelCauseFunc

	flown   bool // preflight has ended
	settled bool // the decision on Permit was applied
	bound   bool // Bind has succeeded, so the pod stays on its node whatever PostBind does

	mu         sync.Mutex
	preBinding bool
}

// removed is the reason for rejecting a waiting pod that no longer exists or that
// another scheduler has bound.
const removed = "removed"

// begin starts the binding of a pod that is permitted or waits.
func (b *binding) begin(ctx context.Context) {
	d := b.d
	d.open++
	b.ctx, b.cancel = context.WithCancelCause(d.withPlace(d.bindingContext(ctx)))
	if !b.HasPreFlight() {
		acts, err := b.PreFlight(b.ctx)
		b.preflown(ctx, acts, err)
		return
	}
	var acts bool
	d.run(ctx, func() error {
		return d.coded(b.attempt, "PreBindPreFlight", func() (code framework.Code, err error) {
			if acts, err = b.PreFlight(b.ctx); !acts {
				code = framework.Skip
			}
			return code, err
		})
	}, func(ctx context.Context, err error) { b.preflown(ctx, acts, err) })
}

func (b *binding) preflown(ctx context.Context, acts bool, err error) {
	b.flown = true
	if err != nil {
		b.fail(ctx, err)
		return
	}
	if (acts || b.wait != nil) && !b.p.gone {
		b.d.report(ctx, b.p, Report{Nominated: b.Node})
	}
	b.permit(ctx)
}

// permit continues the binding once PreFlight has ended and Permit is decided.
func (b *binding) permit(ctx context.Context) {
	if !b.flown || b.settled {
		return
	}
	if b.wait != nil {
		done, err := b.wait.decision()
		if !done {
			return
		}
		b.d.waiting.remove(b.wait)
		if err != nil {
			b.fail(ctx, err)
			return
		}
	}
	if !b.p.assumed {
		b.fail(ctx, fmt.Errorf("pod %s: an event gave it another node than %s before it was bound", b.Pod.Pod.Key(), b.Node))
		return
	}
	b.settled = true
	if b.item != nil { // not a pod of a group
		b.d.queue.Done(b.item) // from here on a failure has nothing to do with the events since Pop
	}
	b.d.run(ctx, b.bind, b.ended)
}

// bind runs PreBind, Bind and PostBind.
func (b *binding) bind() error {
	b.setPreBinding(true)
	err := b.d.measured(b.attempt, "PreBind", func() error { return b.PreBind(b.ctx, b.d.config.Bindings > 0) })
	b.setPreBinding(false)
	if err != nil {
		return err
	}
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	if err := b.d.measured(b.attempt, "Bind", b.bindToNode); err != nil {
		return err
	}
	b.bound = true
	if err := b.d.measured(b.attempt, "PostBind", func() error { return b.PostBind(b.ctx) }); err != nil {
		b.d.mail.post(func(context.Context) { b.d.problem(err) })
	}
	return nil
}

// bindToNode lets the profile bind; if the profile has no Bind plugins, the Binder
// binds.
func (b *binding) bindToNode() error {
	bound, err := b.Bind(b.ctx)
	switch {
	case bound || err != nil:
		return err
	case b.plugged:
		return fmt.Errorf("pod %s: every Bind plugin skipped it", b.Pod.Pod.Key())
	}
	return errtext.Guard("binder", func() error { return b.d.config.Binder.Bind(b.ctx, b.Pod.Pod, b.Node) })
}

func (b *binding) unreserve() {
	b.d.problem(b.d.measured(b.attempt, "Unreserve", func() error { return b.Unreserve(b.d.snap) }))
}

// takeBack undoes what was reserved and assumed for a pod that Permit rejects. It is nominated as it
// was, so that failed can withdraw that.
func (b *binding) takeBack() {
	b.unreserve()
	b.d.uncount(b.p)
	b.d.nominate(b.p, b.left)
}

func (b *binding) setPreBinding(yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.preBinding = yes
}

// preempt ends the binding for the sake of another pod, if it has not reached Bind
// yet. It reports whether it did so.
func (b *binding) preempt(plugin, message string) bool {
	if b.wait != nil && b.wait.Preempt(plugin, message) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.preBinding {
		b.cancel(errors.New(message))
	}
	return b.preBinding
}

// abandon ends the waiting of a pod that no longer exists or is already on a node. A
// binding that has gone further ends by itself.
func (b *binding) abandon() {
	if b.wait != nil {
		b.wait.Reject("", removed)
	}
}

// ended applies the result.
func (b *binding) ended(ctx context.Context, err error) {
	if b.bound { // PostBind ended its goroutine
		b.d.problem(err)
		err = nil
	}
	if err != nil {
		b.fail(ctx, err)
		return
	}
	b.close()
	d, p := b.d, b.p
	p.item = nil
	if d.settle(p) {
		d.move(ctx, assignedEvent(queueing.ActionDelete), p.info, nil, nil)
	} else if p.assumed && d.config.AssumeTTL > 0 {
		p.expires = d.clock.Now().Add(d.config.AssumeTTL)
		d.expiring = append(d.expiring, expiry{p, p.expires})
	}
	if b.group != nil {
		b.group.endBinding()
	}
	b.attempt.State = Bound
	d.observe(b.attempt)
}

// fail undoes the binding and returns the pod to the queue.
func (b *binding) fail(ctx context.Context, err error) {
	if b.wait != nil {
		b.wait.Reject("", removed) // stops the timers of a pod that still waits
		b.d.waiting.remove(b.wait)
	}
	b.settled = true
	b.close()
	d, p := b.d, b.p
	b.unreserve()
	if p.assumed {
		d.uncount(p)
	}
	d.settle(p)
	d.retell(b.Pod.Pod)
	move := func(except *queue.Item) { // what it had reserved is free, also if it was deleted or bound by another scheduler before
		d.move(ctx, assignedEvent(queueing.ActionDelete), b.Pod, nil, except)
	}
	if b.item != nil {
		d.deferSlow(b.item, p, b.took)
	}
	var fit *scheduling.FitError
	if errors.As(err, &fit) {
		// The pod was rejected. Its leaving the node is no event for itself, but it
		// is one for others; and their leaving may be one for it.
		if b.item != nil {
			d.queue.Hold(b.item)
		}
		d.failed(ctx, p, b.item, b.attempt, err)
		move(b.item)
	} else {
		move(nil)
		d.failed(ctx, p, b.item, b.attempt, err)
	}
	if b.group != nil {
		b.group.endBinding()
	}
}

func (b *binding) close() {
	b.d.open--
	b.p.binding = nil
	if b.p.gone {
		b.d.departing.end(b.p)
	}
	b.cancel(nil)
}

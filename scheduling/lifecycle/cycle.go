package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scheduling/queue"
)

// ScheduleOne applies what has happened and makes one attempt for the next pod. It
// returns false if ctx is done or if no pod is ready; an event or the clock may make
// one ready later. If Config.Bindings is 0, the attempt has ended when it returns,
// unless the pod waits on Permit.
func (d *Driver) ScheduleOne(ctx context.Context) (Attempt, bool) {
	it := d.pop(ctx)
	if it == nil {
		d.arm()
		return Attempt{}, false
	}
	if d.groups != nil {
		if g := d.groups.byItem[it]; g != nil {
			return d.tryGroup(ctx, g, it), true
		}
	}
	p := d.pods[keyOf(it.Pod.Pod)]
	sched := d.profileOf(it.Pod.Pod)
	a := &Attempt{Pod: it.Pod, Profile: sched.Profile(), Number: it.Attempts, InitialAttempt: it.InitialAttempt, Queued: it.Timestamp}
	if it.Pod.Pod.DeletionTimestamp != nil || p.assumed {
		d.clearNomination(ctx, p, "")
		d.dequeue(p)
		return *a, true
	}
	if sched != d.last {
		sched.Seek(d.last.Position())
		d.last = sched
	}
	d.snap.SetNow(d.clock.Now())
	a.Started = d.stamp()
	d.cheap(p)
	if err := d.stillThere(it.Pod); err != nil {
		a.Decided = d.stamp()
		d.failed(ctx, p, it, a, err)
		return *a, true
	}
	switch r, known := d.refusal(p, it); {
	case !known:
		d.try(ctx, sched, p, it, a)
	case d.verify:
		d.try(ctx, sched, p, it, a)
		d.problem(r.verify(a))
	default:
		d.repeat(ctx, sched, p, it, a, r)
	}
	d.passOver(ctx, sched, a)
	return *a, true
}

// pop returns the next pod, or nil if none is ready after everything was applied.
func (d *Driver) pop(ctx context.Context) *queue.Item {
	for ctx.Err() == nil {
		d.Flush(ctx)
		if ctx.Err() != nil {
			break
		}
		if it := d.queue.Pop(); it != nil || d.mail.len() == 0 {
			return it
		}
	}
	return nil
}

// try is the scheduling cycle.
//
// Source: kube-scheduler 1.37, schedule_one.go, schedulingCycle.
func (d *Driver) try(ctx context.Context, sched *scheduling.Scheduler, p *pod, it *queue.Item, a *Attempt) {
	d.refusals.forget(d.snap)
	err := d.measured(a, StepSchedule, func() (err error) {
		a.Decision, err = sched.ScheduleContext(ctx, d.snap, it.Pod)
		return err
	})
	d.observeDecision(sched, a)
	if err != nil {
		a.Decided = d.stamp()
		d.makeRoom(ctx, sched, p, it, a, err)
		return
	}
	d.observeScores(sched, a)
	nominated := p.nominated
	d.nominate(p, "")
	if err := d.measured(a, StepAssume, func() error { return sched.Assume(d.snap, it.Pod, a.Decision) }); err != nil {
		a.Decided = d.stamp()
		d.nominate(p, nominated) // so that failed can withdraw it
		d.deferSlow(it, p, d.sinceAttempt())
		d.failed(ctx, p, it, a, err)
		return
	}
	d.assume(p, it.Pod, a.Decision.Node)
	b := &binding{Binding: sched.Binding(it.Pod, a.Decision), d: d, p: p, item: it, attempt: a, took: d.sinceAttempt(), plugged: d.binders[sched], left: nominated}
	var waits []scheduling.PermitWait
	err = d.coded(a, "Permit", func() (code framework.Code, err error) {
		if waits, err = b.Permit(ctx); len(waits) > 0 {
			code = framework.Wait
		}
		return code, err
	})
	a.Decided = d.stamp()
	if err != nil {
		b.takeBack()
		d.deferSlow(it, p, d.sinceAttempt())
		d.failed(ctx, p, it, a, err)
		return
	}
	d.leftNomination(ctx, p, nominated, a.Decision.Node)
	p.binding = b
	a.State = Binding
	if len(waits) > 0 {
		a.State = Waiting
		b.wait = newWaitingPod(d.clock, b.Binding, waits, func() { d.mail.post(b.permit) })
		d.waiting.add(b.wait)
	}
	b.begin(ctx)
}

// assume notes that the pod counts on the node; the snapshot has it there already.
func (d *Driver) assume(p *pod, info *framework.PodInfo, node string) {
	d.hostOf(node).add(p)
	p.counted, p.inside, p.assumed = info, true, true
}

// makeRoom asks the PostFilter plugins to make room after no node was found.
//
// Source: kube-scheduler 1.37, schedule_one.go, schedulingAlgorithm.
func (d *Driver) makeRoom(ctx context.Context, sched *scheduling.Scheduler, p *pod, it *queue.Item, a *Attempt, err error) {
	var fit *scheduling.FitError
	switch {
	case !errors.As(err, &fit):
		d.delay(it, &p.pacer, p.info.Pod.Namespace, d.snap.Now())
		d.failed(ctx, p, it, a, err)
		return
	case !sched.HasPostFilter():
		d.deferSlow(it, p, d.sinceAttempt())
		d.refused(ctx, sched, p, it, a, fit)
		return
	case d.awaitsVictims(sched, p, it.Pod):
		fit.PostFilter, a.Nominated = preemption.Awaits, p.nominated
		d.refused(ctx, sched, p, it, a, fit)
		return
	}
	var (
		result framework.PostFiltered
		plugin string
		status framework.Status
	)
	postErr := d.coded(a, "PostFilter", func() (code framework.Code, err error) {
		result, plugin, status, err = sched.PostFilter(ctx, d.snap, d.asNominated(p, it.Pod), a.Decision)
		return status.Code(), err
	})
	if i := slices.IndexFunc(result.Victims, func(v framework.Victim) bool { return v.Pod == nil || v.Pod.Pod == nil }); i >= 0 {
		postErr = &scheduling.PluginError{Point: "PostFilter", Plugin: plugin, Err: fmt.Errorf("Victims[%d].Pod: is nil", i)}
		result = framework.PostFiltered{}
	}
	fit.PostFilter = status.Message()
	if ctx.Err() == nil { // otherwise the attempt was cut short, which is no error
		d.problem(postErr)
	}
	if result.Nominated == "" && !result.Override {
		result.Nominated = p.nominated // no change
	}
	a.Nominated, a.Victims = result.Nominated, result.Victims
	switch {
	case len(result.Victims) > 0:
		d.release(ctx, p, result.Claims, func(context.Context, error) {}) // the pod waits for its victims
		d.evict(ctx, plugin, p, it, a, err)
	case len(result.Claims) > 0:
		d.failedUntilReleased(ctx, p, it, a, result.Claims, err)
	case postErr != nil:
		d.failed(ctx, p, it, a, err)
	default:
		d.deferSlow(it, p, d.sinceAttempt())
		d.refused(ctx, sched, p, it, a, fit)
	}
}

// failed returns the pod to the queue, for what err says.
func (d *Driver) failed(ctx context.Context, p *pod, it *queue.Item, a *Attempt, err error) {
	a.State, a.Err = Failed, err
	d.requeue(ctx, p, it, a, rejectorsOf(err))
}

// rejectorsOf returns the plugins that an error is from, none for a fault.
func rejectorsOf(err error) queue.Rejectors {
	var fit *scheduling.FitError
	if !errors.As(err, &fit) {
		return queue.Rejectors{}
	}
	return queue.Rejectors{Plugins: fit.Plugins(), Pending: fit.Pending(), Early: earlyOf(fit)}
}

// earlyOf returns the plugin that rejected the pod before any node was looked at, if no departure helps.
func earlyOf(fit *scheduling.FitError) string {
	if fit.PreFilter == "" || fit.Rejections[0].Status.Code() != framework.UnschedulableAndUnresolvable {
		return ""
	}
	return fit.Rejections[0].Plugin
}

// requeue returns the pod of a failed attempt to the queue, where it waits for what helps
// against the rejectors.
//
// Source: kube-scheduler 1.37, schedule_one.go, handleSchedulingFailure.
func (d *Driver) requeue(ctx context.Context, p *pod, it *queue.Item, a *Attempt, by queue.Rejectors) {
	err, reason := a.Err, api.PodReasonSchedulerError
	var fit *scheduling.FitError
	if errors.As(err, &fit) || errors.Is(err, scheduling.ErrNoNodes) {
		reason = api.PodReasonUnschedulable
	}
	if it == nil { // a pod of a group
		if p.member != nil && !p.gone {
			d.memberFailed(ctx, p, gang.PodReport{Pod: p.info, Reason: reason, Message: err.Error()})
			if d.isPending(p) {
				d.lose(p.member.group)
			}
			d.regatePod(ctx, p)
		}
		d.observe(a)
		return
	}
	if p.gone || p.host != nil || d.profileOf(p.info.Pod) == nil {
		// It was deleted, bound by another scheduler, or given to another one.
		d.cheap(p)
		d.queue.Done(it)
		p.item = nil
		d.observe(a)
		return
	}
	p.item = it
	if a.Nominated != "" {
		by.Unresolvable = nil // whenever pods leave, it may have to give up the node that it keeps others off
	}
	d.queue.Requeue(ctx, it, p.info, by)
	d.clearNomination(ctx, p, a.Nominated)
	if _, ok := d.config.Binder.(Reporter); ok { // otherwise the text is not made
		message := by.Message
		if message == "" {
			message = err.Error()
		}
		d.report(ctx, p, Report{Reason: reason, Message: message, Nominated: a.Nominated, Victims: a.Victims})
	}
	d.observe(a)
}

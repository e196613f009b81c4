package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// evict removes the victims of a preemption. A victim whose own binding is under way
// goes back to the queue; the [Evicter] evicts the others. It evicts the last one
// last, so that the pod is not tried before all of them are leaving. The pod returns
// to the queue when all have been asked to leave.
//
// Source: kube-scheduler 1.37, framework/preemption, prepareCandidate and its
// asynchronous form.
//
// The pod stays in flight until then, so no event is lost; see the page of the
// package.
func (d *Driver) evict(ctx context.Context, plugin string, p *pod, it *queue.Item, a *Attempt, cause error) {
	a.State, a.Err = Failed, cause
	node := a.Nominated
	for _, q := range d.nominations.to(node) {
		if q != p && q.nominated == node && q.info.Priority < p.info.Priority {
			d.clearNomination(ctx, q, "")
		}
	}
	d.clearNomination(ctx, p, node) // from now on no pod of lower priority gets the room
	var outside []Eviction
	var evicted awaited
	inMemory := false // whether the last victim was preempted in its binding
	for _, v := range a.Victims {
		q := d.victim(v.Pod)
		switch {
		case q == nil: // leaving already
		case q.binding != nil && q.binding.preempt(plugin, fmt.Sprintf("preempted by pod %s on node %s", p.info.Pod.Key(), node)):
			evicted.bindings = append(evicted.bindings, q.binding)
			inMemory = true
		default:
			outside = append(outside, evictionOf(q))
			evicted.victims = append(evicted.victims, q)
			inMemory = false
		}
	}
	back := func(ctx context.Context, err error) {
		d.problem(err)
		if p.item != it {
			return // it was deleted meanwhile, or is on a node
		}
		a.Nominated = p.nominated // it may have been withdrawn meanwhile
		if err != nil {
			d.requeue(ctx, p, it, a, queue.Rejectors{}) // after its backoff, as no event is due
			return
		}
		if p.nominated == node {
			p.awaited = evicted.from(d.clock.Now())
		}
		d.requeue(ctx, p, it, a, rejectorsOf(cause))
		if inMemory && p.item == it {
			d.queue.Activate(ctx, it)
		}
	}
	evicter, ok := d.config.Binder.(Evicter)
	if !ok || len(outside) == 0 {
		back(ctx, nil)
		return
	}
	background := d.bindingContext(ctx)
	preemptor := p.info.Pod
	d.open++
	d.run(ctx, func() error { return d.evictAll(background, evicter, outside, preemptor) }, func(ctx context.Context, err error) {
		d.open--
		back(ctx, err)
	})
}

// awaited are the victims of a preemption that an [Evicter] has evicted, and since when; and the bindings
// that were ended for it.
type awaited struct {
	victims  []*pod
	since    time.Time
	bindings []*binding
}

// from returns the victims as evicted now, nil if there are none.
func (x *awaited) from(now time.Time) *awaited {
	if len(x.victims)+len(x.bindings) == 0 {
		return nil
	}
	x.since = now
	return x
}

// leavingSoon is how long an event may take that says that an evicted pod is leaving. Until then
// the preemptor preempts no others.
const leavingSoon = 30 * time.Second

// areLeaving reports whether a victim is still on its node, and is leaving or will soon. A binding that was
// ended may take long in PreBind, and its pod counts meanwhile.
func (x *awaited) areLeaving(now time.Time) bool {
	if slices.ContainsFunc(x.bindings, func(b *binding) bool { return b.p.binding == b }) {
		return true
	}
	return slices.ContainsFunc(x.victims, func(q *pod) bool {
		return q.host != nil && (q.info.Pod.DeletionTimestamp != nil || now.Sub(x.since) < leavingSoon)
	})
}

// awaitsVictims reports whether victims of the pod are still on their node, but leaving. Then it
// must not preempt more, unless its node has become one where that does not help; see [Evicter].
func (d *Driver) awaitsVictims(sched *scheduling.Scheduler, p *pod, info *framework.PodInfo) bool {
	if p.awaited == nil {
		return false
	}
	n := d.snap.Node(p.nominated)
	if n == nil || !p.awaited.areLeaving(d.clock.Now()) {
		p.awaited = nil
		return false
	}
	return !d.isHopeless(sched, info, n)
}

// isHopeless reports whether a node rejects the pod, and no pod that leaves it can change that.
func (d *Driver) isHopeless(sched *scheduling.Scheduler, info *framework.PodInfo, n *framework.NodeInfo) bool {
	verdicts, err := sched.FilterNodes(d.snap, info, []*framework.NodeInfo{n})
	return err == nil && verdicts[0].Status.Code() == framework.UnschedulableAndUnresolvable
}

// asNominated returns the pod, for PostFilter plugins, with the nomination that the driver knows of;
// see [Evicter].
func (d *Driver) asNominated(p *pod, info *framework.PodInfo) *framework.PodInfo {
	if p.nominated == "" || info.Pod.Status.NominatedNodeName == p.nominated {
		return info
	}
	obj := *info.Pod
	obj.Status.NominatedNodeName = p.nominated
	nominated, err := d.snap.NewPodInfo(&obj)
	if err != nil {
		return info
	}
	return nominated
}

// victim returns the pod that has to leave its node, nil if it is leaving already: it is being
// deleted, or was deleted while it was being bound. Then another pod may have its name, as that
// of a StatefulSet has, which is no victim. Nor is the pod itself where events have put it since.
func (d *Driver) victim(v *framework.PodInfo) *pod {
	p := d.pods[keyOf(v.Pod)]
	if p == nil || p.host == nil || p.info.Pod.DeletionTimestamp != nil || !api.SamePod(p.info.Pod, v.Pod) {
		return nil
	}
	if p.counted.Pod != v.Pod && d.stillThere(v) != nil { // the pod is elsewhere, and the victim what remains of it
		return nil
	}
	return p
}

// evictionOf is the eviction of a pod from its node.
func evictionOf(p *pod) Eviction {
	e := Eviction{Victim: p.info.Pod, Node: p.info.Pod.Spec.NodeName}
	if p.host != nil {
		e.Node = p.host.name
	}
	return e
}

// evictAll evicts the victims, most of them at once, and the last one last. After one that cannot be evicted
// it begins with no other: the pod would get no room from them. Any goroutine may call it.
func (d *Driver) evictAll(ctx context.Context, e Evicter, victims []Eviction, preemptor *api.Pod) error {
	most := max(1, d.config.Bindings)
	errs := make([]error, len(victims))
	var failed atomic.Bool
	evict := func(i int) {
		v := victims[i]
		v.At = d.stamp()
		if o := d.observers.victims; o != nil {
			d.tell("Evicting", func() { o.Evicting(v) })
		}
		err := errExited // unless the evicter returns
		defer func() {
			if err != nil {
				failed.Store(true)
				errs[i] = fmt.Errorf("evicting pod %s: %w", v.Victim.Key(), err)
			}
		}()
		err = errtext.Guard("evicter", func() error { return e.Evict(ctx, v.Victim, preemptor) })
	}
	last := len(victims) - 1
	var next atomic.Int64
	work := func() {
		for !failed.Load() {
			i := next.Add(1) - 1
			if i >= int64(last) {
				return
			}
			evict(int(i))
		}
	}
	var others sync.WaitGroup
	defer others.Wait()
	for range min(most, last) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if !failed.Load() {
		evict(last)
	}
	return errors.Join(errs...)
}

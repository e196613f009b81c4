package lifecycle

import (
	"container/list"
	"context"
	"errors"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling/queue"
)

// pod is the driver's whole state of one pod.
//
//	pending ─Pop▶ assumed ─▶ (waits on Permit) ─▶ bound ─event▶ assigned
//	   ▲              └───────────┴─ any failure ──┐
//	   └───────────────────────────────────────────┘
type pod struct {
	info *framework.PodInfo // its latest version, from the events
	gone bool               // deleted by an event; a binding may still be under way

	item    *queue.Item // while it is pending or being tried
	binding *binding    // while its binding is under way

	host      *host              // the node that it counts on, nil for none
	at        int                // its place in host.pods
	counted   *framework.PodInfo // as it counts there
	inside    bool               // counted in the snapshot, because the node exists
	untold    bool               // extensions have panicked over it, and are to be told of it again
	assumed   bool               // counts by our decision; no event has confirmed it yet
	expires   time.Time          // set when assumed and bound, with an AssumeTTL
	expired   bool               // its binding was not confirmed by then, and it has no newer version
	nominated string             // the node that it is nominated to, "" for none
	nominee   *list.Element      // in Driver.nominations, under nominated, while it is nominated
	noted     *framework.PodInfo // the version whose nomination is in the snapshot
	awaited   *awaited           // the victims that have to leave the node that it is nominated to
	member    *member            // if groups are scheduled and it is in one
	pacer
	slow pacer // of rejections
}

// isNowhere reports whether the pod is neither on a node nor about to be: another scheduler
// serves it, or its binding was never confirmed. Then also a known version is news. A pod that waits
// in a group has no item of its own.
func (p *pod) isNowhere() bool {
	return p.host == nil && p.item == nil && p.binding == nil && (p.member == nil || p.member.state == away)
}

// podKey is the lookup key of a pod.
type podKey struct{ namespace, name string }

func keyOf(p *api.Pod) podKey { return podKey{p.Namespace, p.Name} }

// host is a node name and the pods that count on it, in the order of arrival, except that
// the last pod takes the place of one that leaves. The node itself may be missing: anybody
// may create pods for it, and as many as they like.
type host struct {
	name string
	pods []*pod
}

// hostOf returns the host of that name.
func (d *Driver) hostOf(node string) *host {
	h := d.hosts[node]
	if h == nil {
		h = &host{name: node}
		d.hosts[node] = h
	}
	return h
}

func (h *host) add(p *pod) {
	p.host, p.at = h, len(h.pods)
	h.pods = append(h.pods, p)
}

func (h *host) remove(p *pod) {
	last := len(h.pods) - 1
	h.pods[p.at] = h.pods[last]
	h.pods[p.at].at = p.at
	h.pods[last] = nil
	h.pods = h.pods[:last]
	p.host = nil
}

// count puts the pod on the node, and into the snapshot if the node exists.
func (d *Driver) count(p *pod, info *framework.PodInfo, node string) error {
	d.hostOf(node).add(p)
	p.counted = info
	return d.enter(p)
}

// recount counts the latest version of the pod on the node. If the pod counts there already,
// it does not leave in between. Nor does it if its node is missing, or its binding is under way.
func (d *Driver) recount(p *pod, node string) error {
	switch {
	case p.host == nil:
	case p.host.name != node:
		if p.binding != nil {
			return d.transfer(p, node)
		}
	case p.inside:
		if err := d.replace(p, node); err == nil || mayRetry(err) {
			return err
		}
	case p.counted.Pod.UID == p.info.Pod.UID: // its node is missing, or it could not be counted there
		d.rehost(p, p.info, node)
		return d.enter(p)
	}
	d.uncount(p)
	return d.count(p, p.info, node)
}

// replace lets the latest version of a pod take the place of the one that counts on the node. An extension that panics over
// it hears of it later.
func (d *Driver) replace(p *pod, node string) error {
	err := d.snap.RenewPod(p.counted, p.info, node)
	if !d.countsDespite(err) {
		return err
	}
	d.rehost(p, p.info, node)
	p.inside = true
	d.tellLater(p, err)
	return err
}

// countsDespite reports whether a pod counts that a cluster has on a node, whatever the error: extensions panicked over it.
func (d *Driver) countsDespite(err error) bool {
	return err == nil || mayRetry(err) && d.snap.Broken() == nil
}

// tellLater tells the extensions that have panicked over the version of a pod that counts, before the next attempt and until
// they know it.
func (d *Driver) tellLater(p *pod, err error) {
	if p.untold || !mayRetry(err) {
		return
	}
	p.untold = true
	d.retryAfter(err, func(ctx context.Context) error {
		if p.inside {
			if err := d.snap.TellPod(p.counted, p.host.name); err != nil {
				return err
			}
			d.move(ctx, assignedEvent(queueing.ActionAdd), nil, p.counted, nil)
		}
		p.untold = false
		return nil
	})
}

// retell lets a pod that is on its node, as an event has said, count there anew: what has been taken back of an attempt
// for it, or has left another node, may have made extensions forget it.
func (d *Driver) retell(obj *api.Pod) {
	p := d.pods[keyOf(obj)]
	if p != nil && p.info.Pod.UID == obj.UID && p.host != nil && p.inside {
		d.problem(d.replace(p, p.host.name))
	}
}

// transfer lets a pod whose binding is under way count on another node, where another scheduler
// has bound it. What plugins hold for the pod stays, such as devices that PreBind may be writing
// into claims. So if the snapshot does not have the node, the pod counts where it was until the
// binding ends; see [Driver.settle].
func (d *Driver) transfer(p *pod, node string) error {
	p.assumed = false
	if d.snap.Node(node) == nil {
		return nil
	}
	m := d.snap.Begin()
	var err error
	if p.inside {
		err = d.snap.RemovePod(p.counted, p.host.name)
	}
	if err == nil {
		err = d.snap.AddPod(p.info, node)
	}
	if err != nil {
		d.snap.Rollback(m)
		return err
	}
	d.snap.Commit(m)
	d.rehost(p, p.info, node)
	p.inside = true
	return nil
}

// settle lets a pod whose binding has ended count where its latest version says, if events have
// given it another place meanwhile. It reports whether the pod has left a node.
func (d *Driver) settle(p *pod) bool {
	switch node := p.info.Pod.Spec.NodeName; {
	case p.host == nil:
		return false
	case p.gone:
		left := d.uncount(p)
		d.retell(p.info.Pod) // it may be there again
		return left
	case p.assumed:
		return false
	case node == "":
		return d.uncount(p)
	case p.host.name != node:
		d.problem(d.recount(p, node))
		return true
	}
	return false
}

// rehost lets a version of a pod take its own place on the node.
func (d *Driver) rehost(p *pod, info *framework.PodInfo, node string) {
	d.unhost(p)
	d.hostOf(node).add(p)
	p.counted = info
}

// enter counts the pod in the snapshot if its node exists, in the place of what remains of it there. An extension that panics
// over it hears of it later.
func (d *Driver) enter(p *pod) error {
	node := p.host.name
	if d.snap.Node(node) == nil {
		return nil
	}
	x, remains := d.remnants.on(p.counted, node)
	var err error
	if remains {
		err = d.snap.RenewPod(x.info, p.counted, node)
	} else {
		err = d.snap.CountPod(p.counted, node)
	}
	if !d.countsDespite(err) {
		return err
	}
	if p.inside = true; remains {
		d.remnants.drop(x)
	}
	d.tellLater(p, err)
	return err
}

// retryAfter makes a change of the snapshot again before the next attempt, and until it
// succeeds, if it failed for another reason than what it asks for: an extension has
// panicked. Otherwise a pod would count for ever, or never.
func (d *Driver) retryAfter(err error, change func(context.Context) error) {
	if mayRetry(err) {
		d.retries = append(d.retries, change)
	}
}

// mayRetry reports whether a change of the snapshot failed, but may succeed another time.
func mayRetry(err error) bool {
	var invalid *api.InvalidError
	return err != nil && !errors.As(err, &invalid)
}

// retry makes failed changes again.
func (d *Driver) retry(ctx context.Context) {
	list := d.retries
	d.retries = nil
	for _, change := range list {
		if err := change(ctx); err != nil {
			d.retryAfter(err, change)
		}
	}
}

// uncount takes the pod off its node and reports whether it was on one.
func (d *Driver) uncount(p *pod) bool {
	if p.host == nil {
		return false
	}
	if p.inside {
		d.leave(p.counted, p.host.name)
	} else {
		d.giveUp(remnant{info: p.counted, node: p.host.name})
	}
	d.unhost(p)
	return true
}

func (d *Driver) unhost(p *pod) {
	h := p.host
	h.remove(p)
	if len(h.pods) == 0 && d.snap.Node(h.name) == nil {
		delete(d.hosts, h.name)
	}
	p.counted, p.inside, p.assumed, p.expires = nil, false, false, time.Time{}
}

// nominate notes the node that the pod is nominated to, "" for none, and replaces an
// earlier nomination. The node need not exist.
func (d *Driver) nominate(p *pod, node string) {
	if p.nominated == node && p.noted == p.info {
		return
	}
	if p.nominated != "" {
		d.snap.ClearNomination(p.noted, p.nominated)
		d.nominations.remove(p)
	}
	if p.nominated != node {
		p.awaited = nil
	}
	p.nominated, p.noted = node, nil
	if node != "" {
		if p.item != nil {
			d.queue.SetApart(p.item)
		}
		p.noted = p.info
		d.nominations.add(p)
		d.noteNomination(p)
	}
}

// clearNomination is nominate, but also tells the queue if the pod gives up another node:
// the capacity that it reserved there is free for others.
func (d *Driver) clearNomination(ctx context.Context, p *pod, node string) {
	before := p.nominated
	d.nominate(p, node)
	d.leftNomination(ctx, p, before, node)
}

// leftNomination tells the queue if the pod, which was nominated to the node before, is on another
// one now, or on none.
func (d *Driver) leftNomination(ctx context.Context, p *pod, before, now string) {
	if before != "" && before != now {
		d.move(ctx, assignedEvent(queueing.ActionDelete), p.info, nil, p.item)
	}
}

func (d *Driver) noteNomination(p *pod) {
	if d.snap.Node(p.nominated) != nil {
		d.problem(d.snap.Nominate(p.noted, p.nominated, ""))
	}
}

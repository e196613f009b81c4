package lifecycle

import (
	"context"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling/queue"
)

func assignedEvent(a queueing.ActionType) queueing.ClusterEvent {
	return queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: a}
}

// updatePod applies a pod's new version.
func (d *Driver) updatePod(ctx context.Context, obj *api.Pod) error {
	var p *pod
	if obj != nil {
		p = d.pods[keyOf(obj)]
		if p != nil && !p.isNowhere() && !newer(&p.info.Pod.ObjectMeta, &obj.ObjectMeta) {
			return nil
		}
	}
	info, err := d.snap.NewPodInfo(obj)
	if p != nil && isGone(p.info.Pod, obj, err) {
		d.remove(ctx, p)
		p = nil
	}
	if err != nil || obj.Status.Phase.HasEnded() {
		return err
	}
	if p == nil {
		p = &pod{info: info}
		d.pods[keyOf(obj)] = p
		d.enlist(p)
		if obj.Spec.NodeName == "" {
			d.enqueue(ctx, p)
			return nil
		}
		return d.assign(ctx, p)
	}
	before := p.info
	p.info, p.expired = info, false
	switch {
	case obj.Spec.NodeName == "":
		d.updatePending(ctx, p, before)
		return nil
	case p.host != nil && !p.assumed && p.host.name == obj.Spec.NodeName:
		return d.updateAssigned(ctx, p, before)
	}
	return d.assign(ctx, p)
}

// isGone reports whether a version says that the known pod is gone: it has ended, or another has taken its name.
// A malformed one, about which err says more, says that only with a UID.
func isGone(known, obj *api.Pod, err error) bool {
	return obj.Status.Phase.HasEnded() || another(&known.ObjectMeta, &obj.ObjectMeta) || err == nil && known.UID != obj.UID
}

// enqueue puts a pending pod into the queue if one of our profiles schedules it.
func (d *Driver) enqueue(ctx context.Context, p *pod) {
	if d.profileOf(p.info.Pod) == nil || p.item != nil {
		return
	}
	d.nominate(p, p.info.Pod.Status.NominatedNodeName)
	if p.member != nil {
		d.regatePod(ctx, p)
		return
	}
	p.item = d.queue.Add(ctx, p.info)
}

// assign applies that the pod is on a node: our binding is confirmed, or another
// scheduler has bound it. If the pod frees anything compared with the assumed state,
// that is an event too.
func (d *Driver) assign(ctx context.Context, p *pod) error {
	before, node := p.counted, p.info.Pod.Spec.NodeName
	moved := p.host != nil && p.host.name != node
	d.clearNomination(ctx, p, node)
	d.dequeue(p)
	err := d.recount(p, node)
	if p.binding != nil {
		p.binding.abandon()
	}
	switch {
	case before == nil:
	case err != nil && !p.inside || moved:
		d.move(ctx, assignedEvent(queueing.ActionDelete), before, nil, nil)
	case err == nil:
		d.changed(ctx, before, p.info)
	}
	d.move(ctx, assignedEvent(queueing.ActionAdd), nil, p.info, nil)
	if p.member != nil {
		if before == nil || moved {
			p.member.group.noteChange()
		}
		d.regatePod(ctx, p)
	}
	return err
}

// changed tells the queue how a confirmed pod differs from the assumed one, beyond
// having a node.
func (d *Driver) changed(ctx context.Context, before, after *framework.PodInfo) {
	for _, e := range queue.PodChanges(before, after) {
		if e.Action != queueing.ActionUpdate || (before.Pod.DeletionTimestamp == nil) != (after.Pod.DeletionTimestamp == nil) {
			d.move(ctx, e, before, after, nil)
		}
	}
}

// updatePending applies a version without a node. A pod that is assumed, or that
// lost its node according to the event, is not tried until its fate is known.
func (d *Driver) updatePending(ctx context.Context, p *pod, before *framework.PodInfo) {
	switch {
	case p.assumed:
	case p.binding != nil: // its failure will requeue it
	case p.host != nil:
		d.uncount(p)
		d.move(ctx, assignedEvent(queueing.ActionDelete), before, nil, nil)
		d.enqueue(ctx, p)
	case d.profileOf(p.info.Pod) == nil:
		d.clearNomination(ctx, p, "")
		d.dequeue(p)
		if p.member != nil {
			d.regatePod(ctx, p)
		}
	case p.member != nil:
		d.renominate(ctx, p, before)
		was := p.member.state
		d.regatePod(ctx, p)
		if g := p.member.group; g.item != nil && was == ready && p.member.state == ready && (g.trying || g.held != p) {
			d.queue.UpdateMember(ctx, g.item, before, p.info)
		}
	case p.item == nil:
		d.enqueue(ctx, p)
	default:
		d.renominate(ctx, p, before)
		d.queue.Update(ctx, p.item, p.info)
	}
}

// renominate follows the pod's status. While the status names no node, the driver's
// own nomination stays.
func (d *Driver) renominate(ctx context.Context, p *pod, before *framework.PodInfo) {
	node := p.info.Pod.Status.NominatedNodeName
	if node == "" && before.Pod.Status.NominatedNodeName == "" {
		node = p.nominated
	}
	d.clearNomination(ctx, p, node)
}

// dequeue takes a pod out of the queue. If its binding is under way, the binding
// ends its flight instead.
func (d *Driver) dequeue(p *pod) {
	d.nominate(p, "")
	d.cheap(p)
	if p.item != nil && p.binding == nil {
		d.queue.Delete(p.item)
		d.queue.Done(p.item)
		p.item = nil
	}
}

func (d *Driver) updateAssigned(ctx context.Context, p *pod, before *framework.PodInfo) error {
	err := d.recount(p, p.info.Pod.Spec.NodeName)
	if err != nil && !p.inside { // no version counts any more
		d.move(ctx, assignedEvent(queueing.ActionDelete), before, nil, nil)
	}
	d.tellChanges(ctx, before, p.info)
	return err
}

// tellChanges tells the queue how a version of an assigned pod differs from the one before.
func (d *Driver) tellChanges(ctx context.Context, before, after *framework.PodInfo) {
	for _, e := range queue.PodChanges(before, after) {
		d.move(ctx, e, before, after, nil)
	}
}

// deletePod applies that the pod was deleted.
func (d *Driver) deletePod(ctx context.Context, obj *api.Pod) error {
	if obj == nil {
		_, err := d.snap.NewPodInfo(nil) // returns the error
		return err
	}
	if p := d.pods[keyOf(obj)]; p != nil && (obj.UID == "" || p.info.Pod.UID == obj.UID) {
		d.remove(ctx, p)
	}
	return nil
}

// remove forgets the pod. While its binding is under way, the pod counts on its node
// until the binding ends: PreBind may still write what plugins hold for the pod.
func (d *Driver) remove(ctx context.Context, p *pod) {
	delete(d.pods, keyOf(p.info.Pod))
	p.gone = true
	d.reports.forget(p)
	freed := p.nominated != ""
	d.dequeue(p)
	if p.binding != nil {
		d.departing.begin(p)
		p.binding.abandon()
	} else {
		freed = d.uncount(p) || freed
	}
	if freed {
		d.move(ctx, assignedEvent(queueing.ActionDelete), p.info, nil, nil)
	}
	d.delist(ctx, p)
}

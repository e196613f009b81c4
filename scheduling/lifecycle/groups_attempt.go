package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/queue"
)

// tryGroup makes an attempt for the group.
//
// Source: kube-scheduler 1.37, schedule_one_podgroup.go.
func (d *Driver) tryGroup(ctx context.Context, g *group, it *queue.Item) Attempt {
	g.trying, g.changed = true, false // until it is dismissed, or back
	d.groups.wake(g)
	began := d.clock.Now()
	unsure := d.lookAgain(ctx, g)
	waiting, members := d.waitingOf(g)
	a := Attempt{Pod: it.Pod, Number: it.Attempts, InitialAttempt: it.InitialAttempt, Queued: it.Timestamp}
	object := d.objectOf(g)
	if len(waiting) == 0 || object == nil || g.barred > 0 {
		d.dismiss(g)
		return a
	}
	a.Pod = waiting[0].Pod
	sched := d.profileOf(a.Pod.Pod)
	a.Profile, a.Group = sched.Profile(), g.key.namespace+"/"+g.key.name
	if sched != d.last {
		sched.Seek(d.last.Position())
		d.last = sched
	}
	d.snap.SetNow(d.clock.Now())
	a.Started = d.stamp()
	for i := 0; i < len(waiting) && unsure == nil; i++ {
		unsure = d.stillThere(waiting[i].Pod)
	}
	if unsure != nil {
		a.Decided = d.stamp()
		a.State, a.Err = Failed, unsure
		for _, w := range waiting {
			d.memberFailed(ctx, members[w.Pod], gang.PodReport{Pod: w.Pod, Reason: api.PodReasonSchedulerError, Message: unsure.Error()})
		}
		d.groupBack(ctx, g, it, nil, began)
		d.observe(&a)
		return a
	}
	pods := make([]*framework.PodInfo, len(waiting))
	for i, w := range waiting {
		pods[i] = w.Pod
	}
	want := gang.GroupWith(object, pods, g.present())
	want.Awaits = d.groupAwaits(g, sched, waiting, members)
	cycle, err := d.groups.placers[sched].Propose(d.snap, want)
	a.Decided = d.stamp()
	g.took = d.clock.Now().Sub(began)
	if err != nil {
		d.problem(err)
		a.State, a.Err = Failed, err
		d.groupBack(ctx, g, it, nil, began)
		d.observe(&a)
		return a
	}
	a.Cycle = cycle
	if cycle.Condition.Status == api.ConditionTrue {
		if err = d.submit(ctx, g, sched, &a, members); err == nil {
			a.State = Binding
			d.reportGroup(ctx, object, cycle.Condition)
			d.dismiss(g)
			g.past = g.broken
			d.lookAll(ctx, g)
			g.took = d.clock.Now().Sub(began)
			d.delayRest(g, cycle)
			d.regate(ctx, g) // pods that do not stand come next
			d.observe(&a)
			return a
		}
		cycle.Fail(err)
	}
	a.State, a.Err = Failed, errors.New(cycle.Condition.Message)
	d.groupFailed(ctx, g, it, object, cycle, members, began)
	d.observe(&a)
	return a
}

// groupAwaits is awaitsVictims for a group: it returns the nodes that its pods are nominated to, nil if
// it may preempt.
func (d *Driver) groupAwaits(g *group, sched *scheduling.Scheduler, waiting []gang.Waiting, members map[*framework.PodInfo]*pod) []string {
	if g.awaited == nil {
		return nil
	}
	nodes, some := make([]string, len(waiting)), false
	for i, w := range waiting {
		nodes[i] = members[w.Pod].nominated
		some = some || nodes[i] != ""
	}
	if !some || !g.awaited.areLeaving(d.clock.Now()) {
		g.awaited = nil
		return nil
	}
	for i, w := range waiting {
		if nodes[i] == "" {
			continue
		}
		n := d.snap.Node(nodes[i])
		if n == nil || d.isHopeless(sched, w.Pod, n) && d.isHopelessBeside(sched, waiting, nodes, i) {
			return nil
		}
	}
	return nodes
}

// isHopelessBeside is isHopeless for a pod of a group, on its node, while the others are on theirs: it may need them
// near it.
func (d *Driver) isHopelessBeside(sched *scheduling.Scheduler, waiting []gang.Waiting, nodes []string, of int) bool {
	mark := d.snap.Begin()
	defer d.snap.Rollback(mark)
	for i, w := range waiting {
		if d.snap.ClearNominations(w.Pod); i == of || nodes[i] == "" || d.snap.Node(nodes[i]) == nil {
			continue
		}
		if err := d.snap.AddPod(w.Pod, nodes[i]); err != nil {
			return true // an extension has failed
		}
	}
	return d.isHopeless(sched, waiting[of].Pod, d.snap.Node(nodes[of]))
}

// waitingOf returns the pods of the group that wait for a place, in the order in which they
// are placed, and what the driver knows of each.
func (d *Driver) waitingOf(g *group) ([]gang.Waiting, map[*framework.PodInfo]*pod) {
	var waiting []gang.Waiting
	members := map[*framework.PodInfo]*pod{}
	for _, p := range g.pending(d) {
		if p.info.Pod.DeletionTimestamp == nil {
			if info, err := d.snap.Current(p.info); err == nil {
				p.info = info
			}
			waiting = append(waiting, gang.Waiting{Pod: p.info, Attempts: p.member.attempts, Since: p.member.since})
			members[p.info] = p
		}
	}
	slices.SortStableFunc(waiting, gang.CompareWaiting)
	return waiting, members
}

// submit reserves the pods that stand after an attempt for their group, all or none, asks Permit about
// each, and begins their bindings.
func (d *Driver) submit(ctx context.Context, g *group, sched *scheduling.Scheduler, of *Attempt, members map[*framework.PodInfo]*pod) error {
	c := of.Cycle
	var begun []*binding
	undo := func() {
		for _, b := range slices.Backward(begun) {
			b.takeBack()
		}
	}
	for _, at := range c.Outcome.Placed {
		r := &c.Pods[at.Index()]
		p := members[r.Pod]
		set, err := scheduling.NewNodeSet(d.snap, []*framework.NodeInfo{d.snap.Node(at.Node)})
		if err != nil {
			undo()
			return err
		}
		nominated := p.nominated
		d.nominate(p, "")
		decision, err := sched.ScheduleWithin(d.snap, p.info, set)
		if err == nil {
			err = sched.Assume(d.snap, p.info, decision)
		}
		if err != nil {
			d.nominate(p, nominated)
			undo()
			return err
		}
		d.assume(p, p.info, at.Node)
		p.member.attempts++
		a := &Attempt{
			Pod: p.info, Profile: of.Profile, Group: of.Group, Number: p.member.attempts, Decision: decision, State: Binding,
			Queued: of.Queued, Started: of.Started, Decided: of.Decided,
		}
		begun = append(begun, &binding{Binding: sched.Binding(p.info, decision), d: d, p: p, attempt: a, plugged: d.binders[sched], left: nominated, group: g})
	}
	for i := range c.Pods {
		if r := &c.Pods[i]; r.Node == "" {
			d.memberFailed(ctx, members[r.Pod], *r)
		}
	}
	g.breaking, g.bindings = false, g.bindings+len(begun)
	for _, b := range begun {
		waits, err := b.Permit(ctx)
		if err != nil {
			b.takeBack()
			d.failed(ctx, b.p, nil, b.attempt, err)
			g.endBinding()
			continue
		}
		d.leftNomination(ctx, b.p, b.left, b.attempt.Decision.Node)
		b.p.binding = b
		if len(waits) > 0 {
			b.attempt.State = Waiting
			b.wait = newWaitingPod(d.clock, b.Binding, waits, func() { d.mail.post(b.permit) })
			d.waiting.add(b.wait)
		}
		b.begin(ctx)
	}
	return nil
}

// memberFailed notes that a pod was not placed.
func (d *Driver) memberFailed(ctx context.Context, p *pod, r gang.PodReport) {
	if p == nil || p.member == nil {
		return
	}
	p.member.attempts++
	p.member.since = p.member.group.failing(d.clock.Now())
	d.clearNomination(ctx, p, r.Nominated)
	d.report(ctx, p, Report{Reason: r.Reason, Message: r.Message, Nominated: r.Nominated})
}

// groupFailed reports a failed attempt, removes the victims of a preemption, and returns
// the group to the queue.
func (d *Driver) groupFailed(ctx context.Context, g *group, it *queue.Item, object *api.PodGroup, c *gang.Cycle, members map[*framework.PodInfo]*pod, began time.Time) {
	for _, r := range c.Pods {
		d.memberFailed(ctx, members[r.Pod], r)
	}
	d.reportGroup(ctx, object, c.Condition)
	var victims []gang.Member
	if c.Eviction != nil {
		victims = c.Eviction.Victims()
	}
	var outside []Eviction
	var evicted awaited
	for _, v := range victims {
		q := d.victim(v.Pod)
		switch {
		case q == nil: // leaving already
		case q.binding != nil && q.binding.preempt(gang.PluginName, fmt.Sprintf("preempted by pod group %s/%s", g.key.namespace, g.key.name)):
			evicted.bindings = append(evicted.bindings, q.binding)
		default:
			outside = append(outside, evictionOf(q))
			evicted.victims = append(evicted.victims, q)
		}
	}
	evicter, ok := d.config.Binder.(Evicter)
	if !ok || len(outside) == 0 {
		if len(victims) > 0 {
			g.awaited = evicted.from(d.clock.Now())
		}
		d.groupBack(ctx, g, it, c, began)
		return
	}
	d.groups.sleep(g, object)
	took := d.clock.Now().Sub(began)
	background, preemptor := d.bindingContext(ctx), c.Pods[0].Pod.Pod
	d.open++
	d.run(ctx, func() error { return d.evictAll(background, evicter, outside, preemptor) }, func(ctx context.Context, err error) {
		d.open--
		d.problem(err)
		switch {
		case g.item != it: // its pods are gone
		case err != nil:
			d.groupBack(ctx, g, it, nil, d.clock.Now().Add(-took)) // after its backoff, as no event is due
		default:
			g.awaited = evicted.from(d.clock.Now())
			d.groupBack(ctx, g, it, c, d.clock.Now().Add(-took))
		}
	})
}

// groupBack returns the group to the queue: to wait for an event if its pods are equal and
// nothing has changed since they were tried, and otherwise for its backoff alone. The attempt ends with
// it, and counts from the time at which it began.
func (d *Driver) groupBack(ctx context.Context, g *group, it *queue.Item, c *gang.Cycle, began time.Time) {
	d.lookAll(ctx, g)
	g.trying = false
	d.groups.wake(g)
	if !d.isOpen(g) {
		d.delay(it, &g.pacer, g.key.namespace, began)
		d.dismiss(g)
		g.past.Errors, g.past.Last = g.past.Errors+1, d.clock.Now()
		return
	}
	g.held = g.firstReady()
	held, by := g.held.info, queue.Rejectors{}
	if c != nil && c.Outcome != nil && !g.changed {
		if best := c.Outcome.Best(); best != nil && best.Missing != nil && best.Missing.Exact {
			by.Plugins = d.rejectors(held)
		}
	}
	if len(by.Plugins) > 0 {
		d.groups.sleep(g, d.objectOf(g))
	}
	d.delay(it, &g.pacer, g.key.namespace, began)
	d.queue.Resize(it, g.ready.Len())
	d.queue.Requeue(ctx, it, held, by)
}

// nodeOnly are the filters whose answers for a pod without volumes, claims, affinity and
// spread constraints do not change while pods of its group are placed.
var nodeOnly = []string{
	"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeDeclaredFeatures", "VolumeRestrictions", "NodeVolumeLimits",
	"VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources",
}

// rejectors lists the filters whose events may help a group of pods like this one: those
// that reject some node now, and those that may reject more of the pods where some are
// placed.
func (d *Driver) rejectors(pod *framework.PodInfo) (list []string) {
	sched := d.profileOf(pod.Pod)
	var nodes []*framework.NodeInfo
	for _, n := range d.snap.All() {
		nodes = append(nodes, n)
	}
	verdicts, err := sched.FilterNodes(d.snap, pod, nodes)
	if err != nil {
		return nil
	}
	for _, v := range verdicts {
		if v.Plugin != "" && !slices.Contains(list, v.Plugin) {
			list = append(list, v.Plugin)
		}
	}
	for _, name := range sched.FilterNames() {
		if name == "NodePorts" && len(pod.HostPorts) == 0 {
			continue
		}
		if !slices.Contains(nodeOnly, name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// reportGroup tells the group's condition. Once it is true it stays true.
func (d *Driver) reportGroup(ctx context.Context, object *api.PodGroup, c api.Condition) {
	reporter, ok := d.config.Binder.(GroupReporter)
	if !ok {
		return
	}
	for _, have := range object.Status.Conditions {
		if have.Type == c.Type && have.Status == api.ConditionTrue && c.Status != api.ConditionTrue {
			return
		}
	}
	c.LastTransitionTime = d.clock.Now()
	defer func() {
		if v := recover(); v != nil {
			d.problem(fmt.Errorf("reporter: group %s: panic: %v", object.Key(), v))
		}
	}()
	reporter.ReportGroup(ctx, object, c)
}

package lifecycle

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/heap"
	"github.com/berth-sched/berth/internal/subjects"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scheduling/queue"
)

// How the driver schedules groups. The pending pods of a group are one entity of the
// queue, which is held there by one of them. It enters the queue once the group's object
// is there, enough pods are known, and no pod is gated.
//
//	pods, object ──▶ gated ──all pass──▶ queue ──▶ attempt ──stands──▶ bindings, one per pod
//	                   ▲                   ▲          │ fails
//	                   └── a pod is gated ─┴─ backoff ┘ (after its victims were asked to leave)

// A GroupReporter records what became of groups. The scheduling goroutine calls it and
// waits for it. If a [Binder] is one, the driver uses it as such.
type GroupReporter interface {
	// ReportGroup is called after every attempt, unless the group's object says already
	// that it has been scheduled, and the attempt failed.
	ReportGroup(ctx context.Context, group *api.PodGroup, c api.Condition)
}

// group is the driver's whole state of one group. An event about one pod costs the same
// for groups of any size; only attempts look at all pods.
//
// Invariant: pods has every pod of the group that exists, in the order of arrival. item is
// the group's while it is in the queue or in flight, held is the pod by which the queue
// holds it, and byItem leads from it to the group. ready has the members in that state, and
// barred counts those in the other. A pod whose plugin failed is ready too: the attempt asks
// the plugin again. If barred is not 0, bar is a barred pod whose plugin was
// asked after the last event that it registered for. Other barred pods may pass by now.
// After rebar, the group is listed with the gate that keeps bar out.
//
// The backoff belongs to the group, whatever takes it out of the queue and brings it back.
// Only a new group, and one whose attempt stood and has lost no binding, enters at once.
type group struct {
	key    podKey
	pods   list.List // of *pod
	item   *queue.Item
	held   *pod
	trying bool      // it is in flight, also while its victims are asked to leave
	failed time.Time // when the last pod failed
	pacer

	changed bool // since the last attempt; no plugin registers for that
	sleeper      // what can change it

	past     queue.Failures // of its attempts while it is not in the queue
	awaited  *awaited       // the victims of its last preemption
	broken   queue.Failures // attempts in a row that stood and lost a binding; they are its Errors
	breaking bool           // the last attempt that stood is among them
	bindings int            // under way
	took     time.Duration  // the last attempt

	serial uint64          // of the pod that came last
	ready  heap.Heap[*pod] // members that may be tried, in the order of arrival
	barred int
	bar    *list.Element // in pods
	shutting
}

// groups are the groups of a driver.
type groups struct {
	byKey   map[podKey]*group
	byItem  map[*queue.Item]*group
	gates   gates
	placers map[*scheduling.Scheduler]*gang.Placer
	sleepers
}

// member is what a pod has if it is in a group.
type member struct {
	group    *group
	element  *list.Element // in group.pods
	serial   uint64        // order of arrival
	place    int           // in group.ready, -1 for none
	attempts int
	since    time.Time // when it began to wait, or came back

	state  memberState
	gate   string // the PreEnqueue plugin that bars it, or that failed
	unsure error  // why no PreEnqueue plugin has answered; the member is ready
}

// memberState says whether a pod of a group waits for a place.
type memberState uint8

const (
	away   memberState = iota // it has a place, or somebody else schedules it
	ready                     // it may be tried, or a PreEnqueue plugin failed
	barred                    // a PreEnqueue plugin keeps it out of the queue
)

// newGroups makes a placer for each profile.
func (d *Driver) newGroups(rules gang.Rules) error {
	d.groups = &groups{byKey: map[podKey]*group{}, byItem: map[*queue.Item]*group{}, placers: map[*scheduling.Scheduler]*gang.Placer{}, sleepers: sleepers{}}
	for _, s := range d.profiles {
		p, err := gang.New(s, rules)
		if err != nil {
			return fmt.Errorf("lifecycle: Groups: %w", err)
		}
		d.groups.placers[s] = p
	}
	return nil
}

// withUnits returns the PostFilter plugins with DefaultPreemption as it is with groups.
func withUnits(list []framework.Plugin) []framework.Plugin {
	list = slices.Clone(list)
	for i, plugin := range list {
		switch p := plugin.(type) {
		case preemption.DefaultPreemption:
			p.PodGroups = true
			list[i] = p
		case *preemption.DefaultPreemption:
			if p != nil {
				own := *p
				own.PodGroups = true
				list[i] = &own
			}
		}
	}
	return list
}

// enlist notes a new pod with its group, if groups are scheduled and it has one.
func (d *Driver) enlist(p *pod) {
	name := p.info.Pod.SchedulingGroupName()
	if d.groups == nil || name == "" {
		return
	}
	key := podKey{p.info.Pod.Namespace, name}
	g := d.groups.byKey[key]
	if g == nil {
		g = &group{key: key, ready: heap.New(earlier, placeReady)}
		d.groups.byKey[key] = g
	}
	g.serial++
	p.member = &member{group: g, element: g.pods.PushBack(p), serial: g.serial, place: -1, since: d.clock.Now()}
}

func earlier(a, b **pod) bool { return (*a).member.serial < (*b).member.serial }

func placeReady(p **pod, place int) { (*p).member.place = place }

// delist forgets a pod that is gone.
func (d *Driver) delist(ctx context.Context, p *pod) {
	if p.member == nil {
		return
	}
	g, from := p.member.group, p.member.group.bar
	if p.member.state == away { // it may have had a node
		g.noteChange()
	}
	p.setState(away, "")
	if from == p.member.element {
		from, g.bar = from.Next(), nil
	}
	g.pods.Remove(p.member.element)
	p.member = nil
	d.rebar(ctx, g, from)
	d.regate(ctx, g)
	if g.pods.Len() == 0 {
		if g.item != nil {
			d.dismiss(g)
		}
		d.pace.count(&g.pacer, g.key.namespace, false)
		delete(d.groups.byKey, g.key)
	}
}

// isPending reports whether a pod waits for a place that we give. One whose binding was never
// confirmed may have it, and waits for news.
func (d *Driver) isPending(p *pod) bool {
	return p.host == nil && p.binding == nil && !p.gone && !p.expired && p.info.Pod.Spec.NodeName == "" && d.profileOf(p.info.Pod) != nil
}

// pending lists the pods that wait for a place.
func (g *group) pending(d *Driver) (list []*pod) {
	for e := g.pods.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*pod); d.isPending(p) {
			list = append(list, p)
		}
	}
	return list
}

// present lists the members that are on nodes, assumed ones included.
func (g *group) present() (list []gang.Member) {
	for e := g.pods.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*pod); p.host != nil && p.inside {
			list = append(list, gang.Member{Pod: p.counted, Node: p.host.name})
		}
	}
	return list
}

func (d *Driver) objectOf(g *group) *api.PodGroup {
	return framework.Lookup[api.PodGroup](d.snap, (&api.ObjectMeta{Namespace: g.key.namespace, Name: g.key.name}).Key())
}

// look finds out whether a pod of a group waits, and whether it may be tried. If a plugin
// fails, no event may ever come that lets look ask it again, so the group enters the queue:
// its attempt asks again, and fails if the plugin does.
func (d *Driver) look(ctx context.Context, p *pod) {
	if !d.isPending(p) {
		p.setState(away, "")
		return
	}
	plugin, status := d.profileOf(p.info.Pod).PreEnqueue(ctx, p.info, p.member.gate)
	switch {
	case status.IsSuccess():
		p.setState(ready, "")
		return
	case status.Code() == framework.Error:
		p.setState(ready, plugin)
		p.member.unsure = &scheduling.PluginError{Point: "PreEnqueue", Plugin: plugin, Err: fmt.Errorf("pod %s: %w", p.info.Pod.Key(), status.Err())}
		d.problem(p.member.unsure)
		return
	}
	p.setState(barred, plugin)
	if g := p.member.group; !g.isBar(g.bar) {
		g.bar = p.member.element
	}
}

// lookAll looks at all pods of a group.
func (d *Driver) lookAll(ctx context.Context, g *group) {
	for e := g.pods.Front(); e != nil; e = e.Next() {
		d.look(ctx, e.Value.(*pod))
	}
	d.rebar(ctx, g, g.bar)
}

// lookAgain asks the plugins that failed again, and returns the first error of those that
// still fail.
func (d *Driver) lookAgain(ctx context.Context, g *group) (err error) {
	for e := g.pods.Front(); e != nil; e = e.Next() {
		p := e.Value.(*pod)
		if p.member.unsure == nil {
			continue
		}
		if d.look(ctx, p); err == nil {
			err = p.member.unsure
		}
	}
	d.rebar(ctx, g, g.bar)
	return err
}

func (p *pod) setState(s memberState, gate string) {
	m := p.member
	g := m.group
	switch {
	case m.state == barred && s != barred:
		g.barred--
	case m.state != barred && s == barred:
		g.barred++
	}
	switch {
	case m.place >= 0 && s != ready:
		g.ready.Remove(m.place)
	case m.place < 0 && s == ready:
		g.ready.Push(p)
		g.changed = true
	}
	m.state, m.gate, m.unsure = s, gate, nil
}

// isBar reports whether there is a barred pod at this place.
func (g *group) isBar(e *list.Element) bool {
	return e != nil && e.Value.(*pod).member.state == barred
}

// rebar makes bar a pod that is barred now, if there is one, and lists the group with what
// keeps it out. It asks one pod after the other, from a place on, until one does not pass.
func (d *Driver) rebar(ctx context.Context, g *group, from *list.Element) {
	for g.barred > 0 && !g.isBar(g.bar) {
		for !g.isBar(from) {
			if from != nil {
				from = from.Next()
			}
			if from == nil {
				from = g.pods.Front()
			}
		}
		g.bar = from
		d.look(ctx, from.Value.(*pod))
	}
	if !g.isBar(g.bar) {
		g.open()
		return
	}
	p := g.bar.Value.(*pod)
	d.groups.gates.of(d.profileOf(p.info.Pod), p.member.gate).shut(g, p.info)
}

// lacks reports whether the group's object is missing, or pods.
func (d *Driver) lacks(g *group) bool {
	status := gang.PreEnqueue(g.key.name, d.objectOf(g), g.pods.Len())
	return !status.IsSuccess()
}

// isOpen reports whether the group may be in the queue.
func (d *Driver) isOpen(g *group) bool { return g.ready.Len() > 0 && g.barred == 0 && !d.lacks(g) }

// failing is the time at which the next pod fails: later than that of the pod before, also
// if the clock stands still, so pods keep their order.
func (g *group) failing(now time.Time) time.Time {
	if !now.After(g.failed) {
		now = g.failed.Add(1)
	}
	g.failed = now
	return now
}

// firstReady returns the first pod that may be tried.
func (g *group) firstReady() *pod { return *g.ready.Top() }

// regatePod is called whenever a pod of a group has changed.
func (d *Driver) regatePod(ctx context.Context, p *pod) {
	d.look(ctx, p)
	d.rebar(ctx, p.member.group, p.member.group.bar)
	d.regate(ctx, p.member.group)
}

// regate puts the group into the queue if it may enter, and takes it out if it may not. A
// group that has failed, and has changed since, waits for its backoff alone. regate is
// called whenever the state of a pod, or the object of the group, has changed.
func (d *Driver) regate(ctx context.Context, g *group) {
	if g.trying {
		return // the end of the attempt does it
	}
	open := d.isOpen(g)
	if g.item != nil && (!open || g.changed && g.item.Unschedulable+g.item.Errors > 0) {
		d.dismiss(g)
	}
	switch {
	case open && g.item == nil:
		g.held = g.firstReady()
		g.item = d.queue.AddAfter(ctx, g.held.info, g.ready.Len(), g.past)
		d.groups.byItem[g.item] = g
	case open:
		d.queue.Resize(g.item, g.ready.Len())
		if m := g.held.member; m == nil || m.state != ready || g.held.info != g.item.Pod {
			g.held = g.firstReady()
			d.queue.Update(ctx, g.item, g.held.info)
		}
	}
}

// dismiss takes the group out of the queue, and keeps its failures for when it comes back.
func (d *Driver) dismiss(g *group) {
	d.groups.wake(g)
	d.queue.Delete(g.item)
	d.queue.Done(g.item)
	delete(d.groups.byItem, g.item)
	g.past = queue.Failures{Unschedulable: g.item.Unschedulable, Errors: g.item.Errors, Last: g.item.Timestamp, NotBefore: g.item.NotBefore}
	g.item, g.held, g.trying = nil, nil, false
}

// lose notes that a pod of the group has lost its binding. The next attempt comes after a
// backoff, which grows with the attempts in a row that lost bindings.
func (d *Driver) lose(g *group) {
	if !g.breaking {
		g.breaking = true
		g.broken.Errors++
	}
	g.broken.Last = d.clock.Now()
	g.broken.NotBefore = g.broken.Last.Add(d.pace.failed(&g.pacer, g.key.namespace, g.took))
	if g.trying {
		return // the end of the attempt does the rest
	}
	if g.item != nil {
		d.dismiss(g)
	}
	g.past.Errors, g.past.Last, g.past.NotBefore = g.broken.Errors, g.broken.Last, g.broken.NotBefore
}

// endBinding notes that a binding has ended. If it was the last of an attempt that lost none,
// the group has no failures.
func (g *group) endBinding() {
	g.bindings--
	if g.bindings > 0 || g.breaking {
		return
	}
	g.broken = queue.Failures{}
	if g.item == nil {
		g.past = queue.Failures{NotBefore: g.past.NotBefore}
	}
}

// regateAll follows an event. It looks at the groups that sleep and that the event helps although
// no plugin of their pods registers for it. It looks at those that a plugin keeps out, if the
// plugin registered for it and says that it may help the pod that it keeps out. As for other
// pods, what was let into the queue stays there.
func (d *Driver) regateAll(ctx context.Context, e queueing.ClusterEvent, before, after any) {
	if d.groups == nil {
		return
	}
	d.rouse(ctx, e, before, after)
	what := subjects.Event{ClusterEvent: e, Before: before, After: after}
	for _, gate := range d.groups.gates.list {
		hints := gate.heed(what)
		if len(hints) == 0 {
			continue
		}
		concerned := gate.concerned(hints, what)
		for _, g := range concerned {
			p := g.bar.Value.(*pod)
			if slices.ContainsFunc(hints, func(r *gateHint) bool { return queue.Helps(r.EventHint, p.info, before, after) }) {
				d.regatePod(ctx, p)
			}
		}
		clear(concerned) // the scratch must not keep groups
	}
}

package lifecycle

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
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
// holds it, and byItem leads from it to the group. ready and barred count the members in
// these states. If barred is not 0, bar is a barred pod whose plugin was asked after the
// last event that it registered for. Other barred pods may pass by now.
type group struct {
	key    podKey
	pods   list.List // of *pod
	item   *queue.Item
	held   *pod
	trying bool // it is in flight

	ready, barred int
	bar           *list.Element // in pods
	shut          *list.Element // in groups.shut while barred is not 0
}

// groups are the groups of a driver.
type groups struct {
	byKey   map[podKey]*group
	byItem  map[*queue.Item]*group
	shut    list.List // groups with barred pods
	opens   map[gateEvent]bool
	placers map[*scheduling.Scheduler]*gang.Placer
}

// A gateEvent is an event, and a plugin that keeps pods of a profile out of the queue.
type gateEvent struct {
	sched  *scheduling.Scheduler
	plugin string
	event  queueing.ClusterEvent
}

// member is what a pod has if it is in a group.
type member struct {
	group    *group
	element  *list.Element // in group.pods
	attempts int
	since    time.Time // when it began to wait, or came back

	state memberState
	gate  string // the PreEnqueue plugin that bars it
}

// memberState says whether a pod of a group waits for a place.
type memberState uint8

const (
	away   memberState = iota // it has a place, or somebody else schedules it
	ready                     // it may be tried
	barred                    // a PreEnqueue plugin keeps it out of the queue
)

// newGroups makes a placer for each profile.
func (d *Driver) newGroups(rules gang.Rules) error {
	d.groups = &groups{byKey: map[podKey]*group{}, byItem: map[*queue.Item]*group{}, opens: map[gateEvent]bool{}, placers: map[*scheduling.Scheduler]*gang.Placer{}}
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
		g = &group{key: key}
		d.groups.byKey[key] = g
	}
	p.member = &member{group: g, element: g.pods.PushBack(p), since: d.clock.Now()}
}

// delist forgets a pod that is gone.
func (d *Driver) delist(ctx context.Context, p *pod) {
	if p.member == nil {
		return
	}
	g, from := p.member.group, p.member.group.bar
	d.setState(p, away, "")
	if from == p.member.element {
		from, g.bar = from.Next(), nil
	}
	g.pods.Remove(p.member.element)
	p.member = nil
	d.rebar(ctx, g, from)
	d.regate(ctx, g)
	if g.pods.Len() == 0 {
		delete(d.groups.byKey, g.key)
	}
}

// isPending reports whether a pod waits for a place that we give.
func (d *Driver) isPending(p *pod) bool {
	return p.host == nil && p.binding == nil && !p.gone && p.info.Pod.Spec.NodeName == "" && d.profileOf(p.info.Pod) != nil
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

// look finds out whether a pod of a group waits, and whether it may be tried.
func (d *Driver) look(ctx context.Context, p *pod) {
	if !d.isPending(p) {
		d.setState(p, away, "")
		return
	}
	plugin, status := d.profileOf(p.info.Pod).PreEnqueue(ctx, p.info, p.member.gate)
	if status.IsSuccess() {
		d.setState(p, ready, "")
		return
	}
	d.setState(p, barred, plugin)
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

func (d *Driver) setState(p *pod, s memberState, gate string) {
	m := p.member
	g := m.group
	g.count(m.state, -1)
	g.count(s, 1)
	m.state, m.gate = s, gate
	switch {
	case g.barred > 0 && g.shut == nil:
		g.shut = d.groups.shut.PushBack(g)
	case g.barred == 0 && g.shut != nil:
		d.groups.shut.Remove(g.shut)
		g.shut = nil
	}
}

func (g *group) count(s memberState, n int) {
	switch s {
	case ready:
		g.ready += n
	case barred:
		g.barred += n
	}
}

// isBar reports whether there is a barred pod at this place.
func (g *group) isBar(e *list.Element) bool {
	return e != nil && e.Value.(*pod).member.state == barred
}

// rebar makes bar a pod that is barred now, if there is one. It asks one pod after the
// other, from a place on, until one does not pass.
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
}

// lacks reports whether the group's object is missing, or pods.
func (d *Driver) lacks(g *group) bool {
	status := gang.PreEnqueue(g.key.name, d.objectOf(g), g.pods.Len())
	return !status.IsSuccess()
}

// isOpen reports whether the group may be in the queue.
func (d *Driver) isOpen(g *group) bool { return g.ready > 0 && g.barred == 0 && !d.lacks(g) }

// firstReady returns the first pod that may be tried.
func (g *group) firstReady() *pod {
	e := g.pods.Front()
	for e.Value.(*pod).member.state != ready {
		e = e.Next()
	}
	return e.Value.(*pod)
}

// regatePod is called whenever a pod of a group has changed.
func (d *Driver) regatePod(ctx context.Context, p *pod) {
	d.look(ctx, p)
	d.rebar(ctx, p.member.group, p.member.group.bar)
	d.regate(ctx, p.member.group)
}

// regate puts the group into the queue if it may enter, and takes it out if it may not. It
// is called whenever the state of a pod, or the object of the group, has changed.
func (d *Driver) regate(ctx context.Context, g *group) {
	if g.trying {
		return // the end of the attempt does it
	}
	open := d.isOpen(g)
	switch {
	case !open && g.item != nil:
		d.queue.Delete(g.item)
		d.dismiss(g)
	case open && g.item == nil:
		g.held = g.firstReady()
		g.item = d.queue.Add(ctx, g.held.info)
		d.groups.byItem[g.item] = g
		d.queue.Resize(g.item, g.ready)
	case open:
		d.queue.Resize(g.item, g.ready)
		if m := g.held.member; m == nil || m.state != ready || g.held.info != g.item.Pod {
			g.held = g.firstReady()
			d.queue.Update(ctx, g.item, g.held.info)
		}
	}
}

// dismiss ends what the queue knows of the group.
func (d *Driver) dismiss(g *group) {
	d.queue.Done(g.item)
	delete(d.groups.byItem, g.item)
	g.item, g.held = nil, nil
}

// regateAll follows an object that has changed. It looks at groups that a plugin bars which
// registered for the event. As for other pods, what was let into the queue stays there.
func (d *Driver) regateAll(ctx context.Context, e queueing.ClusterEvent, changed any) {
	if d.groups == nil {
		return
	}
	if o, ok := changed.(*api.PodGroup); ok {
		if g := d.groups.byKey[podKey{o.Namespace, o.Name}]; g != nil {
			d.regate(ctx, g)
		}
	}
	for at := d.groups.shut.Front(); at != nil; {
		g := at.Value.(*group)
		at = at.Next() // the group may leave the list
		if p := g.bar.Value.(*pod); d.mayOpen(p, e) {
			d.regatePod(ctx, p)
		}
	}
}

// mayOpen reports whether the plugin that bars a pod registered for an event.
func (d *Driver) mayOpen(p *pod, e queueing.ClusterEvent) bool {
	key := gateEvent{d.profileOf(p.info.Pod), p.member.gate, e}
	opens, known := d.groups.opens[key]
	if !known {
		opens = slices.ContainsFunc(key.sched.Events(), func(r scheduling.RegisteredEvent) bool { return r.Plugin == key.plugin && r.Event.Matches(e) })
		d.groups.opens[key] = opens
	}
	return opens
}

// tryGroup makes an attempt for the group.
//
// Source: kube-scheduler 1.37, schedule_one_podgroup.go.
func (d *Driver) tryGroup(ctx context.Context, g *group, it *queue.Item) Attempt {
	g.trying = true
	defer func() { g.trying = false }()
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
	a := Attempt{Pod: it.Pod, Number: it.Attempts, InitialAttempt: it.InitialAttempt, Queued: it.Timestamp}
	object := d.objectOf(g)
	if len(waiting) == 0 || object == nil {
		d.dismiss(g)
		return a
	}
	slices.SortStableFunc(waiting, gang.CompareWaiting)
	a.Pod = waiting[0].Pod
	sched := d.profileOf(a.Pod.Pod)
	a.Profile, a.Group = sched.Profile(), g.key.namespace+"/"+g.key.name
	if sched != d.last {
		sched.Seek(d.last.Position())
		d.last = sched
	}
	d.snap.SetNow(d.clock.Now())
	a.Started = d.stamp()
	pods := make([]*framework.PodInfo, len(waiting))
	for i, w := range waiting {
		pods[i] = w.Pod
	}
	want := gang.GroupWith(object, pods, g.present())
	cycle, err := d.groups.placers[sched].Propose(d.snap, want)
	a.Decided = d.stamp()
	if err != nil {
		d.problem(err)
		a.State, a.Err = Failed, err
		d.groupBack(ctx, g, it, nil)
		d.observe(&a)
		return a
	}
	a.Cycle = cycle
	if cycle.Condition.Status == api.ConditionTrue {
		if err = d.submit(ctx, g, sched, cycle, members); err == nil {
			a.State = Binding
			d.reportGroup(ctx, object, cycle.Condition)
			d.dismiss(g)
			g.trying = false
			d.lookAll(ctx, g)
			d.regate(ctx, g) // pods that do not stand come next
			d.observe(&a)
			return a
		}
		cycle.Fail(err)
	}
	a.State, a.Err = Failed, errors.New(cycle.Condition.Message)
	d.groupFailed(ctx, g, it, object, cycle, members)
	d.observe(&a)
	return a
}

// submit reserves the pods that stand, all or none, asks Permit about each, and begins
// their bindings.
func (d *Driver) submit(ctx context.Context, g *group, sched *scheduling.Scheduler, c *gang.Cycle, members map[*framework.PodInfo]*pod) error {
	var begun []*binding
	undo := func() {
		for i := len(begun) - 1; i >= 0; i-- {
			begun[i].unreserve()
			d.uncount(begun[i].p)
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
		a := &Attempt{Pod: p.info, Profile: sched.Profile(), Number: p.member.attempts, Decision: decision, Group: g.key.namespace + "/" + g.key.name, State: Binding}
		begun = append(begun, &binding{Binding: sched.Binding(p.info, decision), d: d, p: p, attempt: a, plugged: d.binders[sched]})
	}
	for i := range c.Pods {
		if r := &c.Pods[i]; r.Node == "" {
			d.memberFailed(ctx, members[r.Pod], *r)
		}
	}
	for _, b := range begun {
		waits, err := b.Permit(ctx)
		if err != nil {
			b.unreserve()
			d.uncount(b.p)
			d.failed(ctx, b.p, nil, b.attempt, err)
			continue
		}
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
	p.member.since = d.clock.Now()
	d.clearNomination(ctx, p, r.Nominated)
	d.report(ctx, p, Report{Reason: r.Reason, Message: r.Message, Nominated: r.Nominated})
}

// groupFailed reports a failed attempt, removes the victims of a preemption, and returns
// the group to the queue.
func (d *Driver) groupFailed(ctx context.Context, g *group, it *queue.Item, object *api.PodGroup, c *gang.Cycle, members map[*framework.PodInfo]*pod) {
	for _, r := range c.Pods {
		d.memberFailed(ctx, members[r.Pod], r)
	}
	d.reportGroup(ctx, object, c.Condition)
	var victims []gang.Member
	if c.Eviction != nil {
		victims = c.Eviction.Victims()
	}
	var outside []Eviction
	for _, v := range victims {
		q := d.pods[keyOf(v.Pod.Pod)]
		switch {
		case q == nil || q.info.Pod.DeletionTimestamp != nil: // leaving already
		case q.binding != nil && q.binding.preempt(gang.PluginName, fmt.Sprintf("preempted by pod group %s/%s", g.key.namespace, g.key.name)):
		default:
			outside = append(outside, evictionOf(q))
		}
	}
	evicter, ok := d.config.Binder.(Evicter)
	if !ok || len(outside) == 0 {
		d.groupBack(ctx, g, it, c)
		return
	}
	background, preemptor := d.bindingContext(ctx), c.Pods[0].Pod.Pod
	d.open++
	d.run(ctx, func() message {
		err := d.evictAll(background, evicter, outside, preemptor)
		return func(ctx context.Context) {
			d.open--
			d.problem(err)
			if g.item == it { // it was not dismissed meanwhile
				d.groupBack(ctx, g, it, c)
			}
		}
	})
}

// groupBack returns the group to the queue: to wait for an event if its pods are equal,
// and otherwise for its backoff alone.
func (d *Driver) groupBack(ctx context.Context, g *group, it *queue.Item, c *gang.Cycle) {
	d.lookAll(ctx, g)
	if !d.isOpen(g) {
		d.dismiss(g)
		return
	}
	g.held = g.firstReady()
	held, by := g.held.info, queue.Rejectors{}
	if c != nil && c.Outcome != nil {
		if best := c.Outcome.Best(); best != nil && best.Missing != nil && best.Missing.Exact {
			by.Plugins = d.rejectors(held)
		}
	}
	d.queue.Resize(it, g.ready)
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

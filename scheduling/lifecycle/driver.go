package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// A Driver is a whole scheduler. Any goroutine may call Apply and Do. All other methods
// belong to the scheduling goroutine: Run calls them, or you do.
type Driver struct {
	config   Config
	clock    framework.Clock
	snap     *framework.Snapshot
	queue    *queue.Queue
	profiles map[string]*scheduling.Scheduler
	last     *scheduling.Scheduler // the one that decided last

	pods        map[podKey]*pod
	hosts       map[string]*host
	retries     []func(context.Context) error // changes of the snapshot that an extension or a total prevented
	remnants    remnants
	departing   departing
	closed      map[string]*api.Node // what the snapshot has of nodes that are gone, but whose pods an extension does not let go
	nominations nominations
	expiring    []expiry // in the order of their times
	refusals    refusals
	verify      bool // some profile verifies
	pace, slow  pace // of what fails, and of pods that are rejected

	mail    mailbox
	waiting waiting
	tasks   tasks
	reports reports
	open    int             // bindings and evictions under way
	binding context.Context // context of all bindings of a Run; nil outside
	alarm   alarm

	groups *groups // nil unless groups are scheduled

	observers observers
	binders   map[*scheduling.Scheduler]bool // whether the scheduler's profile has Bind plugins
}

// New checks the configuration and returns a driver of an empty cluster. The error
// joins every fault.
func New(c Config) (*Driver, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	d := &Driver{
		config: c, clock: c.Clock, snap: framework.NewSnapshot(c.Order),
		profiles: map[string]*scheduling.Scheduler{}, pods: map[podKey]*pod{}, remnants: remnants{}, departing: departing{}, closed: map[string]*api.Node{}, pace: pace{}, slow: pace{}, hosts: map[string]*host{},
		mail: newMailbox(), tasks: tasks{most: c.Bindings},
		observers: newObservers(c.Observer), binders: map[*scheduling.Scheduler]bool{},
	}
	for _, p := range c.Profiles {
		if p.Seed == 0 {
			p.Seed = c.Seed
		}
		if c.Groups != nil {
			p.PostFilter = withUnits(p.PostFilter)
		}
		s, err := scheduling.New(p)
		if err != nil {
			return nil, err
		}
		d.observeCalls(s)
		d.profiles[nameOf(p.Name)] = s
		d.binders[s] = len(p.Bind) > 0
		d.verify = d.verify || p.Cache.Verify
		if d.last == nil {
			d.last = s
		}
	}
	if c.Groups != nil {
		if err := d.newGroups(*c.Groups); err != nil {
			return nil, err
		}
	}
	var err error
	d.queue, err = queue.New(queue.Config{
		Now: c.Clock.Now, Profiles: d.profiles, Sort: d.last.QueueSort(), Backoff: c.Backoff,
		MaxUnschedulable: c.MaxUnschedulable, FullBackoff: c.FullBackoff, ErrorHandler: c.ErrorHandler,
	})
	if err != nil {
		return nil, err
	}
	if c.Handle != nil && !c.Handle.driver.CompareAndSwap(nil, d) {
		return nil, fmt.Errorf("lifecycle: Handle: belongs to another driver")
	}
	return d, nil
}

// Apply tells the driver what happened. The events take effect before the next
// attempt, in the order of the calls. Errors in events go to Config.ErrorHandler.
func (d *Driver) Apply(events ...Event) {
	for _, e := range events {
		if e.apply != nil {
			d.mail.post(func(ctx context.Context) { d.problem(e.apply(ctx, d)) })
		}
	}
}

// consequences is how many messages one Flush carries out beyond those that were
// there when it began.
const consequences = 1024

// Flush applies what had happened when it was called: events, ends of bindings, and
// the passing of time. It also applies what follows from that, up to a bound, so
// that a flood of events cannot hold it for ever. The snapshot's time becomes that of the clock, so a pod
// counts from the time at which its event is applied. ScheduleOne begins with Flush.
func (d *Driver) Flush(ctx context.Context) {
	d.snap.SetNow(d.clock.Now())
	for most := d.mail.len() + consequences; most > 0; most-- {
		msg := d.mail.next()
		if msg == nil {
			break
		}
		msg(ctx)
	}
	d.mail.remind()
	now := d.clock.Now()
	if at, ok := d.queue.NextFlush(); ok && !at.After(now) {
		d.queue.Flush(ctx)
	}
	d.expire(ctx, now)
	if len(d.retries) > 0 {
		d.retry(ctx)
	}
}

// expiry is the time by which a pod's binding must be confirmed.
type expiry struct {
	p  *pod
	at time.Time
}

// void reports whether the pod was since confirmed, deleted or bound again.
func (e expiry) void() bool { return !e.p.assumed || !e.p.expires.Equal(e.at) }

// expire removes from their nodes the pods that were bound but never confirmed.
func (d *Driver) expire(ctx context.Context, now time.Time) {
	for len(d.expiring) > 0 {
		e := d.expiring[0]
		if !e.void() && e.at.After(now) {
			return
		}
		d.expiring = d.expiring[1:]
		if e.void() {
			continue
		}
		node := e.p.host.name
		d.uncount(e.p)
		e.p.expired = true
		d.move(ctx, assignedEvent(queueing.ActionDelete), e.p.info, nil, nil)
		d.problem(fmt.Errorf("pod %s: its binding to node %s was not confirmed within %v", e.p.info.Pod.Key(), node, d.config.AssumeTTL))
	}
}

// Snapshot returns the cluster as the driver sees it, including assumed pods. Only
// read it, and not while another goroutine uses the driver; fork it for what-ifs.
func (d *Driver) Snapshot() *framework.Snapshot { return d.snap }

// QueueLength counts the pods in the queue.
func (d *Driver) QueueLength() queue.Length { return d.queue.Len() }

// Pending returns the pods in the queue and in flight, in the order of their
// arrival. It costs O(n log n).
func (d *Driver) Pending() []*queue.Item { return d.queue.Items() }

// Waits reports whether a pod waits for a place that one of the profiles gives: no node has it, and no
// binding of it is under way. Call it in the function of a [Driver.Do], or on the scheduling goroutine.
func (d *Driver) Waits(pod *api.Pod) bool {
	p := d.pods[keyOf(pod)]
	return p != nil && p.info.Pod.UID == pod.UID && d.isPending(p)
}

// Scheduler returns the scheduler of a profile, for explanations; nil if there is no
// such profile.
func (d *Driver) Scheduler(profile string) *scheduling.Scheduler { return d.profiles[nameOf(profile)] }

func (d *Driver) profileOf(p *api.Pod) *scheduling.Scheduler {
	return d.profiles[nameOf(p.Spec.SchedulerName)]
}

func (d *Driver) problem(err error) {
	if err != nil && d.config.ErrorHandler != nil {
		d.config.ErrorHandler(err)
	}
}

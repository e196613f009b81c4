package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// A world is a cluster on a virtual clock, with a scheduler that works in it. It is the
// scheduler's Binder, Evicter, Reporter and Observer: a pod begins to run when it is
// bound.
type world struct {
	config  *Config
	clock   *virtualclock.Clock
	driver  *lifecycle.Driver
	begin   time.Time
	next    time.Time // time of the last event to come
	last    time.Time // time of the last event that was: a pod came, was bound, or ended
	classes []*api.PriorityClass

	applied int // events of the trace that have happened
	stalled int // what was applied and done when the trace last had to wait
	moment  moment
	journal journal

	nodes        map[string]*nodeState
	absent       map[string]*nodeState // nodes that are not there, but pods of a recorded trace on them
	deletions    map[string][]int      // of a recorded trace: events by pod
	sets         map[string]bool       // StatefulSets of the trace
	pods         map[string]*life      // that are there, by key
	lives        []*life               // all that ever were, in the order of their arrival
	waiting      int
	stuck        map[*life]bool // that fit nowhere at present
	controllers  map[Ref]*controller
	unowned      map[Ref][]*life // pods of the trace whose workload has not come
	daemons      map[*controller]bool
	owned        ownership
	succeeded    map[Ref]int   // pods of Jobs that are not there yet
	dirty        bool          // a controller may have something to do:
	changed      []*controller // one of these
	nodesChanged []string      // nodes that have changed, for every DaemonSet
	made         int           // pods of controllers, and others that were displaced
	scaler       scaler
	claims       *framework.Snapshot // as the controllers of claims see them: without what the scheduler has reserved
	madeClaims   int

	attempts, bound int
	result          *Result
	series          series
	allocatable     map[resource.Name]int64 // of all nodes; nil: to be added up
	busiest         *framework.Snapshot
	err             error
}

// nodeState is a node with the pods that run on it.
type nodeState struct {
	name string
	node *api.Node // nil if it is not there
	pods map[*life]bool
	idle time.Time // since when no pod but those of DaemonSets runs

	devices []string // ResourceSlices that go with it
}

// A life is the history of one pod.
type life struct {
	PodHistory
	pod   *api.Pod // its latest version; nil once it has ended
	node  *nodeState
	run   time.Duration
	uid   api.UID // of the pod before it was displaced
	owner *controller

	daemonOf string // the node that it is made for, if it is a DaemonSet's

	serial  int           // order of arrival
	stint   int           // counts its bindings
	since   time.Time     // start of its wait, or of its run
	started bool          // it runs, so others need not wait for it
	waited  time.Duration // sum of its waits
	before  int           // attempts before it came into the queue the last time

	victim  *Event // of a recorded trace: it goes because it was evicted; nil if not
	leaving bool   // it is being deleted, and has not gone yet
	byEvent bool   // that event lets it go
}

// Run simulates until nothing more can happen. It returns the errors of
// [lifecycle.New], a [*TraceError] for a trace that cannot happen, and the context's
// error if that ends the run.
func Run(ctx context.Context, config Config) (*Result, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	w, err := newWorld(&config)
	if err != nil {
		return nil, err
	}
	for i := range config.Trace.Events {
		e := &config.Trace.Events[i]
		if i > 0 && e.At == config.Trace.Events[i-1].At {
			continue // it happens together with that one
		}
		w.clock.AfterFunc(e.At, w.happen)
		w.expect(w.begin.Add(e.At))
	}
	w.startTimers()
	if err := w.live(ctx); err != nil {
		return nil, err
	}
	return w.finish()
}

func newWorld(config *Config) (*world, error) {
	w := &world{
		config: config, begin: config.Trace.Begin(), nodes: map[string]*nodeState{}, absent: map[string]*nodeState{}, pods: map[string]*life{},
		stuck: map[*life]bool{}, controllers: map[Ref]*controller{}, unowned: map[Ref][]*life{}, succeeded: map[Ref]int{}, daemons: map[*controller]bool{}, owned: ownership{}, result: &Result{},
		claims: framework.NewSnapshot(framework.Arrival),
	}
	w.journal = newJournal(func(d *Decision) { w.result.Decisions = append(w.result.Decisions, *d) })
	w.findDeletions()
	w.findSets()
	w.clock, w.next, w.last = virtualclock.New(w.begin), w.begin, w.begin
	profiles := append([]scheduling.Profile(nil), config.Profiles...)
	if len(profiles) == 1 {
		profiles[0].Name = scheduling.DefaultName
	}
	var err error
	w.driver, err = lifecycle.New(lifecycle.Config{
		Profiles: profiles, Binder: w, Clock: w.clock, Handle: config.Handle, Groups: config.Groups, Seed: config.Seed, Backoff: config.Backoff,
		Order: config.Order, MaxUnschedulable: config.MaxUnschedulable, Observer: w.observer(), ErrorHandler: w.fail,
	})
	return w, err
}

// fail keeps an error; the run ends.
func (w *world) fail(err error) { w.err = errors.Join(w.err, err) }

// settled is how long the scheduler goes on after the last event: longer than a pod
// waits for its next attempt.
func (w *world) settled() time.Duration {
	return max(w.config.MaxUnschedulable, 5*time.Minute) + time.Minute
}

// live runs until nothing more can happen.
func (w *world) live(ctx context.Context) error {
	for w.err == nil {
		until := w.next.Add(w.settled())
		if end := w.begin.Add(w.config.Until); w.config.Until > 0 && !until.Before(end) {
			until = end
		}
		before := w.next
		if err := w.driver.Simulate(ctx, w.clock, until); err != nil {
			return err
		}
		if !w.next.After(before) || w.config.Until > 0 && !until.Before(w.begin.Add(w.config.Until)) {
			break
		}
	}
	return w.err
}

// now is the time since the start.
func (w *world) now() time.Duration { return w.clock.Now().Sub(w.begin) }

// expect records that something will happen at that time.
func (w *world) expect(at time.Time) {
	if at.After(w.next) {
		w.next = at
	}
}

// every calls f at regular intervals, as long as something is to come.
func (w *world) every(d time.Duration, f func()) {
	var tick func()
	tick = func() {
		f()
		if w.err == nil && w.clock.Now().Before(w.next.Add(w.settled())) {
			w.clock.AfterFunc(d, tick)
		}
	}
	w.clock.AfterFunc(d, tick)
}

// bear begins the history of a pod.
func (w *world) bear(p *api.Pod) (*life, error) {
	run, err := timeOf(p, AnnotationRunTime, forever)
	if err != nil {
		return nil, err
	}
	if w.config.Trace.Recorded {
		run = forever // its end is an event
	}
	l := &life{PodHistory: PodHistory{Pod: p.Key(), Arrived: seconds(w.now())}, pod: p, run: run, serial: len(w.lives)}
	if owner := p.ControllerRef(); owner != nil {
		l.Owner = owner.Kind + " " + owner.Name
	}
	if p.Spec.Priority != nil {
		l.Priority = *p.Spec.Priority
	}
	w.pods[p.Key()] = l
	w.lives = append(w.lives, l)
	return l, nil
}

// arrive puts a pod into the queue.
func (w *world) arrive(l *life) {
	if len(w.config.Profiles) == 1 && l.pod.Spec.SchedulerName != scheduling.DefaultName {
		p := *l.pod
		p.Spec.SchedulerName = scheduling.DefaultName // there is only one
		l.pod = &p
	}
	w.last, l.since, l.started = w.clock.Now(), w.clock.Now(), false
	if l.owner != nil {
		l.owner.stray(l)
	}
	l.before = l.Attempts
	if err := w.makeClaims(l.pod); err != nil {
		w.fail(err)
	}
	w.waiting++
	w.update(podItem(l.pod))
}

// start lets the pod run on a node, and end after its run time, if it has one.
func (w *world) start(l *life, n *nodeState) {
	w.last, l.since = w.clock.Now(), w.clock.Now()
	l.node, l.stint, l.started = n, l.stint+1, true
	n.pods[l] = true
	if n.node != nil {
		w.series.add(l.pod, 1, w)
	}
	if l.run == forever {
		return
	}
	stint := l.stint
	w.expect(w.clock.Now().Add(l.run))
	w.clock.AfterFunc(l.run, func() {
		if l.stint == stint && l.node != nil {
			w.end(l, true)
			w.reconcile()
		}
	})
}

// stop takes a pod off its node.
func (w *world) stop(l *life) {
	w.look()
	w.last = w.clock.Now()
	delete(l.node.pods, l)
	l.node.idle = w.clock.Now()
	if l.node.node != nil {
		w.series.add(l.pod, -1, w)
	}
	l.node = nil
}

// end ends a pod for good: it has run to its end, or somebody deleted it.
func (w *world) end(l *life, completed bool) {
	if l.node != nil {
		w.stop(l)
	} else {
		w.catchUp(l)
		w.waiting--
		l.waited += w.clock.Now().Sub(l.since)
		l.Waited = seconds(l.waited)
	}
	l.Ended, l.Completed = new(seconds(w.now())), completed
	delete(w.pods, l.Pod)
	w.freeNumber(l.Pod, completed)
	delete(w.stuck, l)
	w.remove(l.pod)
	if l.owner != nil {
		w.lost(l.owner, l, completed)
		w.dirty = true
		w.lookAt(l.owner)
	}
	l.pod = nil // a run may have a million pods, and only their history is wanted
}

// displace ends a pod that had to leave its node. If nobody makes it again, it waits
// again itself.
func (w *world) displace(l *life) {
	l.Evictions++
	if l.owner != nil || l.leaving {
		w.end(l, false)
		return
	}
	if err := w.displacedOften(l.pod); err != nil {
		w.fail(err)
		return
	}
	w.stop(l)
	w.remove(l.pod)
	again := *l.pod
	again.Spec.NodeName, again.Status = "", api.PodStatus{Phase: api.PodPending, QOSClass: l.pod.Status.QOSClass}
	if again.UID != "" {
		if l.uid == "" {
			l.uid = again.UID
		}
		again.UID = l.uid + api.UID(fmt.Sprintf("-%d", l.stint))
	}
	l.pod, l.Node, l.Bound, l.Order = &again, "", nil, 0
	w.arrive(l)
}

// beforeNodes is look before nodes come or go. While nothing has been in use there is nothing to keep.
func (w *world) beforeNodes() {
	if w.series.look(w); w.series.busiest > 0 {
		w.look()
	}
}

// look keeps a fork of the cluster if most has come to be in use since the last one.
// There are few, because look is called only when a pod ends, or nodes change.
func (w *world) look() {
	w.series.look(w)
	if w.config.Busiest != nil && w.busiest == nil {
		w.busiest = w.driver.Snapshot().Fork()
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/examples/internal/display"
	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// A world is a cluster on a virtual clock, with a scheduler that works in it. It is
// the scheduler's Binder: a pod begins to run when it is bound.
type world struct {
	clock  *virtualclock.Clock
	driver *lifecycle.Driver
	pods   map[string]*life
	lives  []*life // pods that were pending, in the order of their arrival
	use    *usage

	busiest *framework.Snapshot // the cluster when most was in use; nil: not seen yet

	progress         *display.Progress
	bound, preempted int
	last             time.Time // time of the last event: a pod came, was bound, or ended
	next             time.Time // time of the last event to come
	err              error
}

// A life is the history of one pod.
type life struct {
	info  *framework.PodInfo
	times input.Times

	pod     *api.Pod      // its latest version
	node    string        // "" while it waits, and once it has ended
	stint   int           // counts its bindings
	order   int           // position of its last binding among all bindings
	placed  string        // node of its last binding
	at      time.Time     // time of its last binding
	since   time.Time     // start of its wait
	waited  time.Duration // total of its waits
	message string        // why it still waits
}

// settled is how long the scheduler goes on after the last event: longer than a pod
// waits for its next attempt.
const settled = 6 * time.Minute

// live runs the cluster until nothing more can happen. It returns the snapshot of
// the moment when most was in use.
func (r *report) live(c *input.Cluster, snap *framework.Snapshot, pending []*framework.PodInfo, rules *rules, timed bool, stderr io.Writer) (*framework.Snapshot, error) {
	begin := startOf(c)
	w := &world{
		clock: virtualclock.New(begin), pods: map[string]*life{}, use: newUsage(snap, begin), last: begin, next: begin,
		progress: display.NewProgress(stderr, len(pending)),
	}
	defer w.progress.Done()
	profiles := slices.Clone(rules.profiles)
	if !rules.configured {
		profiles[0].Name = scheduling.DefaultName
	}
	var err error
	w.driver, err = lifecycle.New(lifecycle.Config{
		Profiles: profiles, Binder: w, Clock: w.clock, Handle: rules.handle, Seed: rules.seed, Backoff: rules.backoff,
		Order: framework.ZoneInterleaved, ErrorHandler: func(err error) { w.err = errors.Join(w.err, err) },
	})
	if err != nil {
		return nil, err
	}
	w.driver.Apply(events(&c.Objects)...)
	if err := w.populate(c, snap, pending, rules, timed); err != nil {
		return nil, err
	}
	start := time.Now()
	for until := w.next; w.err == nil; until = w.next {
		if err := w.driver.Simulate(context.Background(), w.clock, until.Add(settled)); err != nil {
			return nil, err
		}
		if !w.next.After(until) {
			break // no pod was bound that ends later
		}
	}
	r.elapsed = time.Since(start)
	r.tell(w, rules, begin, timed)
	w.look()
	return w.busiest, w.err
}

// startOf returns the start time of the clock: the time of the newest metric, so
// that metrics are fresh, or else a round time.
func startOf(c *input.Cluster) time.Time {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, m := range c.Objects.NodeMetrics {
		if t := m.Status.UpdateTime; t != nil && (i == 0 || t.After(start)) {
			start = *t
		}
	}
	return start
}

// populate starts the pods that have a node, and announces the others. Pods with the
// same arrival time arrive together.
func (w *world) populate(c *input.Cluster, snap *framework.Snapshot, pending []*framework.PodInfo, rules *rules, timed bool) error {
	for _, n := range snap.All() {
		for _, p := range n.Pods {
			l, err := w.bear(c, p, timed)
			if err != nil {
				return err
			}
			w.driver.Apply(lifecycle.Update(p.Pod))
			w.run(l, n.Name())
		}
	}
	for _, p := range pending {
		l, err := w.bear(c, p, timed)
		if err != nil {
			return err
		}
		if !rules.configured {
			l.pod.Spec.SchedulerName = scheduling.DefaultName // there is only one
		}
		w.lives = append(w.lives, l)
	}
	slices.SortStableFunc(w.lives, func(x, y *life) int { return int(x.times.Arrival - y.times.Arrival) })
	for i := 0; i < len(w.lives); {
		from, at := i, w.lives[i].times.Arrival
		for i < len(w.lives) && w.lives[i].times.Arrival == at {
			i++
		}
		w.clock.AfterFunc(at, func() {
			for _, l := range w.lives[from:i] {
				w.arrive(l)
			}
		})
		w.expect(w.clock.Now().Add(at))
	}
	return nil
}

func (w *world) bear(c *input.Cluster, p *framework.PodInfo, timed bool) (*life, error) {
	l := &life{info: p, pod: p.Pod, times: input.Times{Run: input.Forever}}
	w.pods[p.Pod.Key()] = l
	var err error
	if timed {
		l.times, err = c.Times(p.Pod)
	}
	return l, err
}

// look forks the cluster's snapshot, if the usage has reached a new maximum since
// the last one. A fork is cheap. There are few, because look runs only when a pod
// ends.
func (w *world) look() {
	if w.busiest == nil {
		w.busiest = w.driver.Snapshot().Fork()
	}
}

// expect records that an event will happen at that time.
func (w *world) expect(at time.Time) {
	if at.After(w.next) {
		w.next = at
	}
}

func (w *world) arrive(l *life) {
	w.last, l.since = w.clock.Now(), w.clock.Now()
	w.driver.Apply(lifecycle.Update(l.pod))
}

// run starts the pod on a node, and ends it after its run time, if it has one.
func (w *world) run(l *life, node string) {
	w.last, l.node, l.stint = w.clock.Now(), node, l.stint+1
	if w.use.add(l.info, 1, w.clock.Now()) {
		w.busiest = nil // look again when the pod is there
	}
	if l.times.Run == input.Forever {
		return
	}
	stint := l.stint
	w.expect(w.clock.Now().Add(l.times.Run))
	w.clock.AfterFunc(l.times.Run, func() {
		if l.stint == stint && l.node != "" {
			w.stop(l)
			w.driver.Apply(lifecycle.Delete(l.pod))
		}
	})
}

func (w *world) stop(l *life) {
	w.look()
	w.last, l.node = w.clock.Now(), ""
	w.use.add(l.info, -1, w.clock.Now())
}

// Bind starts the pod on the node.
func (w *world) Bind(_ context.Context, pod *api.Pod, node string) error {
	w.bound++
	w.progress.Step(w.bound, "%d pods placed, %d wait, %v simulated", w.bound, len(w.driver.Pending()), w.clock.Now().Sub(w.use.begin))
	l := w.pods[pod.Key()]
	l.placed, l.order, l.at = node, w.bound, w.clock.Now()
	l.waited += w.clock.Now().Sub(l.since)
	running := *pod
	running.Spec.NodeName, running.Status.Phase = node, api.PodRunning
	l.pod = &running
	w.driver.Apply(lifecycle.Update(l.pod))
	w.run(l, node)
	return nil
}

// Evict removes a victim of preemption. The pod's workload makes a new one.
func (w *world) Evict(_ context.Context, victim, _ *api.Pod) error {
	l := w.pods[victim.Key()]
	w.preempted++
	w.stop(l)
	w.driver.Apply(lifecycle.Delete(l.pod))
	again := *victim
	again.Spec.NodeName, again.Status = "", api.PodStatus{Phase: api.PodPending}
	if again.UID != "" {
		again.UID += api.UID(fmt.Sprintf("-%d", l.stint))
	}
	l.pod, l.placed = &again, ""
	w.arrive(l)
	return nil
}

// Report records why the pod waits.
func (w *world) Report(_ context.Context, pod *api.Pod, r lifecycle.Report) {
	w.progress.Step(w.bound, "%d pods placed, %d wait, %v simulated", w.bound, len(w.driver.Pending()), w.clock.Now().Sub(w.use.begin))
	if l := w.pods[pod.Key()]; r.Message != "" {
		l.message = r.Message
	}
}

// tell records the outcome for each pod in the report.
func (r *report) tell(w *world, rules *rules, begin time.Time, timed bool) {
	for _, l := range w.lives {
		switch {
		case l.placed != "":
		case l.message != "":
			r.reject(l.info, l.message)
		case len(l.pod.Spec.SchedulingGates) > 0:
			r.reject(l.info, gated)
		default:
			r.reject(l.info, fmt.Sprintf("no profile is called %q: there are %s", l.pod.Spec.SchedulerName, strings.Join(rules.names(), ", ")))
		}
	}
	placed := slices.DeleteFunc(slices.Clone(w.lives), func(l *life) bool { return l.placed == "" })
	slices.SortFunc(placed, func(x, y *life) int { return x.order - y.order })
	for _, l := range placed {
		p := placement{Pod: l.info.Pod.Key(), Node: l.placed}
		if timed {
			p.At, p.Waited = new(l.at.Sub(begin).Seconds()), new(l.waited.Seconds())
		}
		r.Placements = append(r.Placements, p)
	}
	r.Preempted = w.preempted
	if timed {
		r.Clock = newTiming(w, placed, begin)
	}
}

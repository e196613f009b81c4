package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// An Observer learns what a driver does. It must not change what it sees, block, or
// call the driver. If it panics, Config.ErrorHandler gets the error.
//
// An observer may also be a [PointObserver], a [PluginObserver], a [ScoreObserver],
// a [QueueObserver], an [EvictionObserver] or an [AlikeObserver]. The driver measures only
// what the observer implements.
type Observer interface {
	// Attempt is called after every attempt, bound or failed, by the scheduling
	// goroutine. It must not keep a.
	Attempt(a *Attempt)
}

// A PointObserver learns how long the steps of an attempt took. Many goroutines may
// call it at once.
type PointObserver interface {
	// Point is called after each step.
	Point(t PointTiming)
}

// A PluginObserver learns how long each plugin took at each extension point. Around
// a decision, from PreEnqueue to PostBind, that is the time of the call. The plugins
// within the decision, from PreFilter to NormalizeScore, are measured by making
// every decision again on the reference path ([scheduling.Scheduler.Measure]). This
// adds nothing to the work for one node, but costs as much as a [ScoreObserver].
// Many goroutines may call it at once.
type PluginObserver interface {
	// Plugin is called for each plugin at each point.
	Plugin(t PluginTiming)
}

// A PluginTiming is how long one plugin took at one point for one pod.
type PluginTiming struct {
	// Profile is the name of the profile, Pod the pod.
	Profile string
	Pod     *framework.PodInfo
	scheduling.PluginTime
}

// A ScoreObserver learns every score of every node. It costs as much as an
// explanation: every decision is made again on the reference path.
type ScoreObserver interface {
	// Scores is called for each decision for a node, by the scheduling goroutine.
	Scores(e *scheduling.Explanation)
}

// A QueueObserver learns how full the queue is.
type QueueObserver interface {
	// Queue is called after every attempt, by the scheduling goroutine.
	Queue(d queue.Length)
}

// An EvictionObserver learns which pods must leave for others. Many goroutines may call it
// at once.
type EvictionObserver interface {
	// Evicting is called for each victim, right before the [Evicter] is asked to remove it.
	// A victim whose own binding ends for the sake of another pod is not evicted.
	Evicting(e Eviction)
}

// An AlikeObserver lets pods fail together. A pod whose attempt is bound to fail like those
// just before it, and that has failed before, then has no attempt of its own, and a
// [Reporter] gets no report of it. So a thousand of them cost what one does;
// [Driver.Failures] says how often a pod was tried, and why it waits.
type AlikeObserver interface {
	// Alike is called after an attempt with which n other pods failed.
	Alike(n int)
}

// An Eviction is the request that a victim leaves its node.
type Eviction struct {
	Victim *api.Pod
	Node   string
	At     time.Time
}

// The steps of a [PointTiming] that are not extension points.
const (
	// StepSchedule is everything from PreFilter to the choice of a node.
	StepSchedule = "Schedule"
	// StepAssume is counting the pod on its node and Reserve.
	StepAssume = "Assume"
)

// A PointTiming is how long one step of one attempt took.
type PointTiming struct {
	// Profile is the name of the profile, Pod the pod.
	Profile string
	Pod     *framework.PodInfo
	// Point is the extension point: PostFilter, Permit, PreBindPreFlight,
	// PreBind, Bind, PostBind, Unreserve; or [StepSchedule] or [StepAssume].
	Point string
	// Err is the error of the step, nil if it succeeded. Code says more of a step without
	// an error: Wait after Permit, Skip after PreBindPreFlight, and the status of
	// PostFilter.
	Err  error
	Code framework.Code
	// Duration is the time that the step took by the driver's clock.
	Duration time.Duration
}

// observers is an observer with its optional interfaces looked up once.
type observers struct {
	any     bool
	all     Observer
	points  PointObserver
	plugins PluginObserver
	scores  ScoreObserver
	queue   QueueObserver
	victims EvictionObserver
	alike   AlikeObserver
}

func newObservers(o Observer) observers {
	s := observers{any: o != nil, all: o}
	s.points, _ = o.(PointObserver)
	s.plugins, _ = o.(PluginObserver)
	s.scores, _ = o.(ScoreObserver)
	s.queue, _ = o.(QueueObserver)
	s.victims, _ = o.(EvictionObserver)
	s.alike, _ = o.(AlikeObserver)
	return s
}

// eachCall reports whether the observer learns more of an attempt than what came of it.
func (o *observers) eachCall() bool { return o.points != nil || o.plugins != nil || o.scores != nil }

// stamp returns the time for an observer, or the zero time if there is none.
func (d *Driver) stamp() (t time.Time) {
	if d.observers.any {
		t = d.clock.Now()
	}
	return t
}

// observe reports an attempt that has ended.
func (d *Driver) observe(a *Attempt) {
	if d.observers.any {
		a.Ended = d.clock.Now()
		d.tell("Attempt", func() { d.observers.all.Attempt(a) })
		d.observeQueue()
	}
}

// tell calls a method of the observer, in any goroutine. A panic only goes to the
// error handler.
func (d *Driver) tell(method string, call func()) {
	defer func() {
		if v := recover(); v != nil {
			d.mail.post(func(context.Context) { d.problem(fmt.Errorf("observer: %s: panic: %v", method, v)) })
		}
	}()
	call()
}

func (d *Driver) observeQueue() {
	if d.observers.queue != nil {
		d.tell("Queue", func() { d.observers.queue.Queue(d.queue.Len()) })
	}
}

// measured runs a step and reports how long it took.
func (d *Driver) measured(a *Attempt, point string, step func() error) error {
	return d.coded(a, point, func() (framework.Code, error) { return framework.Success, step() })
}

// coded is measured for a step with a code.
func (d *Driver) coded(a *Attempt, point string, step func() (framework.Code, error)) error {
	if d.observers.points == nil {
		_, err := step()
		return err
	}
	start := d.clock.Now()
	code, err := step()
	t := PointTiming{Profile: a.Profile, Pod: a.Pod, Point: point, Err: err, Code: code, Duration: d.clock.Now().Sub(start)}
	d.tell("Point", func() { d.observers.points.Point(t) })
	return err
}

// observeCalls makes a scheduler report the times of its plugins.
func (d *Driver) observeCalls(sched *scheduling.Scheduler) {
	if o := d.observers.plugins; o != nil {
		profile := sched.Profile()
		sched.ObservePlugins(d.clock.Now, func(pod *framework.PodInfo, t scheduling.PluginTime) {
			d.tell("Plugin", func() { o.Plugin(PluginTiming{profile, pod, t}) })
		})
	}
}

// observeDecision measures a decision, whether or not it found a node, before the
// pod counts on that node.
func (d *Driver) observeDecision(sched *scheduling.Scheduler, a *Attempt) {
	if o := d.observers.plugins; o != nil {
		for _, t := range sched.Measure(d.snap, a.Pod, a.Decision, d.clock.Now) {
			d.tell("Plugin", func() { o.Plugin(PluginTiming{a.Profile, a.Pod, t}) })
		}
	}
}

// observeScores explains a decision before the pod counts on its node.
func (d *Driver) observeScores(sched *scheduling.Scheduler, a *Attempt) {
	if d.observers.scores != nil {
		d.tell("Scores", func() { d.observers.scores.Scores(sched.ExplainDecision(d.snap, a.Pod, a.Decision)) })
	}
}

package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// An Observer is told what a driver does. It sees and changes nothing, must not
// block, and must not call the driver. That it panics is told to Config.ErrorHandler.
//
// An observer may also be a [PointObserver], a [PluginObserver], a
// [ScoreObserver] or a [QueueObserver]. What nobody observes is not measured.
type Observer interface {
	// Attempt is told of every attempt that has ended, bound or failed, by the
	// scheduling goroutine. It must not keep a.
	Attempt(a *Attempt)
}

// A PointObserver is told how long the steps of an attempt took. Calls may come
// from many goroutines at once.
type PointObserver interface {
	// Point is told of one step.
	Point(t PointTiming)
}

// A PluginObserver is told how long each plugin took at each extension point.
// Around a decision, from PreEnqueue to PostBind, that is the call itself. The
// plugins of the decision, from PreFilter to NormalizeScore, are measured by
// making every decision again on the plain road ([scheduling.Scheduler.Measure]),
// so that nothing is added to the work for one node; it costs as much as a
// [ScoreObserver]. Calls may come from many goroutines at once.
type PluginObserver interface {
	// Plugin is told of one plugin at one point.
	Plugin(t PluginTiming)
}

// A PluginTiming is how long one plugin took at one point for one pod.
type PluginTiming struct {
	// Profile is the name of the profile and Pod the pod.
	Profile string
	Pod     *framework.PodInfo
	scheduling.PluginTime
}

// A ScoreObserver is told every score of every node. That costs as much as an
// explanation: every decision is made again on the plain road.
type ScoreObserver interface {
	// Scores is told of a decision for a node, by the scheduling goroutine.
	Scores(e *scheduling.Explanation)
}

// A QueueObserver is told how full the queue is.
type QueueObserver interface {
	// Queue is told after every attempt, by the scheduling goroutine.
	Queue(d queue.Length)
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
	// Profile is the name of the profile and Pod the pod.
	Profile string
	Pod     *framework.PodInfo
	// Point is the extension point: PostFilter, Permit, PreBindPreFlight,
	// PreBind, Bind, PostBind, Unreserve; or [StepSchedule] or [StepAssume].
	Point string
	// Err is how the step failed, nil if it did not.
	Err error
	// Duration is the time it took by the driver's clock.
	Duration time.Duration
}

// observers is an observer, taken apart once.
type observers struct {
	any     bool
	all     Observer
	points  PointObserver
	plugins PluginObserver
	scores  ScoreObserver
	queue   QueueObserver
}

func newObservers(o Observer) observers {
	s := observers{any: o != nil, all: o}
	s.points, _ = o.(PointObserver)
	s.plugins, _ = o.(PluginObserver)
	s.scores, _ = o.(ScoreObserver)
	s.queue, _ = o.(QueueObserver)
	return s
}

// stamp is the time for an observer, the zero time when there is none.
func (d *Driver) stamp() (t time.Time) {
	if d.observers.any {
		t = d.clock.Now()
	}
	return t
}

// observe tells of an attempt that has ended.
func (d *Driver) observe(a *Attempt) {
	if d.observers.any {
		a.Ended = d.clock.Now()
		d.tell("Attempt", func() { d.observers.all.Attempt(a) })
		d.observeQueue()
	}
}

// tell calls a method of the observer, in any goroutine. If it panics that is a
// problem, and nothing else.
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

// measured runs a step and tells how long it took.
func (d *Driver) measured(a *Attempt, point string, step func() error) error {
	if d.observers.points == nil {
		return step()
	}
	start := d.clock.Now()
	err := step()
	t := PointTiming{a.Profile, a.Pod, point, err, d.clock.Now().Sub(start)}
	d.tell("Point", func() { d.observers.points.Point(t) })
	return err
}

// observeCalls makes a scheduler tell of its plugins.
func (d *Driver) observeCalls(sched *scheduling.Scheduler) {
	if o := d.observers.plugins; o != nil {
		profile := sched.Profile()
		sched.ObservePlugins(d.clock.Now, func(pod *framework.PodInfo, t scheduling.PluginTime) {
			d.tell("Plugin", func() { o.Plugin(PluginTiming{profile, pod, t}) })
		})
	}
}

// observeDecision measures a decision, whether it found a node or not, before the
// pod counts on it.
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

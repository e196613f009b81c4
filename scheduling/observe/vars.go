package observe

import (
	"expvar"
	"sync"
	"time"

	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// Vars counts in expvar variables. NewVars adds these to its map:
//
//	attempts            of each result: bound, unschedulable, error
//	group_attempts      for pod groups, of each result: scheduled, unschedulable, error
//	attempt_seconds     the sum of their times
//	decision_times      a histogram of the times, in seconds, until a node was chosen or none
//	binding_times       a histogram of the times, in seconds, from then until pods were bound
//	steps               of each point, how often it ran
//	step_seconds        of each point, the sum of the times
//	queue               pods in each part of the queue, after the last attempt
type Vars struct {
	attempts, groups, steps, stepSeconds, queue *expvar.Map
	seconds                                     *expvar.Float
	decisions, bindings                         *Histogram

	mu    sync.Mutex
	parts [5]*expvar.Int
}

// NewVars adds the variables to the map and replaces others of the same names. The
// caller publishes the map; nil means that the figures are not read.
func NewVars(m *expvar.Map) *Vars {
	if m == nil {
		m = new(expvar.Map)
	}
	v := &Vars{
		attempts: new(expvar.Map), groups: new(expvar.Map), steps: new(expvar.Map), stepSeconds: new(expvar.Map), queue: new(expvar.Map),
		seconds: new(expvar.Float), decisions: NewHistogram(attemptBounds()...), bindings: NewHistogram(attemptBounds()...),
	}
	m.Set("attempts", v.attempts)
	m.Set("group_attempts", v.groups)
	m.Set("attempt_seconds", v.seconds)
	m.Set("decision_times", v.decisions)
	m.Set("binding_times", v.bindings)
	m.Set("steps", v.steps)
	m.Set("step_seconds", v.stepSeconds)
	m.Set("queue", v.queue)
	for i, name := range []string{"active", "backoff", "unschedulable", "gated", "inFlight"} {
		v.parts[i] = new(expvar.Int)
		v.queue.Set(name, v.parts[i])
	}
	return v
}

// Attempt implements [lifecycle.Observer].
func (v *Vars) Attempt(a *lifecycle.Attempt) {
	if isOfGroup(a) {
		v.groups.Add(groupResult(a), 1)
		return
	}
	v.attempts.Add(result(a), 1)
	v.seconds.Add(a.Ended.Sub(a.Started).Seconds())
	v.decisions.seconds(a.Decided.Sub(a.Started))
	if a.State == lifecycle.Bound {
		v.bindings.seconds(a.Ended.Sub(a.Decided))
	}
}

// Point implements [lifecycle.PointObserver].
func (v *Vars) Point(t lifecycle.PointTiming) {
	v.steps.Add(t.Point, 1)
	v.stepSeconds.AddFloat(t.Point, float64(t.Duration)/float64(time.Second))
}

// Queue implements [lifecycle.QueueObserver].
func (v *Vars) Queue(d queue.Length) {
	v.mu.Lock() // so that the parts are consistent with each other
	defer v.mu.Unlock()
	for i, n := range []int{d.Active, d.Backoff, d.Unschedulable, d.Gated, d.InFlight} {
		v.parts[i].Set(int64(n))
	}
}

package simulate

import (
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// A Recorder writes a trace of what a scheduler sees and decides. Make it the Observer
// of a [lifecycle.Config], call Applied and Deleted for the events that the driver gets,
// in their order, and Close at the end:
//
//	recorder := simulate.NewRecorder(file, time.Now())
//	driver, err := lifecycle.New(lifecycle.Config{Observer: recorder, ...})
//	...
//	recorder.Applied(now, &api.Objects{Pods: []*api.Pod{pod}})
//	driver.Apply(lifecycle.Update(pod))
//
// A pod is written once, when it comes; that it ended is written as its deletion. What
// the recorded scheduler bound is a decision, so later versions of a pod are left out.
// The deletion of a pod that the scheduler evicted says so: a replay evicts pods itself.
// See Trace.Recorded. A decision is left out if the pod or the node has gone meanwhile. Any goroutine may call its methods.
type Recorder struct {
	mu      sync.Mutex
	out     *traceWriter
	start   time.Time
	last    time.Duration
	event   time.Duration // time of the last event; below 0 if there is none
	moment  moment
	journal journal
	pods    map[string]api.UID       // that are there
	check   *checker                 // as a reader's
	evicted map[string]time.Duration // when pods that are still there were evicted
}

var (
	_ lifecycle.Observer         = (*Recorder)(nil)
	_ lifecycle.EvictionObserver = (*Recorder)(nil)
)

// NewRecorder begins a trace at the given time.
func NewRecorder(w io.Writer, start time.Time) *Recorder {
	r := &Recorder{
		out: newTraceWriter(w, start, true), start: start, event: -1,
		pods: map[string]api.UID{}, check: newChecker(), evicted: map[string]time.Duration{},
	}
	r.check.recorded = true
	r.journal = newJournal(r.decision)
	return r
}

// at is the time since the start. It never goes back, as lines must not.
func (r *Recorder) at(now time.Time) time.Duration {
	if at := now.Sub(r.start); at > r.last {
		r.last = at
		clear(r.check.left)
	}
	return r.last
}

// decision writes a decision, unless what it is about has changed meanwhile: a pod is bound
// while others delete it.
func (r *Recorder) decision(d *Decision) {
	if r.check.decide(d) == nil {
		r.out.decision(d)
	}
}

// Applied records objects that came or changed. Nil records nothing.
func (r *Recorder) Applied(now time.Time, o *api.Objects) {
	if o == nil {
		return
	}
	for _, x := range items(o) {
		r.item(now, x)
	}
}

// item records one object.
func (r *Recorder) item(now time.Time, x item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.at(now)
	if p, ok := x.object.(*api.Pod); ok {
		uid, there := r.pods[x.name]
		ended := p.Status.Phase.HasEnded()
		if there && (ended || uid != p.UID) { // it ended, or another one has taken its name
			r.gone(at, Ref{"Pod", x.name})
			there = false
		}
		if there || ended {
			return
		}
		r.pods[x.name] = p.UID
	}
	r.check.come(x)
	r.event = at
	r.out.apply(at, r.moment.done(at), x)
}

// Deleted records that an object went. An object that never came is left out.
func (r *Recorder) Deleted(now time.Time, ref Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.check.known[ref] {
		r.gone(r.at(now), ref)
	}
}

func (r *Recorder) gone(at time.Duration, ref Ref) {
	e := Event{At: at, After: r.moment.done(at), Delete: ref}
	r.check.leave(ref)
	if ref.Kind == "Pod" {
		var since time.Duration
		if since, e.Evicted = r.evicted[ref.Name]; e.Evicted {
			e.Grace = at - since
		}
		delete(r.evicted, ref.Name)
		delete(r.pods, ref.Name)
		r.journal.gone(ref.Name)
	}
	r.event = at
	r.out.event(&e)
}

// step counts something that the scheduler does. If no event led to it, that is one.
func (r *Recorder) step(at time.Duration, again bool) {
	if again && r.event != at && r.moment.done(at) == 0 {
		r.event = at
		r.out.event(&Event{At: at, Wake: true})
	}
	r.moment.step(at)
}

// Attempt implements [lifecycle.Observer]: it records bindings, and the first failure of a
// pod.
func (r *Recorder) Attempt(a *lifecycle.Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.at(a.Ended)
	r.step(at, a.Number > 1)
	if uid, there := r.pods[a.Pod.Pod.Key()]; !there || uid != a.Pod.Pod.UID {
		return // the pod is gone, and another one may have taken its name
	}
	r.journal.attempt(a, at)
}

// Evicting implements [lifecycle.EvictionObserver]: it records victims.
func (r *Recorder) Evicting(e lifecycle.Eviction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.at(e.At)
	r.step(at, true)
	r.journal.evicting(e, at)
	if key := e.Victim.Key(); r.check.known[Ref{"Pod", key}] {
		r.evicted[key] = at
	}
}

// Close writes what is left in memory, and returns the first error of writing. Of nodes
// that never came, although pods stand on them, it writes that they are gone: they went
// before the recording began.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, node := range slices.Sorted(maps.Keys(r.check.awaited)) {
		r.gone(r.last, Ref{"Node", node})
	}
	return r.out.flush()
}

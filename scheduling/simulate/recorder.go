package simulate

import (
	"io"
	"sync"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// A Recorder writes a trace of what a scheduler sees and decides. Make it the Observer
// of a [lifecycle.Config], call Applied and Deleted for the events that the driver gets,
// and Close at the end:
//
//	recorder := simulate.NewRecorder(file, time.Now())
//	driver, err := lifecycle.New(lifecycle.Config{Observer: recorder, ...})
//	...
//	recorder.Applied(now, &api.Objects{Pods: []*api.Pod{pod}})
//	driver.Apply(lifecycle.Update(pod))
//
// A pod is written once, when it comes; that it ended is written as its deletion. What
// the recorded scheduler bound is a decision, so later versions of a pod are left out.
// Any goroutine may call its methods.
type Recorder struct {
	mu    sync.Mutex
	out   *traceWriter
	start time.Time
	last  time.Duration
	pods  map[string]bool // that are there
	known map[Ref]bool
	stuck map[string]bool
}

// NewRecorder begins a trace at the given time.
func NewRecorder(w io.Writer, start time.Time) *Recorder {
	return &Recorder{out: newTraceWriter(w, start), start: start, pods: map[string]bool{}, known: map[Ref]bool{}, stuck: map[string]bool{}}
}

// at is the time since the start. It never goes back, as lines must not.
func (r *Recorder) at(now time.Time) time.Duration {
	r.last = max(r.last, now.Sub(r.start))
	return r.last
}

// Applied records objects that came or changed.
func (r *Recorder) Applied(now time.Time, o *api.Objects) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.at(now)
	kept := *o
	kept.Pods = nil
	for _, p := range o.Pods {
		switch key, ended := p.Key(), p.Status.Phase == api.PodSucceeded || p.Status.Phase == api.PodFailed; {
		case ended && r.pods[key]:
			r.gone(at, Ref{"Pod", key})
		case !ended && !r.pods[key]:
			r.pods[key] = true
			kept.Pods = append(kept.Pods, p)
		}
	}
	for _, x := range items(&kept) {
		r.known[Ref{x.kind, x.name}] = true
	}
	r.out.event(&Event{At: at, Apply: &kept})
}

// Deleted records that an object went. An object that never came is left out.
func (r *Recorder) Deleted(now time.Time, ref Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[ref] {
		r.gone(r.at(now), ref)
	}
}

func (r *Recorder) gone(at time.Duration, ref Ref) {
	delete(r.known, ref)
	if ref.Kind == "Pod" {
		delete(r.pods, ref.Name)
	}
	r.out.event(&Event{At: at, Delete: ref})
}

// Attempt implements [lifecycle.Observer]: it records bindings, victims, and the first
// failure of a pod.
func (r *Recorder) Attempt(a *lifecycle.Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, pod := r.at(a.Ended), a.Pod.Pod.Key()
	switch a.State {
	case lifecycle.Bound:
		delete(r.stuck, pod)
		r.out.decision(&Decision{At: at, Pod: pod, Node: a.Decision.Node})
	case lifecycle.Failed:
		if !r.stuck[pod] && a.Err != nil {
			r.stuck[pod] = true
			r.out.decision(&Decision{At: at, Pod: pod, Message: a.Err.Error()})
		}
		for _, v := range a.Victims {
			r.out.decision(&Decision{At: at, Pod: v.Pod.Pod.Key(), Node: a.Nominated, Evicted: true})
		}
	}
}

// Close writes what is left in memory, and returns the first error of writing.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.flush()
}

package simulate

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// The annotations for simulations: when a pod arrives, counted from the start of the
// trace, and how long it runs once it is bound. The values are Go durations ("90s",
// "1h30m") or seconds ("90", "0.5"). Without the first, a pod is there from the
// beginning; without the second, it never ends. A workload sets the second for its pods
// in its template.
const (
	AnnotationArrival = "berth-sched.github.io/arrival"
	AnnotationRunTime = "berth-sched.github.io/run-time"
)

// A Trace is what happens to a cluster from outside, and perhaps what a scheduler
// decided.
type Trace struct {
	// Start is the time at which the trace begins; zero means the beginning of 2030.
	Start time.Time
	// Recorded is set if the trace is what a [Recorder] saw: every pod that came, those of
	// controllers included, and when each went. A run of it makes no pods, ends none after
	// its run time, and leaves pods where they are when their node goes: all that is in the
	// trace. It evicts pods itself: a victim leaves after as long as in the recording, or at
	// once if it was not evicted there. A pod that was evicted in the recording and is not
	// in the run stays; a pod that a controller made in its place comes all the same. Nodes
	// and reports of use are in the trace too, so leave out Config.Autoscaler and
	// Config.Usage.
	Recorded bool
	// Events are what happens, in the order of time.
	Events []Event
	// Decisions are what a scheduler decided when the trace was recorded, in order.
	Decisions []Decision

	lines []int     // of the decisions, if they are those that were read
	read  *Decision // the first of them
}

// lineOf is the line of a decision, or its place if it was not read.
func (t *Trace) lineOf(i int) int {
	if len(t.lines) == len(t.Decisions) && t.read == &t.Decisions[0] {
		return t.lines[i]
	}
	return i + 1
}

// An Event is something that happens to a cluster from outside.
type Event struct {
	// At is when it happens, after the start.
	At time.Duration
	// After is how many attempts and evictions of the scheduler at the same time come
	// before it. If a run makes fewer, the event happens after all of them.
	After int
	// Apply holds objects that come or change; nil if nothing does. Pods cannot
	// change, only come and go. The objects must not change any more.
	Apply *api.Objects
	// Delete is what goes.
	Delete Ref
	// Evicted is set if a recorded pod left because it was evicted; the eviction was Grace
	// earlier.
	Evicted bool
	Grace   time.Duration
	// Wake is set if nothing else happens but that the scheduler looks for a pod to try: a
	// pod that was tried twice at one time is tried again when the scheduler next looks.
	Wake bool
}

// A Ref names an object.
type Ref struct {
	// Kind is the kind, such as "Node".
	Kind string `json:"kind"`
	// Name is the name, or "namespace/name".
	Name string `json:"name"`
}

// A Decision is what a scheduler decided about a pod.
type Decision struct {
	At time.Duration `json:"-"`
	// Pod is "namespace/name".
	Pod string `json:"pod"`
	// Node is where it was bound, or what it was evicted from; "" if it fits nowhere.
	Node string `json:"node,omitempty"`
	// Evicted is set if the pod had to leave for another one.
	Evicted bool `json:"evicted,omitempty"`
	// Message says why it fits nowhere.
	Message string `json:"message,omitempty"`
}

// String writes the decision for people.
func (d Decision) String() string {
	switch {
	case d.Evicted:
		return fmt.Sprintf("%v: %s evicted from %s", d.At, d.Pod, d.Node)
	case d.Node == "":
		return fmt.Sprintf("%v: %s fits nowhere", d.At, d.Pod)
	}
	return fmt.Sprintf("%v: %s bound to %s", d.At, d.Pod, d.Node)
}

// defaultStart is the start of traces without one.
var defaultStart = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// Begin is Start, or the beginning of 2030 without it.
func (t *Trace) Begin() time.Time {
	if t.Start.IsZero() {
		return defaultStart
	}
	return t.Start
}

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
	// Events are what happens, in the order of time.
	Events []Event
	// Decisions are what a scheduler decided when the trace was recorded, in order.
	Decisions []Decision
}

// An Event is something that happens to a cluster from outside.
type Event struct {
	// At is when it happens, after the start.
	At time.Duration
	// Apply holds objects that come or change; nil if something goes. Pods cannot
	// change, only come and go. The objects must not change any more.
	Apply *api.Objects
	// Delete is what goes.
	Delete Ref
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

func (t *Trace) start() time.Time {
	if t.Start.IsZero() {
		return defaultStart
	}
	return t.Start
}

package lifecycle

import (
	"context"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Source tells what happens in the cluster. First it tells of every object
// that is there, then of every change, those that the scheduler's own bindings
// cause included.
type Source interface {
	// Next returns the next event. It blocks until there is one or ctx is done.
	// io.EOF says that there will be no more; any other error ends Run.
	Next(ctx context.Context) (Event, error)
}

// A Binder carries decisions out. Its methods may be called by many goroutines
// at once. They must return when ctx is done.
//
// A Binder that is an [Evicter] or a [Reporter] too is also given that to do.
type Binder interface {
	// Bind binds the pod to the node. When it returns nil the pod counts as
	// bound; the source confirms it with the pod's next version.
	Bind(ctx context.Context, pod *api.Pod, node string) error
}

// An Evicter removes the victims of a preemption.
type Evicter interface {
	// Evict asks the victim to leave so that the preemptor finds room. The
	// source tells when it has left.
	Evict(ctx context.Context, victim, preemptor *api.Pod) error
}

// A Reporter writes down what became of a pod that was not bound. It is called
// by the scheduling goroutine, which waits for it.
type Reporter interface {
	// Report is called after every failed attempt, and when a pod is nominated.
	Report(ctx context.Context, pod *api.Pod, r Report)
}

// A Report is what the status of a pod should say.
type Report struct {
	// Reason and Message are those of the condition PodScheduled=False: the
	// reason is [api.PodReasonUnschedulable] or
	// [api.PodReasonSchedulerError]; "" when the pod did not fail.
	Reason, Message string
	// Nominated is the node that the pod is nominated to, "" for none.
	Nominated string
	// Victims are the pods that have to leave that node.
	Victims []framework.Victim
}

// BinderFunc makes a [Binder] of a function.
type BinderFunc func(ctx context.Context, pod *api.Pod, node string) error

// Bind calls f.
func (f BinderFunc) Bind(ctx context.Context, pod *api.Pod, node string) error {
	return f(ctx, pod, node)
}

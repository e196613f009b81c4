package lifecycle

import (
	"context"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Source delivers the events of the cluster: first one for every object that
// exists, then one for every change, including changes that the scheduler's own
// bindings cause.
type Source interface {
	// Next returns the next event. It blocks until there is one or ctx is done.
	// io.EOF means that there are no more events; any other error ends Run.
	Next(ctx context.Context) (Event, error)
}

// A Binder carries out decisions. Many goroutines may call its methods at once. They
// must return when ctx is done.
//
// If a Binder is also an [Evicter] or a [Reporter], the driver uses it as such.
type Binder interface {
	// Bind binds the pod to the node. If it returns nil, the pod counts as bound;
	// the source confirms it with the pod's next version.
	Bind(ctx context.Context, pod *api.Pod, node string) error
}

// An Evicter removes the victims of a preemption.
type Evicter interface {
	// Evict asks the victim to leave, to make room for the preemptor. The source
	// delivers the event that it has left.
	Evict(ctx context.Context, victim, preemptor *api.Pod) error
}

// A Reporter records what became of a pod that was not bound. The scheduling
// goroutine calls it and waits for it.
type Reporter interface {
	// Report is called after every failed attempt, and when a pod is nominated.
	Report(ctx context.Context, pod *api.Pod, r Report)
}

// A Report is what a pod's status should say.
type Report struct {
	// Reason and Message are those of the condition PodScheduled=False. The reason
	// is [api.PodReasonUnschedulable] or [api.PodReasonSchedulerError], or "" if the
	// pod did not fail.
	Reason, Message string
	// Nominated is the node that the pod is nominated to, "" for none.
	Nominated string
	// Victims are the pods that must leave that node.
	Victims []framework.Victim
}

// BinderFunc turns a function into a [Binder].
type BinderFunc func(ctx context.Context, pod *api.Pod, node string) error

// Bind calls f.
func (f BinderFunc) Bind(ctx context.Context, pod *api.Pod, node string) error {
	return f(ctx, pod, node)
}

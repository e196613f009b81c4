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
// If a Binder is also an [Evicter], a [Reporter] or a [ClaimReleaser], the driver uses it
// as such.
type Binder interface {
	// Bind binds the pod to the node. If it returns nil, the pod counts as bound;
	// the source confirms it with the pod's next version.
	Bind(ctx context.Context, pod *api.Pod, node string) error
}

// An Evicter removes the victims of a preemption.
//
// Differs: a preemptor, a pod or a pod group, that is tried again before the events about its nomination and its victims
// have come.
// Original: kube-scheduler reads both from the objects that it watches, and may evict pods of another
// node, too.
// Here: the nomination that the driver knows of counts, whether or not a [Reporter] has written it. Victims
// that were evicted count as leaving for 30 s before an event says so, and from then on until they have
// left, whatever conditions they have.
// Why: one place is enough, and the other pods would leave for nothing.
type Evicter interface {
	// Evict asks the victim to leave, to make room for the preemptor. The source
	// delivers the event that it has left. If Config.Bindings is not 0, the victims of
	// a preemption are evicted side by side, except the last one. After an error, no
	// other victim of the preemption is asked to leave that has not been asked yet.
	Evict(ctx context.Context, victim, preemptor *api.Pod) error
}

// A Reporter records what became of a pod that was not bound. If Config.Bindings is 0,
// the scheduling goroutine calls it and waits for it. Otherwise scheduling goes on
// meanwhile: a few goroutines call it, for each pod one at a time. Namespaces take turns, one
// report each.
type Reporter interface {
	// Report is called after a failed attempt, and when a pod is nominated. pod is the
	// newest version that the driver knows. Of reports that could not be sent in time,
	// only a pod's newest is, and none about a pod that has got a node meanwhile. Run
	// drops those that still wait when it stops.
	//
	// The answer to a binding may have been lost, so the pod may be on a node that the
	// driver does not know of yet. Make the version of pod a precondition of what you
	// write.
	Report(ctx context.Context, pod *api.Pod, r Report)
}

// A ClaimReleaser gives back the devices of resource claims, so that a pod may fit later.
type ClaimReleaser interface {
	// ReleaseClaim clears the claim's allocation, reservations and device status, or
	// deletes it, for the sake of the pod. It must do neither if another pod uses the
	// claim by then.
	ReleaseClaim(ctx context.Context, c framework.ClaimRelease, pod *api.Pod) error
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

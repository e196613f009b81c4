package scheduling

import (
	"context"
	"errors"
	"time"

	"github.com/berth-sched/berth/framework"
)

// A Binding takes one pod from its chosen node to the end: Permit in the scheduling
// cycle, then the binding cycle.
//
//	Schedule, Assume ▶ Permit ▶ PreFlight ▶ PreBind ▶ Bind ▶ PostBind
//	                     └─────────┴─any failure──┴─────▶ Unreserve, then forget
//
// Call its methods one after the other. Any goroutine may call each of them, except
// that the goroutine that uses the snapshot must call Unreserve. Bindings are
// independent of each other and of what their scheduler does next.
type Binding struct {
	// Pod is the pod and Node the name of its node.
	Pod  *framework.PodInfo
	Node string

	plugins *plugins
	cycle   *framework.Cycle
	node    *framework.NodeInfo
	flight  []flight // by PreBind plugin; nil until PreFlight has run
}

// flight is a PreBind plugin's announcement.
type flight struct{ skip, parallel bool }

// Binding returns the binding for the pod that Place or Assume has just put on the
// node of d.
func (s *Scheduler) Binding(pod *framework.PodInfo, d Decision) *Binding {
	c := s.reference.cycle.Detach()
	c.Pod = pod
	return &Binding{Pod: pod, Node: d.Node, plugins: &s.plugins, cycle: c, node: d.node}
}

// A PermitWait is how long one Permit plugin wants the pod to wait.
type PermitWait struct {
	Plugin string
	// Timeout is at most [framework.MaxPermitWait].
	Timeout time.Duration
}

// Permit asks the Permit plugins in order, until one rejects. A rejection is a
// [*FitError]; any other status but Success or Wait is a [*PluginError]. The pod may
// be bound if no plugin wants it to wait.
//
// Source: kube-scheduler 1.37, framework/runtime, RunPermitPlugins.
func (b *Binding) Permit(ctx context.Context) ([]PermitWait, error) {
	var waits []PermitWait
	for _, p := range b.plugins.permit {
		status, timeout := b.permit(ctx, p)
		switch {
		case status.IsSuccess():
		case status.IsRejected():
			return nil, rejection(b.Pod, p.name, status)
		case status.IsWait():
			waits = append(waits, PermitWait{p.name, min(timeout, framework.MaxPermitWait)})
		default:
			return nil, refusal("Permit", p.name, status)
		}
	}
	return waits, nil
}

func (b *Binding) permit(ctx context.Context, p named[framework.PermitPlugin]) (s framework.Status, timeout time.Duration) {
	defer catchStatus(&s)
	return p.plugin.Permit(ctx, b.cycle, b.Node)
}

// HasPreFlight reports whether PreFlight calls a plugin.
func (b *Binding) HasPreFlight() bool {
	for _, f := range b.plugins.preFlight {
		if f != nil {
			return true
		}
	}
	return false
}

// PreFlight asks the PreBind plugins what they are going to do, and reports whether
// any will act. An answer other than Success or Skip is a [*PluginError].
//
// Source: kube-scheduler 1.37, framework/runtime, RunPreBindPreFlights.
//
// Differs: a PreBind plugin that is no [framework.PreBindPreFlighter].
// Original: kube-scheduler demands PreBindPreFlight of every PreBind plugin.
// Here: it always acts, and alone.
// Why: a plugin with nothing to say beforehand needs no method.
func (b *Binding) PreFlight(ctx context.Context) (acts bool, err error) {
	b.flight = make([]flight, len(b.plugins.preBind))
	for i, p := range b.plugins.preBind {
		if b.plugins.preFlight[i] == nil {
			acts = true
			continue
		}
		parallel, status := b.preFlight(ctx, b.plugins.preFlight[i])
		switch {
		case status.IsSuccess():
			acts = true
		case !status.IsSkip():
			b.flight = nil
			if status.Code() != framework.Error {
				status = framework.AsStatus(errors.New("unsupported status " + status.String()))
			}
			return false, refusal("PreBindPreFlight", p.name, status)
		}
		b.flight[i] = flight{status.IsSkip(), parallel}
	}
	return acts, nil
}

func (b *Binding) preFlight(ctx context.Context, p framework.PreBindPreFlighter) (parallel bool, s framework.Status) {
	defer catchStatus(&s)
	return p.PreBindPreFlight(ctx, b.cycle, b.Node)
}

// Bind offers the pod first to the extender that binds, if it is interested, and
// then to the Bind plugins. The first that does not skip the pod decides; bound is
// false if all do. A rejection is a [*FitError]. Another failure is a [*PluginError]
// or, from an extender that is not ignorable, an [*ExtenderError].
//
// Source: kube-scheduler 1.37, framework/runtime, RunBindPlugins.
func (b *Binding) Bind(ctx context.Context) (bound bool, err error) {
	if e := b.extender(); e != nil {
		switch err := e.bind(ctx, b.Pod.Pod, b.Node); {
		case err == nil:
			return true, nil
		case !e.Ignorable:
			return false, err
		}
	}
	for _, p := range b.plugins.bind {
		switch status := b.bind(ctx, p); {
		case status.IsSkip():
		case status.IsSuccess():
			return true, nil
		case status.IsRejected():
			return false, rejection(b.Pod, p.name, status)
		default:
			return false, refusal("Bind", p.name, status)
		}
	}
	return false, nil
}

func (b *Binding) bind(ctx context.Context, p named[framework.BindPlugin]) (s framework.Status) {
	defer catchStatus(&s)
	return p.plugin.Bind(ctx, b.cycle, b.Node)
}

// extender returns the extender that binds the pod, nil if none does.
func (b *Binding) extender() *Extender {
	for i := range b.plugins.extenders {
		if e := &b.plugins.extenders[i]; e.Bind != nil && e.interested(b.Pod) {
			return e
		}
	}
	return nil
}

// HasBind reports whether the profile has Bind plugins, or an extender that binds
// this pod.
func (b *Binding) HasBind() bool { return len(b.plugins.bind) > 0 || b.extender() != nil }

// PostBind tells all PostBind plugins that the pod is bound. The error joins their
// panics; the pod stays bound.
func (b *Binding) PostBind(ctx context.Context) error {
	var errs []error
	for _, p := range b.plugins.postBind {
		if s := b.postBind(ctx, p); !s.IsSuccess() {
			errs = append(errs, refusal("PostBind", p.name, s))
		}
	}
	return errors.Join(errs...)
}

func (b *Binding) postBind(ctx context.Context, p named[framework.PostBindPlugin]) (s framework.Status) {
	defer catchStatus(&s)
	p.plugin.PostBind(ctx, b.cycle, b.Node)
	return s
}

// Unreserve tells all Reserve plugins, in reverse order, that the pod does not get
// its node. The cycle has the values of the scheduling cycle, and snap as its
// snapshot. If the node has left the snapshot meanwhile, the plugins get it as it
// was; what they keep per node went with it. A nil snapshot is an
// [*api.InvalidError].
func (b *Binding) Unreserve(snap *framework.Snapshot) error {
	if len(b.plugins.reserve) == 0 {
		return nil
	}
	if _, err := current(snap, b.Pod); err != nil {
		return err
	}
	node := snap.Node(b.Node)
	if node == nil {
		node = b.node
	}
	b.cycle.Snapshot = snap
	defer func() { b.cycle.Snapshot = nil }()
	return b.plugins.unreserve(b.cycle, node)
}

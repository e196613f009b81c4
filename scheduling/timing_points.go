package scheduling

import (
	"context"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// ObservePlugins makes the scheduler report, by the given clock, how long each call
// of a plugin took at the points around a decision: PreEnqueue, Reserve, Unreserve,
// PostFilter, Permit, PreBindPreFlight, PreBind, Bind and PostBind. For the points
// within a decision, use [Scheduler.Measure]. Call ObservePlugins before anything
// else; a scheduler that is not observed pays nothing. The goroutine that runs the
// plugin calls tell. Schedulers that were forked from s before ([Scheduler.Fork]), or that s
// was forked from, are not observed.
func (s *Scheduler) ObservePlugins(now func() time.Time, tell func(pod *framework.PodInfo, t PluginTime)) {
	o := observed{now, tell}
	t := &s.plugins
	t.reserve = slices.Clone(t.reserve) // forks share the lists
	for i := range t.reserve {          // every call is seen, also those about pods that concern nobody
		t.reserve[i] = concerning[framework.ReservePlugin]{observedReserve{t.reserve[i].plugin, o}, 0}
	}
	t.reserving = concernsOf(t.reserve)
	t.preFlight = slices.Clone(t.preFlight)
	for i, p := range t.preFlight {
		if p != nil {
			t.preFlight[i] = observedPreFlight{p, o}
		}
	}
	t.preEnqueue = wrap(t.preEnqueue, func(p queueing.PreEnqueuePlugin, name string) queueing.PreEnqueuePlugin {
		return observedPreEnqueue{p, o, name}
	})
	t.postFilter = wrap(t.postFilter, func(p framework.PostFilterPlugin, name string) framework.PostFilterPlugin {
		return observedPostFilter{p, o, name}
	})
	t.permit = wrap(t.permit, func(p framework.PermitPlugin, name string) framework.PermitPlugin { return observedPermit{p, o, name} })
	t.preBind = wrap(t.preBind, func(p framework.PreBindPlugin, name string) framework.PreBindPlugin {
		return observedPreBind{p, o, name}
	})
	t.bind = wrap(t.bind, func(p framework.BindPlugin, name string) framework.BindPlugin { return observedBind{p, o, name} })
	t.postBind = wrap(t.postBind, func(p framework.PostBindPlugin, name string) framework.PostBindPlugin {
		return observedPostBind{p, o, name}
	})
}

// wrap returns a copy of the list whose plugins are wrapped.
func wrap[T any](list []named[T], around func(p T, name string) T) []named[T] {
	list = slices.Clone(list)
	for i := range list {
		list[i].plugin = around(list[i].plugin, list[i].name)
	}
	return list
}

// observed is the clock and the function that gets the times.
type observed struct {
	now  func() time.Time
	tell func(*framework.PodInfo, PluginTime)
}

// done reports a call. It is deferred, so calls that panic are reported too.
func (o *observed) done(pod *framework.PodInfo, plugin, point string, since time.Time) {
	o.tell(pod, PluginTime{Plugin: plugin, Point: point, Duration: o.now().Sub(since)})
}

type observedReserve struct {
	framework.ReservePlugin
	o observed
}

func (p observedReserve) Reserve(c *framework.Cycle, node *framework.NodeInfo) framework.Status {
	defer p.o.done(c.Pod, p.Name(), "Reserve", p.o.now())
	return p.ReservePlugin.Reserve(c, node)
}

func (p observedReserve) Unreserve(c *framework.Cycle, node *framework.NodeInfo) {
	defer p.o.done(c.Pod, p.Name(), "Unreserve", p.o.now())
	p.ReservePlugin.Unreserve(c, node)
}

type observedPreFlight struct {
	framework.PreBindPreFlighter
	o observed
}

func (p observedPreFlight) PreBindPreFlight(ctx context.Context, c *framework.Cycle, node string) (bool, framework.Status) {
	defer p.o.done(c.Pod, p.Name(), "PreBindPreFlight", p.o.now())
	return p.PreBindPreFlighter.PreBindPreFlight(ctx, c, node)
}

type observedPreEnqueue struct {
	queueing.PreEnqueuePlugin
	o    observed
	name string
}

func (p observedPreEnqueue) PreEnqueue(ctx context.Context, pod *framework.PodInfo) framework.Status {
	defer p.o.done(pod, p.name, "PreEnqueue", p.o.now())
	return p.PreEnqueuePlugin.PreEnqueue(ctx, pod)
}

type observedPostFilter struct {
	framework.PostFilterPlugin
	o    observed
	name string
}

func (p observedPostFilter) PostFilter(ctx context.Context, c *framework.Cycle, v framework.Verdicts) (framework.PostFiltered, framework.Status) {
	defer p.o.done(c.Pod, p.name, "PostFilter", p.o.now())
	return p.PostFilterPlugin.PostFilter(ctx, c, v)
}

type observedPermit struct {
	framework.PermitPlugin
	o    observed
	name string
}

func (p observedPermit) Permit(ctx context.Context, c *framework.Cycle, node string) (framework.Status, time.Duration) {
	defer p.o.done(c.Pod, p.name, "Permit", p.o.now())
	return p.PermitPlugin.Permit(ctx, c, node)
}

type observedPreBind struct {
	framework.PreBindPlugin
	o    observed
	name string
}

func (p observedPreBind) PreBind(ctx context.Context, c *framework.Cycle, node string) framework.Status {
	defer p.o.done(c.Pod, p.name, "PreBind", p.o.now())
	return p.PreBindPlugin.PreBind(ctx, c, node)
}

type observedBind struct {
	framework.BindPlugin
	o    observed
	name string
}

func (p observedBind) Bind(ctx context.Context, c *framework.Cycle, node string) framework.Status {
	defer p.o.done(c.Pod, p.name, "Bind", p.o.now())
	return p.BindPlugin.Bind(ctx, c, node)
}

type observedPostBind struct {
	framework.PostBindPlugin
	o    observed
	name string
}

func (p observedPostBind) PostBind(ctx context.Context, c *framework.Cycle, node string) {
	defer p.o.done(c.Pod, p.name, "PostBind", p.o.now())
	p.PostBindPlugin.PostBind(ctx, c, node)
}

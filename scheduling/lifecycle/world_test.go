package lifecycle_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// world is everything outside a driver on a virtual clock: it binds, evicts and
// receives reports, and confirms bindings by events if confirm is set.
type world struct {
	tb       testing.TB
	ctx      context.Context
	clock    *virtualclock.Clock
	handle   *lifecycle.Handle
	d        *lifecycle.Driver
	confirm  bool
	refuse   func(pod *api.Pod, node string) error
	forbid   error // of every eviction
	bound    map[string]string
	evicted  []string
	reports  []string
	problems []string
}

func newWorld(tb testing.TB, profiles ...scheduling.Profile) *world {
	tb.Helper()
	return newWorldWith(tb, lifecycle.Config{Profiles: profiles}, lifecycle.NewHandle())
}

func newWorldWith(tb testing.TB, c lifecycle.Config, h *lifecycle.Handle) *world {
	tb.Helper()
	w := &world{tb: tb, ctx: context.Background(), clock: virtualclock.New(epoch), handle: h, bound: map[string]string{}}
	c.Binder, c.Clock, c.Handle = w, w.clock, w.handle
	c.ErrorHandler = func(err error) { w.problems = append(w.problems, err.Error()) }
	d, err := lifecycle.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	w.d = d
	return w
}

func (w *world) Bind(_ context.Context, pod *api.Pod, node string) error {
	if w.refuse != nil {
		if err := w.refuse(pod, node); err != nil {
			return err
		}
	}
	if on := w.bound[pod.Name]; on != "" {
		w.tb.Errorf("pod %s is bound to %s, and was to %s already", pod.Name, node, on)
	}
	w.bound[pod.Name] = node
	if w.confirm {
		w.d.Apply(lifecycle.Update(onNode(pod, node)))
	}
	return nil
}

func (w *world) Evict(_ context.Context, victim, preemptor *api.Pod) error {
	w.evicted = append(w.evicted, victim.Name+" for "+preemptor.Name)
	return w.forbid
}

func (w *world) Report(_ context.Context, pod *api.Pod, r lifecycle.Report) {
	w.reports = append(w.reports, fmt.Sprintf("%s %s %s nominated %q", pod.Name, r.Reason, r.Message, r.Nominated))
}

// onNode is the pod's next version, on a node.
func onNode(pod *api.Pod, node string) *api.Pod {
	p := api.Clone(pod)
	p.Spec.NodeName = node
	return p
}

func (w *world) nodes(nodes ...api.NodeBuilder) {
	for _, n := range nodes {
		w.d.Apply(lifecycle.Update(n.Obj()))
	}
}

func (w *world) pods(pods ...api.PodBuilder) {
	for _, p := range pods {
		w.d.Apply(lifecycle.Update(p.Obj()))
	}
}

// all makes attempts until no pod is ready.
func (w *world) all() []lifecycle.Attempt {
	var list []lifecycle.Attempt
	for {
		a, ok := w.d.ScheduleOne(w.ctx)
		if !ok {
			return list
		}
		list = append(list, a)
	}
}

// one makes the only attempt that is possible.
func (w *world) one() lifecycle.Attempt {
	w.tb.Helper()
	a, ok := w.d.ScheduleOne(w.ctx)
	if !ok {
		w.tb.Fatal("no pod is ready")
	}
	return a
}

func (w *world) pass(d time.Duration) {
	w.clock.Advance(d)
	w.d.Flush(w.ctx)
}

// wantProblem checks that the error handler got an error with each of the texts.
func (w *world) wantProblem(texts ...string) {
	w.tb.Helper()
	w.d.Flush(w.ctx)
	for _, text := range texts {
		if !slices.ContainsFunc(w.problems, func(p string) bool { return strings.Contains(p, text) }) {
			w.tb.Errorf("problems: %q, want one with %q", w.problems, text)
		}
	}
}

func (w *world) depth(want queue.Length) {
	w.tb.Helper()
	if got := w.d.QueueLength(); got != want {
		w.tb.Errorf("QueueLength() = %+v, want %+v", got, want)
	}
}

// on lists the names of the pods on a node of the snapshot, sorted.
func (w *world) on(node string) []string {
	n := w.d.Snapshot().Node(node)
	if n == nil {
		return nil
	}
	names := []string{}
	for _, p := range n.Pods {
		names = append(names, p.Pod.Name)
	}
	slices.Sort(names)
	return names
}

func (w *world) wantOn(node string, want ...string) {
	w.tb.Helper()
	if want == nil {
		want = []string{}
	}
	if got := w.on(node); !slices.Equal(got, want) {
		w.tb.Errorf("node %s holds %v, want %v", node, got, want)
	}
}

func (w *world) noProblems() {
	w.tb.Helper()
	if len(w.problems) > 0 {
		w.tb.Errorf("problems: %q", w.problems)
	}
}

// probe is a plugin for every point. It logs its calls, and answers with the entry
// of answers for "point name"; point is named as in the framework.
type probe struct {
	name    string
	calls   *[]string
	answers map[string]framework.Status
	timeout time.Duration
	flights map[string]bool // parallel, by name; nil: no preflight
}

func (p probe) Name() string { return p.name }

func (p probe) call(point string) framework.Status {
	*p.calls = append(*p.calls, point+" "+p.name)
	return p.answers[point+" "+p.name]
}

func (p probe) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return p.answers["Filter "+p.name]
}

func (p probe) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	return p.call("Reserve")
}

func (p probe) Unreserve(c *framework.Cycle, n *framework.NodeInfo) {
	if c.Snapshot == nil || n == nil {
		panic("Unreserve without a snapshot or a node")
	}
	p.call("Unreserve")
}

func (p probe) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	return p.call("Permit"), p.timeout
}

func (p probe) PreBind(context.Context, *framework.Cycle, string) framework.Status {
	return p.call("PreBind")
}

func (p probe) Bind(context.Context, *framework.Cycle, string) framework.Status {
	return p.call("Bind")
}

func (p probe) PostBind(context.Context, *framework.Cycle, string) { p.call("PostBind") }

// flyer is a probe that also implements PreBindPreFlight.
type flyer struct{ probe }

func (p flyer) PreBindPreFlight(context.Context, *framework.Cycle, string) (bool, framework.Status) {
	return p.flights[p.name], p.call("PreFlight")
}

// probes makes a profile of probes for all points after Filter.
func probes(calls *[]string, answers map[string]framework.Status, timeouts map[string]time.Duration, names ...string) scheduling.Profile {
	var p scheduling.Profile
	for _, name := range names {
		var pl framework.Plugin = probe{name: name, calls: calls, answers: answers, timeout: timeouts[name]}
		p.Reserve = append(p.Reserve, pl)
		p.Permit = append(p.Permit, pl)
		p.PreBind = append(p.PreBind, pl)
		p.Bind = append(p.Bind, pl)
		p.PostBind = append(p.PostBind, pl)
	}
	return p
}

// panicker panics at one point.
type panicker struct {
	flyer
	point string
}

func (p panicker) at(point string) {
	if p.point == point {
		panic("oh")
	}
}

func (p panicker) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	p.at("Reserve")
	return p.flyer.Reserve(c, n)
}

func (p panicker) Permit(ctx context.Context, c *framework.Cycle, n string) (framework.Status, time.Duration) {
	p.at("Permit")
	return p.flyer.Permit(ctx, c, n)
}

func (p panicker) PreBindPreFlight(ctx context.Context, c *framework.Cycle, n string) (bool, framework.Status) {
	p.at("PreFlight")
	return p.flyer.PreBindPreFlight(ctx, c, n)
}

func (p panicker) PreBind(ctx context.Context, c *framework.Cycle, n string) framework.Status {
	p.at("PreBind")
	return p.flyer.PreBind(ctx, c, n)
}

func (p panicker) Bind(ctx context.Context, c *framework.Cycle, n string) framework.Status {
	p.at("Bind")
	return p.flyer.Bind(ctx, c, n)
}

func (p panicker) PostBind(ctx context.Context, c *framework.Cycle, n string) {
	p.at("PostBind")
	p.flyer.PostBind(ctx, c, n)
}

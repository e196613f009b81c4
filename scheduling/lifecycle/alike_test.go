//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// throng is a random history of a cluster that is too small: pods of few classes wait, and
// things happen to all of them, or to one.
type throng struct {
	d      *lifecycle.Driver
	handle *lifecycle.Handle
	clock  *virtualclock.Clock
	rng    *rand.Rand
	pods   map[string]*api.Pod
	serial int
	log    []string
	made   int // attempts that the driver made
	alike  int // attempts that failed with them
}

func (c *throng) note(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf("%v ", c.clock.Now().Sub(epoch))+fmt.Sprintf(format, args...))
}

func (c *throng) Bind(_ context.Context, pod *api.Pod, node string) error {
	if c.rng.IntN(40) == 0 {
		c.note("%s cannot be bound", pod.Name)
		return errors.New("no")
	}
	c.note("%s on %s", pod.Name, node)
	c.put(onNode(pod, node))
	return nil
}

func (c *throng) Evict(_ context.Context, victim, preemptor *api.Pod) error {
	c.note("%s leaves for %s", victim.Name, preemptor.Name)
	c.clock.AfterFunc(time.Duration(c.rng.IntN(3))*time.Second, func() { c.remove(victim.Name) })
	return nil
}

func (c *throng) put(p *api.Pod) {
	c.pods[p.Name] = p
	c.d.Apply(lifecycle.Update(p))
}

func (c *throng) remove(name string) {
	if p := c.pods[name]; p != nil {
		delete(c.pods, name)
		c.d.Apply(lifecycle.Delete(p))
	}
}

// one returns some pod, nil if there is none.
func (c *throng) one(when func(*api.Pod) bool) *api.Pod {
	var names []string
	for name, p := range c.pods {
		if when(p) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return c.pods[names[c.rng.IntN(len(names))]]
}

func (c *throng) arrive() {
	c.serial++
	cpu := []string{"1", "1", "2", "3"}[c.rng.IntN(4)]
	b := api.MakePod(fmt.Sprintf("p%04d", c.serial)).Requests(cpu, "1Gi").Priority([]int32{0, 0, 0, 0, 50}[c.rng.IntN(5)])
	switch c.rng.IntN(12) {
	case 0:
		b = b.Gates("shut")
	case 1:
		b = b.PodAntiAffinity("kubernetes.io/hostname", "app=lonely").Labels("app", "lonely")
	case 2:
		b = b.Requests("100", "1Gi") // too large for every node
	}
	c.put(b.Obj())
}

// step lets something happen.
func (c *throng) step() {
	waits := func(p *api.Pod) bool { return p.Spec.NodeName == "" }
	runs := func(p *api.Pod) bool { return p.Spec.NodeName != "" }
	switch k := c.rng.IntN(20); k {
	case 0, 1, 2:
		for range 1 + c.rng.IntN(6) {
			c.arrive()
		}
	case 3, 4, 5, 6, 7:
		if p := c.one(runs); p != nil {
			c.remove(p.Name)
		}
	case 8:
		if p := c.one(waits); p != nil {
			c.remove(p.Name)
		}
	case 9:
		if p := c.one(waits); p != nil {
			p = api.Clone(p)
			p.Spec.SchedulingGates = nil
			p.Labels = map[string]string{"k": fmt.Sprint(c.rng.IntN(3))}
			c.put(p)
		}
	case 10:
		if p := c.one(waits); p != nil {
			c.handle.Activate(p)
		}
	case 11:
		if p := c.one(waits); p != nil {
			c.handle.Nominate(p, fmt.Sprint("n", c.rng.IntN(4)))
		}
	case 12:
		name := fmt.Sprint("n", c.rng.IntN(5))
		if n := api.MakeNode(name, fmt.Sprint(2+c.rng.IntN(4)), "64Gi").Obj(); c.rng.IntN(3) > 0 {
			c.d.Apply(lifecycle.Update(n))
		} else {
			c.d.Apply(lifecycle.Delete(n))
		}
	case 13:
		c.clock.Advance(6 * time.Minute)
	default:
		c.clock.Advance(time.Duration(c.rng.IntN(4000)) * time.Millisecond)
	}
}

// run makes the history, and notes the whole queue whenever no pod is ready.
func (c *throng) run(t *testing.T, seed uint64, steps int, config lifecycle.Config) {
	t.Helper()
	c.clock, c.rng, c.pods = virtualclock.New(epoch), rand.New(rand.NewPCG(seed, 1)), map[string]*api.Pod{}
	c.handle = lifecycle.NewHandle()
	config.Clock, config.Handle, config.Seed = c.clock, c.handle, seed
	if config.Binder == nil {
		config.Binder = c
	}
	var err error
	if c.d, err = lifecycle.New(config); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		c.d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "4", "64Gi").Obj()))
	}
	for range 30 {
		c.arrive()
	}
	for range steps {
		for {
			a, ok := c.d.ScheduleOne(context.Background())
			if !ok {
				break
			}
			c.made++
			c.alike += a.Alike
		}
		c.note("%+v, attempt %d", c.d.QueueLength(), c.made+c.alike)
		for _, it := range c.d.Pending() {
			by := it.Rejectors
			c.note("%s %s %d %d %d %v %v %q %t", it.Pod.Pod.Name, it.Timestamp.Sub(epoch), it.Attempts, it.Unschedulable, it.Errors, by.Plugins, by.Unresolvable, it.Gate, it.Flushed)
		}
		c.step()
	}
}

// byName is a filter that tells equal pods apart.
type byName struct{}

func (byName) Name() string { return "ByName" }

func (byName) Filter(pod *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	if strings.HasSuffix(pod.Pod.Name, "7") {
		return framework.UnschedulableStatus("not on Sundays")
	}
	return framework.Status{}
}

// scopedByName is byName, and says so.
type scopedByName struct{ byName }

func (scopedByName) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldIdentity}
}

// TestAlike: pods that fail together end up as if each had been tried: the same bindings,
// evictions, attempts, backoffs and reasons.
func TestAlike(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*scheduling.Profile)
		config lifecycle.Config
		alike  bool // some pods must fail together
	}{
		{"plain", func(*scheduling.Profile) {}, lifecycle.Config{}, true},
		{"random ties", func(p *scheduling.Profile) { p.TieRule = scheduling.Random }, lifecycle.Config{}, true},
		{"full backoff", func(*scheduling.Profile) {}, lifecycle.Config{FullBackoff: true}, true},
		{"no preemption", func(p *scheduling.Profile) { p.PostFilter = nil }, lifecycle.Config{}, true},
		{"a filter that knows names", func(p *scheduling.Profile) { p.Filter = append(slices.Clip(p.Filter), byName{}) }, lifecycle.Config{}, false},
		{"a filter that says so", func(p *scheduling.Profile) { p.Filter = append(slices.Clip(p.Filter), scopedByName{}) }, lifecycle.Config{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			alike := 0
			for seed := range uint64(4) {
				throngs := map[bool]*throng{}
				for _, off := range []bool{false, true} {
					p := scheduling.Kubernetes137()
					tt.change(&p)
					p.Cache.Off = off
					config := tt.config
					config.Profiles = []scheduling.Profile{p}
					throngs[off] = &throng{}
					throngs[off].run(t, seed, 200, config)
				}
				kept, plain := throngs[false], throngs[true]
				if plain.alike != 0 {
					t.Fatalf("%d pods failed together although no answers are kept", plain.alike)
				}
				alike += kept.alike
				equalLogs(t, seed, kept.log, plain.log)
			}
			if (alike > 0) != tt.alike {
				t.Errorf("%d attempts failed with others, want any: %t", alike, tt.alike)
			}
		})
	}
}

func equalLogs(t *testing.T, seed uint64, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("seed %d, line %d:\n got %s\nwant %s\nafter\n%s", seed, i, got[i], want[i], strings.Join(want[max(0, i-5):i], "\n"))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("seed %d: %d lines, want %d", seed, len(got), len(want))
	}
}

// throngWatcher is an observer and a reporter.
type throngWatcher struct {
	*throng
	decided map[string]int // decisions by pod
}

func (w *throngWatcher) Attempt(a *lifecycle.Attempt) {
	w.decided[a.Pod.Pod.Name]++
	w.note("%s %d %d %v %v %+v", a.Pod.Pod.Name, a.Number, a.Decision.Number, a.State, a.Err, a.Queued.Sub(epoch))
	if fit := (*scheduling.FitError)(nil); errors.As(a.Err, &fit) && fit.Pod != a.Pod.Pod.Key() {
		w.note("the error is about %s", fit.Pod)
	}
}

func (w *throngWatcher) Report(_ context.Context, pod *api.Pod, r lifecycle.Report) {
	w.note("%s %s %s %s", pod.Name, r.Reason, r.Message, r.Nominated)
}

// TestAlikeWatched: an observer and a reporter learn of every attempt, in the same order and
// with the same texts.
func TestAlikeWatched(t *testing.T) {
	t.Parallel()
	for seed := range uint64(effort.Of(1, 4)) {
		logs := map[bool][]string{}
		for _, off := range []bool{false, true} {
			p := scheduling.Kubernetes137()
			p.Cache.Off = off
			w := &throngWatcher{&throng{}, map[string]int{}}
			w.run(t, seed, 150, lifecycle.Config{Profiles: []scheduling.Profile{p}, Binder: w, Observer: w})
			if w.alike != 0 {
				t.Fatalf("%d attempts are hidden from the observer", w.alike)
			}
			total := 0
			for n := range maps.Values(w.decided) {
				total += n
			}
			if total != w.made {
				t.Fatalf("the observer learned of %d attempts, %d were made", total, w.made)
			}
			logs[off] = w.log
		}
		equalLogs(t, seed, logs[false], logs[true])
	}
}

// countingFit is NodeResourcesFit that counts its hints.
type countingFit struct {
	filter.NodeResourcesFit
	hints *int
}

func (f countingFit) EventsToRegister() []queueing.EventHint {
	list := slices.Clone(f.NodeResourcesFit.EventsToRegister())
	for i := range list {
		hint := list[i].Hint
		list[i].Hint = func(p *framework.PodInfo, before, after any) (queueing.QueueingHint, error) {
			*f.hints++
			return hint(p, before, after)
		}
	}
	return list
}

// TestAlikeCosts: what a departure costs depends on the classes of waiting pods, not on how
// many wait.
func TestAlikeCosts(t *testing.T) {
	t.Parallel()
	type costs struct{ Made, Hints, Bound int }
	measure := func(waiting int) (c costs, alike int) {
		p := scheduling.Kubernetes137()
		fit := countingFit{hints: new(int)}
		for _, list := range []*[]framework.Plugin{&p.PreFilter, &p.Filter} {
			*list = slices.Clone(*list)
			for i, x := range *list {
				if x.Name() == fit.Name() {
					(*list)[i] = fit
				}
			}
		}
		clock := virtualclock.New(epoch)
		var d *lifecycle.Driver
		var running []*api.Pod
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{p}, Clock: clock,
			Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, node string) error {
				c.Bound++
				running = append(running, onNode(p, node))
				d.Apply(lifecycle.Update(running[len(running)-1]))
				return nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "4", "64Gi").Obj()))
		}
		for i := range waiting {
			d.Apply(lifecycle.Update(api.MakePod(fmt.Sprint("p", i)).Requests(fmt.Sprint(1+i%3), "1Gi").Obj()))
		}
		settle := func() {
			for {
				a, ok := d.ScheduleOne(context.Background())
				if !ok {
					return
				}
				c.Made++
				alike += a.Alike
			}
		}
		settle()
		for i := range 60 {
			if i == 10 { // from here on all backoffs are equal
				c, alike, *fit.hints = costs{}, 0, 0
			}
			clock.Advance(11 * time.Second)
			gone := running[0]
			running = running[1:]
			d.Apply(lifecycle.Delete(gone))
			settle()
		}
		c.Hints = *fit.hints
		return c, alike
	}
	few, fewAlike := measure(300)
	many, manyAlike := measure(6000)
	if few != many {
		t.Errorf("costs %+v with 300 waiting pods, %+v with 6000", few, many)
	}
	if manyAlike < 50*2000 || manyAlike < 15*fewAlike || many.Bound < 40 {
		t.Errorf("%d attempts failed together, %d with fewer waiting pods; %+v", manyAlike, fewAlike, many)
	}
	t.Logf("%+v, %d and %d attempts failed together", many, fewAlike, manyAlike)
}

// tellingFit is NodeResourcesFit that does something when it is asked the next time.
type tellingFit struct {
	filter.NodeResourcesFit
	next *func()
}

func (f tellingFit) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if tell := *f.next; tell != nil {
		*f.next = nil
		tell()
	}
	return f.NodeResourcesFit.PreFilter(c)
}

// TestAlikeWaitsForEvents: pods are not passed over while an event waits to be applied. It
// may help the next one at once.
func TestAlikeWaitsForEvents(t *testing.T) {
	ctx, clock := context.Background(), virtualclock.New(epoch)
	var next func()
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{{Filter: []framework.Plugin{tellingFit{next: &next}}}},
		Binder:   lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }), Clock: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	node := func(name, cpu string) *api.Node { return api.MakeNode(name, cpu, "8Gi").Obj() }
	d.Apply(lifecycle.Update(node("full", "1")))
	for _, name := range []string{"a", "b", "c"} {
		d.Apply(lifecycle.Update(api.MakePod(name).Requests("2", "1Gi").Obj()))
	}
	round := func() (list []lifecycle.Attempt) {
		for {
			a, ok := d.ScheduleOne(ctx)
			if !ok {
				return list
			}
			list = append(list, a)
		}
	}
	// A node wakes the pods, and is gone before they are tried.
	wake := func() {
		d.Apply(lifecycle.Update(node("gone", "2")))
		d.Apply(lifecycle.Delete(node("gone", "2")))
		d.Flush(ctx)
		clock.Advance(time.Minute)
	}
	round()
	wake()
	if list := round(); len(list) != 1 || list[0].Alike != 2 {
		t.Fatalf("%d attempts, want one for three pods that are alike", len(list))
	}
	wake()
	next = func() { d.Apply(lifecycle.Update(node("large", "8"))) }
	list := round()
	if len(list) < 3 || list[0].Alike != 0 || list[1].State != lifecycle.Bound || list[2].State != lifecycle.Bound {
		t.Errorf("%d attempts %+v, want one that fails, and two at once on the new node", len(list), list)
	}
}

package soak

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// A Phase is what one hostile user did to the others for a while.
type Phase struct {
	// Name says what was hostile.
	Name string
	// Rate is how many innocent pods were placed per second while some waited, in the
	// median round, and Relative the same as a part of the rate of a town without a hostile
	// user, which takes turns with this one.
	Rate, Relative float64
	// Least is what Relative has to be.
	Least float64
	// Heap is how many bytes were in use at the end.
	Heap uint64
	// Late counts the innocent pods that were not placed in their first attempt.
	Late int
	// Allocations is, of the last phase, how many allocations rounds with innocent pods
	// alone take, as a part of those in the town without a hostile user. Unlike a rate it is
	// the same in every run.
	Allocations float64
}

// String is a line of a table.
func (p Phase) String() string {
	return fmt.Sprintf("%-17s %8.0f pods/s %6.1f %% %6.1f MB %4d late", p.Name, p.Rate, 100*p.Relative, float64(p.Heap)/1e6, p.Late)
}

// hostility is a way of a user to hurt others; none without pods.
type hostility struct {
	name  string
	keep  int                                          // pods at a time
	first int                                          // pods that come before the first round
	least float64                                      // see Phase
	pod   func(b api.PodBuilder, i int) api.PodBuilder // makes pod i
}

// hostile are all of them.
var hostile = []hostility{
	{"labels", 200, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		return b.Labels(fmt.Sprint("k", i), fmt.Sprint("v", i), "app", fmt.Sprint("x", i))
	}},
	{"resources", 200, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		for k := range 50 {
			b = b.Request(resource.Name(fmt.Sprintf("example.com/r%d-%d", i, k)), "1")
		}
		return b
	}},
	{"topology keys", 200, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		return b.Labels("app", "mine").Spread(1, fmt.Sprint("key", i), api.ScheduleAnyway, "app=mine")
	}},
	{"terms", 200, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		name := fmt.Sprint("t", i)
		return b.Labels("app", name).PodAntiAffinity(api.LabelHostname, "app="+name).PreferPodAffinity(5, api.LabelTopologyZone, fmt.Sprint("app=t", i-1))
	}},
	{"terms of new keys", 200, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		for k := range 20 {
			b = b.PreferPodAntiAffinity(1, fmt.Sprintf("key%d-%d", i, k), "app")
		}
		return b.Labels("app", "x")
	}},
	// Such a term counts in the score of each innocent pod.
	{"terms of all", 200, 0, 0.60, func(b api.PodBuilder, _ int) api.PodBuilder {
		return b.Labels("app", "x").PreferPodAntiAffinity(1, api.LabelTopologyZone, "app")
	}},
	{"images", 200, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		return b.Image(fmt.Sprint("registry.example/i", i, ":1"))
	}},
	{"ports", 200, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		for k := range 40 {
			b = b.HostPort(int32(1 + (40*i+k)%60_000))
		}
		return b
	}},
	{"huge pods", 50, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		return b.Annotations("note", strings.Repeat("x", 200_000)).Labels("app", fmt.Sprint("h", i)).Tolerates(manyTaints(i)...)
	}},
	{"too large", 2000, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		return b.Labels("app", fmt.Sprint("l", i)).Requests("1k", "1Gi")
	}},
	{"nowhere", 2000, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder { return b.NodeSelector("no", fmt.Sprint("where", i)) }},
	{"lonely", 2000, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		return b.Labels("app", fmt.Sprint("l", i)).PodAffinity(api.LabelTopologyZone, fmt.Sprint("app=friend", i))
	}},
	{"badly spread", 2000, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		return b.Labels("app", fmt.Sprint("s", i)).Spread(1, fmt.Sprint("nowhere", i), api.DoNotSchedule, fmt.Sprint("app=s", i))
	}},
	{"gated", 2000, 0, leastRate, func(b api.PodBuilder, i int) api.PodBuilder { return b.Gates(fmt.Sprint("example.com/g", i)) }},
	{"missing claims", 2000, 2000, leastRate, func(b api.PodBuilder, i int) api.PodBuilder { return b.Claim(fmt.Sprint("none", i)) }},
	{"taken port", 2000, 2000, leastRate, func(b api.PodBuilder, i int) api.PodBuilder {
		return b.HostPort(takenPort).Labels("app", fmt.Sprint("p", i))
	}},
}

// leastRate is what the rate of innocent pods has to be beside a hostile user, as a part of that without one,
// and leastAgain after that user.
const leastRate, leastAgain = 0.80, 0.95

// manyTaints are 500 taints to tolerate.
func manyTaints(i int) []string {
	list := make([]string, 500)
	for k := range list {
		list[k] = fmt.Sprintf("k%d-%d=v:NoSchedule", i, k)
	}
	return list
}

// Tenants places innocent pods beside one hostile user, who does one thing after
// the other, and returns a phase for each. The first phase is without that user, and so
// is the last, after all of the hostile pods were deleted. rounds is the length of a
// phase: in a round 100 innocent pods come and as many go, and 5 hostile ones come.
//
// Time counts while innocent pods wait, and while others are deleted. What the driver does when it is idle, such as
// retrying hostile pods, does not.
func Tenants(rounds int) ([]Phase, error) {
	w, err := newTown()
	if err != nil {
		return nil, err
	}
	control, err := newTown() // a town without the hostile user, at the same time
	if err != nil {
		return nil, err
	}
	for range max(20, rounds) { // to fill the nodes, and to warm up
		if err := errors.Join(w.round(nil), control.round(nil)); err != nil {
			return nil, err
		}
	}
	phases := []Phase{}
	phase := func(h hostility) error {
		var c *crowd
		if h.pod != nil {
			c = &crowd{keep: h.keep, pod: h.pod}
			c.come(w, h.first)
		}
		w.took, control.took, w.late = w.took[:0], control.took[:0], 0
		for i := range rounds {
			towns := []func() error{func() error { return control.round(nil) }, func() error { return w.round(c) }}
			first := i % 2 // what comes second finds the caches as the other town leaves them
			if err := errors.Join(towns[first](), towns[1-first]()); err != nil {
				return fmt.Errorf("phase %s: %w", h.name, err)
			}
		}
		p := Phase{Name: h.name, Rate: w.rate(), Relative: w.rate() / control.rate(), Least: h.least, Late: w.late}
		if c != nil {
			c.leave(w, len(c.pods))
		}
		p.Heap = inUse()
		phases = append(phases, p)
		return nil
	}
	if err := phase(hostility{name: "alone", least: leastRate}); err != nil {
		return nil, err
	}
	for _, h := range hostile {
		if err := phase(h); err != nil {
			return phases, err
		}
	}
	if err = phase(hostility{name: "alone again", least: leastAgain}); err == nil {
		phases[len(phases)-1].Allocations, err = compareAllocations(w, control)
	}
	runtime.KeepAlive(w)
	runtime.KeepAlive(control)
	return phases, err
}

// compareAllocations returns the allocations of a town in a number of rounds as a part of
// those of another one. The rounds before them use up what the last phase has left.
func compareAllocations(w, control *town) (float64, error) {
	var counts [2]float64
	for i, x := range []*town{w, control} {
		var before, after runtime.MemStats
		for k := range 200 {
			if k == 100 {
				runtime.ReadMemStats(&before)
			}
			if err := x.round(nil); err != nil {
				return 0, err
			}
		}
		runtime.ReadMemStats(&after)
		counts[i] = float64(after.Mallocs - before.Mallocs)
	}
	return counts[0] / counts[1], nil
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// crowd is the pods of a hostile user.
type crowd struct {
	keep int
	pod  func(b api.PodBuilder, i int) api.PodBuilder
	pods []*api.Pod
	made int
}

// come creates hostile pods and deletes those that are too many.
func (c *crowd) come(w *town, n int) {
	for range n {
		c.made++
		p := c.pod(api.MakePod(fmt.Sprint("hostile-", c.made)).Namespace("hostile").Requests("1m", "1Mi"), c.made).Obj()
		inAllNamespaces(p)
		c.pods = append(c.pods, p)
		w.d.Apply(lifecycle.Update(p))
	}
	c.leave(w, max(0, len(c.pods)-c.keep))
}

// inAllNamespaces makes the preferred anti-affinity of a hostile pod select the pods of
// everybody.
func inAllNamespaces(p *api.Pod) {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return
	}
	terms := p.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	for i := range terms {
		terms[i].PodAffinityTerm.NamespaceSelector = &api.LabelSelector{}
	}
}

func (c *crowd) leave(w *town, n int) {
	for _, p := range c.pods[:n] {
		w.d.Apply(lifecycle.Delete(p))
	}
	c.pods = c.pods[n:]
	w.settle()
}

// town is a driver of 100 nodes with the pods of innocent users.
type town struct {
	d     *lifecycle.Driver
	clock *virtualclock.Clock
	live  []*api.Pod
	bound map[string]*api.Pod // innocent pods placed in this round
	made  int

	took []time.Duration // of each round
	late int
}

const (
	townNodes    = 100
	innocentLive = 1000
	innocents    = 100 // in a round
	hostiles     = 5
	townBudget   = 16 << 20 // bytes of kept answers
	takenPort    = 8080     // on all nodes
)

// TenantMemory is how many bytes more may be in use after a phase than before the first
// hostile pod: the budget of kept answers, and what is kept besides, whose bounds are
// numbers of classes, terms and waiting pods.
const TenantMemory = townBudget + 24<<20

func newTown() (*town, error) {
	w := &town{clock: virtualclock.New(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)), bound: map[string]*api.Pod{}}
	var err error
	profile := scheduling.Kubernetes137()
	profile.Cache.Budget = townBudget
	w.d, err = lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{profile}, Clock: w.clock,
		Binder: lifecycle.BinderFunc(func(_ context.Context, pod *api.Pod, node string) error {
			p := *pod
			p.Spec.NodeName = node
			if p.Namespace == "innocent" {
				w.bound[p.Name] = &p
			}
			w.d.Apply(lifecycle.Update(&p))
			return nil
		}),
	})
	if err != nil {
		return nil, err
	}
	for i := range townNodes {
		w.d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Zone(fmt.Sprint("z", i%3)).Labels(api.LabelHostname, fmt.Sprint("n", i)).Obj()))
	}
	for i := range townNodes {
		node := fmt.Sprint("n", i)
		w.d.Apply(lifecycle.Update(api.MakePod("agent-" + node).Namespace("system").HostPort(takenPort).Node(node).Obj()))
	}
	return w, nil
}

// innocent is the next innocent pod: one of eight workloads, and pods of one have a claim each.
func (w *town) innocent() *api.Pod {
	w.made++
	app := fmt.Sprint("app", w.made%8)
	b := api.MakePod(fmt.Sprint("p", w.made)).Namespace("innocent").Labels("app", app).Requests([]string{"250m", "500m", "1"}[w.made%3], "512Mi")
	if w.made%8 == 0 {
		b = b.Spread(2, api.LabelTopologyZone, api.ScheduleAnyway, "app="+app)
	}
	if w.made%8 == 1 {
		b = b.Claim(w.claim(fmt.Sprint("p", w.made), lifecycle.Update[api.PersistentVolume], lifecycle.Update[api.PersistentVolumeClaim]))
	}
	return b.Obj()
}

// claim lets a claim and the volume that it has come or go, and returns its name.
func (w *town) claim(name string, volume func(*api.PersistentVolume) lifecycle.Event, claim func(*api.PersistentVolumeClaim) lifecycle.Event) string {
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "innocent", Name: name, Annotations: map[string]string{api.AnnBindCompleted: "yes"}}}
	c.Spec.VolumeName = name
	w.d.Apply(volume(v), claim(c))
	return name
}

// leave deletes an innocent pod, with its claim.
func (w *town) leave(p *api.Pod) {
	w.d.Apply(lifecycle.Delete(p))
	if len(p.Spec.Volumes) > 0 {
		w.claim(p.Name, lifecycle.Delete[api.PersistentVolume], lifecycle.Delete[api.PersistentVolumeClaim])
	}
}

// rate is how many innocent pods were placed per second in the median round.
func (w *town) rate() float64 {
	slices.Sort(w.took)
	return innocents / w.took[len(w.took)/2].Seconds()
}

// round lets pods come and go, and measures how long the innocent ones wait.
func (w *town) round(c *crowd) error {
	w.clock.Advance(100 * time.Millisecond)
	if c != nil {
		c.come(w, hostiles)
	}
	clear(w.bound)
	var news []*api.Pod
	ctx := context.Background()
	began := time.Now()
	for range innocents {
		news = append(news, w.innocent())
	}
	for _, p := range news {
		w.d.Apply(lifecycle.Update(p))
	}
	for attempts := 0; len(w.bound) < innocents; attempts++ {
		a, ok := w.d.ScheduleOne(ctx)
		if !ok || attempts > 1_000_000 {
			return fmt.Errorf("%d of %d innocent pods were placed", len(w.bound), innocents)
		}
		if a.Pod.Pod.Namespace == "innocent" && (a.Number > 1 || a.State != lifecycle.Bound) {
			w.late++
		}
	}
	for _, p := range news {
		w.live = append(w.live, w.bound[p.Name])
	}
	for len(w.live) > innocentLive {
		w.leave(w.live[0])
		w.live = w.live[1:]
	}
	w.d.Flush(ctx)
	w.took = append(w.took, time.Since(began))
	w.settle()
	return nil
}

// settle makes attempts until no pod is ready.
func (w *town) settle() {
	for {
		if _, ok := w.d.ScheduleOne(context.Background()); !ok {
			return
		}
	}
}

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// reporter binds at once, and keeps every report until it may go on.
type reporter struct {
	open   chan struct{} // closed: reports return
	bind   func(d *api.Pod, node string) error
	mu     sync.Mutex
	bound  int
	under  map[string]int // reports under way by pod
	most   int            // at once
	got    map[string][]lifecycle.Report
	faults []string
}

func newReporter() *reporter {
	return &reporter{open: make(chan struct{}), under: map[string]int{}, got: map[string][]lifecycle.Report{}}
}

func (r *reporter) Bind(_ context.Context, pod *api.Pod, node string) error {
	if r.bind != nil {
		if err := r.bind(pod, node); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bound++
	return nil
}

func (r *reporter) Report(ctx context.Context, pod *api.Pod, report lifecycle.Report) {
	r.note(pod, 1, &report)
	select {
	case <-r.open:
	case <-ctx.Done():
	}
	r.note(pod, -1, nil)
}

func (r *reporter) note(pod *api.Pod, n int, report *lifecycle.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.under[pod.Name] += n; r.under[pod.Name] > 1 {
		r.faults = append(r.faults, "two reports at once of pod "+pod.Name)
	}
	all := 0
	for _, n := range r.under {
		all += n
	}
	r.most = max(r.most, all)
	if report != nil {
		r.got[pod.Name] = append(r.got[pod.Name], *report)
	}
}

func (r *reporter) read(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// TestReportsDoNotBlock: good pods behind unschedulable ones are bound while no report
// gets through. Then every pod's newest report does, and no other.
func TestReportsDoNotBlock(t *testing.T) {
	const bad, good = 60, 40
	r := newReporter()
	d := running(t, r, scheduling.Kubernetes137(), 8, nil)
	d.Apply(lifecycle.Update(api.MakeNode("n", "100", "100Gi").Obj()))
	for i := range bad {
		d.Apply(lifecycle.Update(api.MakePod(fmt.Sprint("bad", i)).Requests("1000", "1Gi").Priority(10).Obj()))
	}
	for i := range good {
		d.Apply(lifecycle.Update(api.MakePod(fmt.Sprint("good", i)).Requests("1", "1Gi").Obj()))
	}
	eventually(t, "all good pods are bound", func() (all bool) {
		r.read(func() { all = r.bound == good })
		return all
	})
	r.read(func() {
		if len(r.got) > 2 || r.most > 2 {
			t.Errorf("reports of %d pods are under way, %d at once; want at most 2", len(r.got), r.most)
		}
	})
	close(r.open)
	eventually(t, "every bad pod is reported", func() (all bool) {
		r.read(func() { all = len(r.got) == bad })
		return all
	})
	r.read(func() {
		if len(r.faults) > 0 {
			t.Error(r.faults)
		}
		for name, list := range r.got {
			if list[0].Reason != api.PodReasonUnschedulable {
				t.Errorf("pod %s: %+v", name, list)
			}
		}
	})
}

// TestReportsCoalesce: of the reports that a pod waits for, only the newest is sent.
func TestReportsCoalesce(t *testing.T) {
	r := newReporter()
	var attempts atomic.Int32
	d := running(t, r, scheduling.Kubernetes137(), 1, tally{&attempts})
	huge := api.MakePod("huge").Requests("1000", "1Gi").NodeSelector("kind", "good").Obj()
	const nodes = 6
	for i := range nodes {
		d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()))
	}
	d.Apply(lifecycle.Update(huge))
	eventually(t, "a report is under way", func() (any bool) {
		r.read(func() { any = len(r.got) == 1 })
		return any
	})
	for i := range nodes {
		d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Labels("kind", "good").Obj()))
		eventually(t, "another attempt", func() bool { return attempts.Load() == int32(i+2) })
	}
	close(r.open)
	eventually(t, "the newest report", func() (all bool) {
		r.read(func() { all = len(r.got["huge"]) == 2 })
		return all
	})
	r.read(func() {
		if got := r.got["huge"][1].Message; !strings.HasPrefix(got, "0/6 nodes are available: 6 Insufficient cpu.") {
			t.Errorf("the newest report says %q", got)
		}
	})
}

// scribe writes down the pods of the reports; it waits for open before each of them.
type scribe struct {
	open  chan struct{}
	mu    sync.Mutex
	order []string
}

func (*scribe) Bind(context.Context, *api.Pod, string) error { return nil }

func (s *scribe) Report(_ context.Context, pod *api.Pod, _ lifecycle.Report) {
	<-s.open
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order = append(s.order, pod.Key())
}

// TestReportsOfNamespaces: a namespace with many pods that fit nowhere delays the report about
// a pod of another one by one report.
func TestReportsOfNamespaces(t *testing.T) {
	const many = 200
	var attempts atomic.Int32
	s := &scribe{open: make(chan struct{})}
	d := running(t, s, scheduling.Kubernetes137(), 1, tally{&attempts}) // one report at a time
	d.Apply(lifecycle.Update(api.MakeNode("n", "1", "1Gi").Obj()))
	apply := func(namespace string, n int) {
		for i := range n {
			d.Apply(lifecycle.Update(api.MakePod(fmt.Sprint(i)).Namespace(namespace).Requests("1k", "1Gi").Obj()))
		}
	}
	apply("many", many)
	apply("few", 2)
	apply("one", 1)
	eventually(t, "all are tried", func() bool { return attempts.Load() == many+3 })
	close(s.open)
	want := []string{"many/0", "many/1", "few/0", "one/0", "many/2", "few/1"}
	for i := 3; i < many; i++ {
		want = append(want, fmt.Sprint("many/", i))
	}
	eventually(t, "all are reported", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.order) == len(want)
	})
	if diff := cmp.Diff(want, s.order); diff != "" {
		t.Errorf("order of the reports (-want +got):\n%s", diff)
	}
}

// tally counts attempts.
type tally struct{ n *atomic.Int32 }

func (c tally) Attempt(*lifecycle.Attempt) { c.n.Add(1) }

// TestReportAfterLostAnswer: the answer to a binding is lost, and an event says that the
// pod is on its node. A report that waits is not sent any more.
func TestReportAfterLostAnswer(t *testing.T) {
	r := newReporter()
	var failed atomic.Int32
	tried := make(chan struct{}, 100)
	r.bind = func(*api.Pod, string) error {
		tried <- struct{}{}
		return errors.New("connection lost")
	}
	d := running(t, r, scheduling.Kubernetes137(), 1, tally{&failed})
	d.Apply(
		lifecycle.Update(api.MakeNode("n", "100", "100Gi").Obj()),
		lifecycle.Update(api.MakePod("blocker").NodeSelector("no", "such-node").Obj()),
	)
	eventually(t, "a report is under way", func() (any bool) {
		r.read(func() { any = len(r.got) == 1 })
		return any
	})
	web := api.MakePod("web").Obj()
	d.Apply(lifecycle.Update(web))
	<-tried
	eventually(t, "the binding has failed", func() bool { return failed.Load() >= 2 })
	d.Apply(lifecycle.Update(onNode(web, "n")), lifecycle.Update(api.MakePod("other").NodeSelector("no", "such-node").Obj()))
	eventually(t, "the other has failed", func() bool { return failed.Load() >= 3 })
	close(r.open)
	eventually(t, "the last report is sent", func() (sent bool) {
		r.read(func() { sent = len(r.got["other"]) == 1 })
		return sent
	})
	r.read(func() {
		if len(r.got["web"]) > 0 {
			t.Errorf("reports about a pod that is bound: %+v", r.got["web"])
		}
	})
}

// crowd evicts: it returns once it has met as many others as it waits for.
type crowd struct {
	lifecycle.BinderFunc
	mu    sync.Mutex
	names []string
	meet  sync.WaitGroup
	alone bool // whether the last one came after all others had returned
	left  int
}

func (c *crowd) Evict(_ context.Context, victim, _ *api.Pod) error {
	c.mu.Lock()
	c.names = append(c.names, victim.Name)
	last := len(c.names) == victims
	if last {
		c.alone = c.left == victims-1
	}
	c.mu.Unlock()
	if !last {
		c.meet.Done()
		c.meet.Wait() // for ever, unless the others are evicted meanwhile
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left++
	return nil
}

const victims = 5

// TestEvictionsSideBySide: all victims but one are evicted at once, and that one last.
func TestEvictionsSideBySide(t *testing.T) {
	c := &crowd{BinderFunc: func(context.Context, *api.Pod, string) error { return nil }}
	c.meet.Add(victims - 1)
	d := running(t, c, scheduling.Kubernetes137(), 8, nil)
	d.Apply(lifecycle.Update(api.MakeNode("n", fmt.Sprint(victims), "100Gi").Obj()))
	for i := range victims {
		d.Apply(lifecycle.Update(api.MakePod(fmt.Sprint("low", i)).Requests("1", "1Gi").Node("n").Obj()))
	}
	d.Apply(lifecycle.Update(api.MakePod("high").Requests(fmt.Sprint(victims), "1Gi").Priority(10).Obj()))
	eventually(t, "all victims are evicted", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.left == victims
	})
	if !c.alone {
		t.Errorf("the last victim was evicted before the others had returned: %v", c.names)
	}
}

// releaser notes the claims that it is asked to release.
type releaser struct {
	lifecycle.BinderFunc
	claims chan framework.ClaimRelease
}

func (r releaser) ReleaseClaim(_ context.Context, c framework.ClaimRelease, _ *api.Pod) error {
	r.claims <- c
	return nil
}

// claimer is a PostFilter plugin that wants claims back.
type claimer struct{}

func (claimer) Name() string { return "claimer" }

func (claimer) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.UnschedulableStatus("never")
}

func (claimer) PostFilter(context.Context, *framework.Cycle, framework.Verdicts) (framework.PostFiltered, framework.Status) {
	return framework.PostFiltered{Claims: []framework.ClaimRelease{{Claim: "default/a"}, {Claim: "default/b", Delete: true}}}, framework.UnschedulableStatus("claims")
}

// TestReleaseClaims: claims that a PostFilter plugin wants back reach the Binder.
func TestReleaseClaims(t *testing.T) {
	r := releaser{nil, make(chan framework.ClaimRelease, 2)}
	d := running(t, r, scheduling.Profile{Filter: []framework.Plugin{claimer{}}, PostFilter: []framework.Plugin{claimer{}}}, 2, nil)
	d.Apply(lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()), lifecycle.Update(api.MakePod("p").Obj()))
	want := []framework.ClaimRelease{{Claim: "default/a"}, {Claim: "default/b", Delete: true}}
	if diff := cmp.Diff(want, []framework.ClaimRelease{<-r.claims, <-r.claims}); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

// indifferent is a claimer that no event helps.
type indifferent struct{ claimer }

func (indifferent) EventsToRegister() []queueing.EventHint { return nil }

// stubborn is a releaser that fails the first so many times.
type stubborn struct {
	lifecycle.BinderFunc
	fails *int
}

func (r stubborn) ReleaseClaim(context.Context, framework.ClaimRelease, *api.Pod) error {
	*r.fails--
	if *r.fails >= 0 {
		return errors.New("slow")
	}
	return nil
}

// TestReleaseFails: a pod whose claims could not be asked for is tried again after its backoff, and
// no other pod with it.
func TestReleaseFails(t *testing.T) {
	fails, problems, clock := 3, 0, virtualclock.New(epoch)
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{{Filter: []framework.Plugin{indifferent{}}, PostFilter: []framework.Plugin{indifferent{}}}},
		Binder:   stubborn{nil, &fails}, Clock: clock, ErrorHandler: func(error) { problems++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	attempts := func() (n int) {
		for {
			if _, ok := d.ScheduleOne(t.Context()); !ok {
				return n
			}
			n++
		}
	}
	d.Apply(lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()), lifecycle.Update(api.MakePod("p").UID("p").Obj()))
	for i, want := range []int{1, 1, 1, 0} { // two claims fail, then one, then none
		if got := attempts(); got != want {
			t.Errorf("round %d: %d attempts, want %d", i, got, want)
		}
		clock.Advance(time.Minute)
	}
	if problems != 3 {
		t.Errorf("%d problems, want 3", problems)
	}
	fails = 2
	d.Apply(lifecycle.Update(api.MakePod("q").UID("q").Obj()))
	if got := attempts(); got != 1 {
		t.Errorf("%d attempts when another pod came, want 1", got)
	}
	clock.Advance(time.Minute)
	if got := attempts(); got != 1 {
		t.Errorf("%d attempts after it failed, want 1", got)
	}
}

// slow is a releaser and an evicter that takes long, and keeps what is reported.
type slow struct {
	lifecycle.BinderFunc
	begun, end chan struct{}
	reports    chan lifecycle.Report
}

func (s slow) ReleaseClaim(_ context.Context, c framework.ClaimRelease, _ *api.Pod) error {
	if c.Claim == "default/a" {
		close(s.begun)
		<-s.end
	}
	return nil
}

func (s slow) Evict(context.Context, *api.Pod, *api.Pod) error {
	close(s.begun)
	<-s.end
	return nil
}

func (s slow) Report(_ context.Context, _ *api.Pod, r lifecycle.Report) { s.reports <- r }

// TestNominationIsWithdrawnMeanwhile: a nomination that is withdrawn while claims are released, or
// victims evicted, stays withdrawn.
func TestNominationIsWithdrawnMeanwhile(t *testing.T) {
	for name, profile := range map[string]scheduling.Profile{
		"claims":  {Filter: []framework.Plugin{indifferent{}}, PostFilter: []framework.Plugin{indifferent{}}},
		"victims": scheduling.Kubernetes137(),
	} {
		b := slow{nil, make(chan struct{}), make(chan struct{}), make(chan lifecycle.Report, 1)}
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{profile}, Binder: b, Bindings: 1, Clock: virtualclock.New(epoch), ErrorHandler: func(err error) { t.Error(err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		pod := api.MakePod("p").UID("p").Requests("3", "1Gi").Priority(10)
		d.Apply(
			lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()), lifecycle.Update(api.MakePod("low").Requests("3", "1Gi").Node("n").Obj()),
			lifecycle.Update(pod.Nominated("n").Obj()),
		)
		d.ScheduleOne(t.Context())
		<-b.begun
		if n := d.Snapshot().Nominations(); n != 1 {
			t.Fatalf("%s: %d nominations, want 1", name, n)
		}
		d.Apply(lifecycle.Update(pod.Obj()))
		d.Flush(t.Context())
		close(b.end)
		eventually(t, "the attempt is reported", func() bool {
			d.Flush(t.Context())
			return len(b.reports) > 0
		})
		if r := <-b.reports; r.Nominated != "" || d.Snapshot().Nominations() > 0 {
			t.Errorf("%s: nominated to %q, %d nominations, want none", name, r.Nominated, d.Snapshot().Nominations())
		}
	}
}

// TestReportsOfGonePods: pods come and go while no report gets through. What waits to be
// reported of them goes with them.
func TestReportsOfGonePods(t *testing.T) {
	const pods = 300
	r := newReporter()
	var attempts atomic.Int32
	d := running(t, r, scheduling.Kubernetes137(), 4, tally{&attempts})
	d.Apply(lifecycle.Update(api.MakeNode("n", "1", "1Gi").Obj()))
	var all []weak.Pointer[api.Pod]
	for i := range pods {
		p := api.MakePod(fmt.Sprint("p", i)).Requests("1000", "1Gi").Obj()
		all = append(all, weak.Make(p))
		d.Apply(lifecycle.Update(p))
	}
	eventually(t, "all are tried", func() bool { return attempts.Load() >= pods })
	for i := range pods {
		d.Apply(lifecycle.Delete(api.MakePod(fmt.Sprint("p", i)).Obj()))
	}
	eventually(t, "all but those that are being reported are forgotten", func() bool {
		runtime.GC()
		left := 0
		for _, p := range all {
			if p.Value() != nil {
				left++
			}
		}
		return left <= 4 // one is under way, and the scheduler holds some
	})
	close(r.open)
}

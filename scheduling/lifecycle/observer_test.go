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
	"github.com/google/go-cmp/cmp"
)

// watcher logs every observer call.
type watcher struct{ log []string }

func (w *watcher) Attempt(a *lifecycle.Attempt) {
	w.log = append(w.log, fmt.Sprintf("attempt %d of %s: %v on %q after %v", a.Number, a.Pod.Pod.Name, a.State, a.Decision.Node, a.Ended.Sub(a.Started)))
}

func (w *watcher) Point(p lifecycle.PointTiming) {
	w.log = append(w.log, fmt.Sprintf("%s of %s: %v, %v in %v", p.Point, p.Pod.Pod.Name, p.Code, p.Err, p.Duration))
}

func (w *watcher) Scores(e *scheduling.Explanation) {
	var lines []string
	for _, n := range e.Nodes {
		lines = append(lines, fmt.Sprintf("%s=%d", n.Node, n.Total))
	}
	w.log = append(w.log, "scores "+strings.Join(lines, " ")+" chosen "+e.Chosen)
}

func (w *watcher) Queue(d queue.Length) { w.log = append(w.log, fmt.Sprintf("queue %+v", d)) }

func TestObserver(t *testing.T) {
	o := &watcher{}
	p := scheduling.Kubernetes137()
	p.Permit = []framework.Plugin{patient{"slow"}}
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{p}, Observer: o}, lifecycle.NewHandle())
	w.nodes(api.MakeNode("a", "4", "8Gi"), api.MakeNode("b", "8", "16Gi"))
	w.pods(api.MakePod("slow").Requests("1", "1Gi"))
	w.all()
	w.clock.Advance(7 * time.Second)
	w.handle.WaitingPods()[0].Allow("patient")
	w.d.Flush(w.ctx)
	w.pods(api.MakePod("huge").Requests("100", "1Gi"))
	w.all()
	var got []string
	for _, line := range o.log {
		if strings.HasPrefix(line, "scores") {
			line = "scores ... " + line[strings.Index(line, "chosen"):]
		}
		if strings.HasPrefix(line, "PreBindPreFlight") && !strings.HasPrefix(line, "PreBindPreFlight of slow: Skip, <nil>") {
			t.Errorf("a preflight with nothing to do: %s", line)
		}
		if !strings.HasPrefix(line, "PreBind") && !strings.HasPrefix(line, "PostBind") {
			got = append(got, line)
		}
	}
	want := []string{
		"Schedule of slow: Success, <nil> in 0s",
		"scores ... chosen b",
		"Assume of slow: Success, <nil> in 0s",
		"Permit of slow: Wait, <nil> in 0s",
		"Bind of slow: Success, <nil> in 0s",
		`attempt 1 of slow: Bound on "b" after 7s`,
		"queue {Active:0 Backoff:0 Unschedulable:0 Gated:0 InFlight:0}",
	}
	if len(got) < len(want) {
		t.Fatalf("log %q", got)
	}
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	rest := got[len(want):]
	for _, part := range []string{"Schedule of huge: Success, 0/2 nodes", "PostFilter of huge: Unschedulable, <nil>", `attempt 1 of huge: Failed on ""`, "Unschedulable:1"} {
		if !slices.ContainsFunc(rest, func(line string) bool { return strings.Contains(line, part) }) {
			t.Errorf("nothing says %q: %q", part, rest)
		}
	}
}

// timer counts the reports per plugin.
type timer struct {
	watcher
	told map[string]int
}

func (w *timer) Plugin(p lifecycle.PluginTiming) {
	w.told[p.Pod.Pod.Name+": "+p.Point+" "+p.Plugin]++
}

// TestPluginObserver: plugins within and around decisions are reported once per
// attempt, and the decisions are those of a driver without an observer.
func TestPluginObserver(t *testing.T) {
	o := &timer{told: map[string]int{}}
	p := scheduling.Kubernetes137()
	p.Permit = []framework.Plugin{patient{"nobody"}}
	var decisions [2][]string
	for i, observer := range []lifecycle.Observer{nil, o} {
		w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{p}, Observer: observer}, lifecycle.NewHandle())
		w.nodes(api.MakeNode("a", "4", "8Gi"), api.MakeNode("b", "4", "8Gi"))
		w.pods(api.MakePod("p").Requests("1", "1Gi"), api.MakePod("q").Requests("1", "1Gi"), api.MakePod("huge").Requests("9", "1Gi"))
		for _, a := range w.all() {
			decisions[i] = append(decisions[i], fmt.Sprintf("%s %+v %v", a.Pod.Pod.Name, a.Decision.Node, a.Err))
		}
	}
	if diff := cmp.Diff(decisions[0], decisions[1]); diff != "" {
		t.Errorf("decisions without and with an observer (-without +with):\n%s", diff)
	}
	for _, want := range []string{
		"p: PreEnqueue SchedulingGates", "p: PreFilter NodeResourcesFit", "q: Filter TaintToleration", "q: Score NodeResourcesFit",
		"p: Permit patient", "q: Reserve VolumeBinding", "huge: Filter NodeResourcesFit", "huge: PostFilter DefaultPreemption",
	} {
		if o.told[want] != 1 {
			t.Errorf("%q was told %d times, want once; all: %v", want, o.told[want], o.told)
		}
	}
	if n := o.told["huge: Score NodeResourcesFit"]; n > 0 {
		t.Errorf("scores of a pod that fits nowhere were measured %d times", n)
	}
}

// firsts keeps when pods were first ready for an attempt.
type firsts struct{ at map[string]time.Time }

func (f firsts) Attempt(a *lifecycle.Attempt) {
	if a.State == lifecycle.Bound {
		f.at[a.Pod.Pod.Name] = a.InitialAttempt
	}
}

// The time behind a gate does not count, the time in the queue after a failure does.
func TestInitialAttempt(t *testing.T) {
	o := firsts{map[string]time.Time{}}
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Observer: o}, lifecycle.NewHandle())
	gated := api.MakePod("gated").Requests("1", "1Gi").Gates("wait")
	w.pods(gated, api.MakePod("early").Requests("1", "1Gi"))
	w.all()
	begin := w.clock.Now()
	w.clock.Advance(time.Minute)
	w.pods(api.MakePod("gated").Requests("1", "1Gi"))
	w.all()
	opened := w.clock.Now()
	w.clock.Advance(time.Minute)
	w.nodes(api.MakeNode("a", "4", "8Gi"))
	w.all()
	w.clock.Advance(time.Minute)
	w.all()
	if got := o.at["early"]; !got.Equal(begin) {
		t.Errorf("early was first ready at %v, want %v", got, begin)
	}
	if got := o.at["gated"]; !got.Equal(opened) {
		t.Errorf("gated was first ready at %v, want %v, when its gate was taken away", got, opened)
	}
}

// flock is an observer that lets pods fail together, and a reporter.
type flock struct {
	attempts, alike, reports int
}

func (c *flock) Attempt(*lifecycle.Attempt)                         { c.attempts++ }
func (c *flock) Alike(n int)                                        { c.alike += n }
func (c *flock) Bind(context.Context, *api.Pod, string) error       { return nil }
func (c *flock) Report(context.Context, *api.Pod, lifecycle.Report) { c.reports++ }

// TestAlikeObserver wakes a hundred pods that fit nowhere: one attempt and one report is
// made, and the driver knows of each how often it was tried, and why it waits.
func TestAlikeObserver(t *testing.T) {
	c, clock := new(flock), virtualclock.New(epoch)
	d, err := lifecycle.New(lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Binder: c, Observer: c, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	const n = 100
	settle := func(wait time.Duration) {
		if err := d.Simulate(t.Context(), clock, clock.Now().Add(wait)); err != nil {
			t.Fatal(err)
		}
	}
	d.Apply(lifecycle.Update(api.MakeNode("a", "4", "64Gi").Obj()))
	var pods []*api.Pod
	for i := range n {
		pods = append(pods, api.MakePod(fmt.Sprint("p", i)).Requests("100", "1Gi").Obj())
		d.Apply(lifecycle.Update(pods[i]))
	}
	settle(time.Minute)
	if *c != (flock{n, 0, n}) {
		t.Errorf("at first %+v, want an attempt and a report of each", *c)
	}
	d.Apply(lifecycle.Update(api.MakeNode("b", "4", "64Gi").Obj()))
	settle(5 * time.Minute) // all are tried again
	if *c != (flock{n + 1, n - 1, n + 1}) {
		t.Errorf("after that %+v, want one more attempt, with all others", *c)
	}
	d.Apply(lifecycle.Delete(pods[7]))
	d.Flush(t.Context())
	for i, p := range pods {
		attempts, message, ok := d.Failures(p)
		if want := "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."; ok == (i == 7) || ok && (attempts != 2 || message != want) {
			t.Errorf("pod %d: %d attempts, %q, %t; want 2, %q", i, attempts, message, ok, want)
		}
	}
}

// tallied is an observer that only counts.
type tallied struct{ attempts, alike int }

func (o *tallied) Attempt(*lifecycle.Attempt) { o.attempts++ }
func (o *tallied) Alike(n int)                { o.alike += n }

func ExampleAlikeObserver() {
	counts, clock := new(tallied), virtualclock.New(epoch)
	d, err := lifecycle.New(lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Binder: new(flock), Observer: counts, Clock: clock})
	if err != nil {
		panic(err)
	}
	var _ lifecycle.AlikeObserver = counts
	d.Apply(lifecycle.Update(api.MakeNode("a", "4", "64Gi").Obj()))
	last := api.MakePod("p99").Requests("100", "1Gi").Obj()
	for i := range 99 {
		d.Apply(lifecycle.Update(api.MakePod(fmt.Sprint("p", i)).Requests("100", "1Gi").Obj()))
	}
	d.Apply(lifecycle.Update(last))
	if err := d.Simulate(context.Background(), clock, epoch.Add(12*time.Minute)); err != nil { // each is tried again after 5 and after 10 minutes
		panic(err)
	}
	attempts, message, _ := d.Failures(last)
	fmt.Println(counts.attempts, "attempts, and", counts.alike, "with them")
	fmt.Println(attempts, "of the last pod:", strings.SplitAfter(message, ".")[0])
	// Output:
	// 102 attempts, and 198 with them
	// 3 of the last pod: 0/1 nodes are available: 1 Insufficient cpu.
}

// TestPluginObserverAndAFilterThatPanics: an observer of plugins measures the filters once more, about all nodes. That one
// of them panics is an error of the pod, as without the observer.
func TestPluginObserverAndAFilterThatPanics(t *testing.T) {
	p := scheduling.Kubernetes137()
	p.Filter = append(p.Filter, allergic{})
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{p}, Observer: stoic{}}, lifecycle.NewHandle())
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	w.pods(api.MakePod("peanut"), api.MakePod("other"))
	if a := w.one(); a.State != lifecycle.Failed || a.Err == nil {
		t.Errorf("attempt: %+v, want one that failed", a)
	}
	if a := w.one(); a.State != lifecycle.Bound {
		t.Errorf("attempt: %+v, want a pod that is bound", a)
	}
}

// allergic is a filter that panics about pods of one name.
type allergic struct{}

func (allergic) Name() string { return "allergic" }

func (allergic) Filter(p *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	if p.Pod.Name == "peanut" {
		panic("oh")
	}
	return framework.Status{}
}

// stoic is an observer of plugins that does nothing.
type stoic struct{}

func (stoic) Attempt(*lifecycle.Attempt)    {}
func (stoic) Plugin(lifecycle.PluginTiming) {}

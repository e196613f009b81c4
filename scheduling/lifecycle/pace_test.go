package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// slowFilter takes a second for each pod whose label says so, and rejects it or fails.
type slowFilter struct{ clock *virtualclock.Clock }

func (slowFilter) Name() string { return "Slow" }

func (f slowFilter) Filter(pod *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	switch pod.Pod.Labels["slow"] {
	case "":
		return framework.Status{}
	case "a little":
		f.clock.Advance(80 * time.Millisecond)
		return framework.Status{}
	}
	f.clock.Advance(time.Second)
	if pod.Pod.Labels["slow"] == "error" {
		return framework.AsStatus(errors.New("broken"))
	}
	return framework.UnschedulableStatus("slow")
}

// paceWorld is a driver with groups of one slow pod each, and a group that does not fit and costs
// nothing.
type paceWorld struct {
	d        *lifecycle.Driver
	clock    *virtualclock.Clock
	attempts map[string]int  // of each group
	bound    map[string]bool // pods
	serial   int
	observe  func(a lifecycle.Attempt) // may be nil
}

func newPaceWorld(t *testing.T, slow int) *paceWorld {
	t.Helper()
	w := &paceWorld{clock: virtualclock.New(epoch), attempts: map[string]int{}, bound: map[string]bool{}}
	profile := scheduling.Kubernetes137()
	profile.Filter = append(profile.Filter, slowFilter{w.clock})
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}, Clock: w.clock,
		Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, _ string) error {
			if p.Labels["refused"] != "" {
				return errors.New("refused")
			}
			w.bound[p.Name] = true
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.d = d
	d.Apply(lifecycle.Update(api.MakeNode("n", "2", "16Gi").Obj()), lifecycle.Update(podGroup("cheap", 1, 0)), lifecycle.Update(groupPod("cheap", "cheap", "100", 0)))
	for i := range slow {
		name := fmt.Sprint("slow", i)
		d.Apply(lifecycle.Update(podGroup(name, 1, 0)), lifecycle.Update(w.slowPod(name, 0)))
	}
	return w
}

func (w *paceWorld) slowPod(group string, serial int) *api.Pod {
	p := groupPod(fmt.Sprint(group, "-", serial), group, "1", 0)
	p.Labels = map[string]string{"slow": "yes"}
	return p
}

// change updates a node.
func (w *paceWorld) change() {
	w.serial++
	w.d.Apply(lifecycle.Update(api.MakeNode("n", "2", "16Gi").Labels("serial", fmt.Sprint(w.serial)).Obj()))
}

// pass lets time pass, with a change every second, and makes the attempts that are due. It
// returns how much of the time the attempts took.
func (w *paceWorld) pass(length time.Duration, change func()) (part float64) {
	begin, took := w.clock.Now(), time.Duration(0)
	for w.clock.Now().Sub(begin) < length {
		change()
		for w.clock.Now().Sub(begin) < length {
			before := w.clock.Now()
			a, ok := w.d.ScheduleOne(context.Background())
			if !ok {
				break
			}
			took += w.clock.Now().Sub(before)
			w.attempts[a.Group]++
			if w.observe != nil {
				w.observe(a)
			}
		}
		w.clock.Advance(time.Second)
	}
	return float64(took) / float64(w.clock.Now().Sub(begin))
}

// TestCostlyGroupsShareTheTime: groups whose failed attempts take long get a fifth of the time
// together, each as much as the others, whatever wakes them. Others do not wait for longer.
func TestCostlyGroupsShareTheTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	for _, slow := range []int{1, 8, 50} {
		for _, what := range []string{"a node changes", "pods are replaced"} {
			w := newPaceWorld(t, slow)
			part := w.pass(2*time.Hour, func() {
				w.change()
				for i := range slow {
					if name := fmt.Sprint("slow", i); what == "pods are replaced" {
						w.d.Apply(lifecycle.Update(w.slowPod(name, w.serial)), lifecycle.Delete(w.slowPod(name, w.serial-1)))
					}
				}
			})
			if part > 0.22 || part < 0.05 {
				t.Errorf("%d groups, %s: %.3f of the time, want a fifth or less", slow, what, part)
			}
			least, most := 1<<30, 0
			for i := range slow {
				n := w.attempts[fmt.Sprint("default/slow", i)]
				least, most = min(least, n), max(most, n)
			}
			if least < most*3/4 || most < 7200/(6*slow)/2 {
				t.Errorf("%d groups, %s: %d to %d attempts", slow, what, least, most)
			}
			w.d.Apply(lifecycle.Update(api.MakeNode("big", "200", "16Gi").Obj()))
			w.pass(12*time.Second, func() {})
			if !w.bound["cheap"] {
				t.Errorf("%d groups, %s: the other group waits too", slow, what)
			}
		}
	}
}

// A costly group that is gone, or that fits, no longer counts.
func TestCostlyGroupsAreForgotten(t *testing.T) {
	const slow = 40
	for _, what := range []string{"gone", "fits"} {
		w := newPaceWorld(t, slow)
		w.pass(time.Minute, func() {})
		w.d.Apply(lifecycle.Update(api.MakeNode("big", "64", "256Gi").Obj()))
		for i := 1; i < slow; i++ {
			pod := w.slowPod(fmt.Sprint("slow", i), 0)
			if what == "gone" {
				w.d.Apply(lifecycle.Delete(pod))
				continue
			}
			pod.Labels = nil
			w.d.Apply(lifecycle.Update(pod))
		}
		w.pass(10*time.Minute, func() {}) // until what was delayed is tried
		if bound := len(w.bound); bound != slow-1 && what == "fits" {
			t.Fatalf("%d pods fit, want %d", bound, slow-1)
		}
		w.attempts = map[string]int{}
		w.pass(10*time.Minute, w.change)
		if n := w.attempts["default/slow0"]; n < 30 {
			t.Errorf("%s: %d attempts in ten minutes for the only costly group that is left, want one in 10 s", what, n)
		}
	}
}

// Costly groups of one namespace, asleep or not, take no time from those of another one.
func TestCostlyGroupsOfOthers(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		w := newPaceWorld(t, 100)
		w.pass(4*time.Minute, func() {}) // each has failed
		if asleep {
			for i := range 100 {
				w.d.Apply(lifecycle.Delete(podGroup(fmt.Sprint("slow", i), 1, 0)))
			}
		}
		mine, pod := podGroup("mine", 1, 0), w.slowPod("mine", 0)
		mine.Namespace, pod.Namespace = "other", "other"
		w.d.Apply(lifecycle.Update(mine), lifecycle.Update(pod))
		part := w.pass(20*time.Minute, w.change)
		if n := w.attempts["other/mine"]; n < 75 {
			t.Errorf("asleep %v: %d attempts in 20 minutes, want one in 10 to 15 s", asleep, n)
		}
		if part > 0.22 {
			t.Errorf("asleep %v: %.3f of the time", asleep, part)
		}
	}
}

// A group is not tried more often because others of its pods fit each time, and leave again.
func TestCostlyGroupsThatArePartlyPlaced(t *testing.T) {
	for _, slow := range []int{1, 8} {
		w := newPaceWorld(t, slow)
		w.d.Apply(lifecycle.Update(api.MakeNode("room", "64", "1000Gi").Obj()))
		var small [8]*api.Pod
		part := w.pass(time.Hour, func() {
			w.serial++
			for i := range slow {
				if p := small[i]; p != nil && !w.bound[p.Name] {
					continue
				} else if p != nil {
					w.d.Apply(lifecycle.Delete(p))
				}
				group := fmt.Sprint("slow", i)
				small[i] = groupPod(fmt.Sprint(group, "-small-", w.serial), group, "1m", 0)
				w.d.Apply(lifecycle.Update(small[i]))
			}
		})
		if part > 0.22 || part < 0.05 || len(w.bound) < 100 {
			t.Errorf("%d groups: %.3f of the time, %d small pods are bound", slow, part, len(w.bound))
		}
	}
}

// Pods whose attempts end with an error get a fifth of the time together with the groups, each
// namespace as much as the others. Those that are gone, or fit, count no longer.
func TestCostlyPodsShareTheTime(t *testing.T) {
	w := newPaceWorld(t, 5)
	broken := func(namespace string, i int) *api.Pod {
		return api.MakePod(fmt.Sprint("broken", i)).Namespace(namespace).Labels("slow", "error").Requests("1m", "1Mi").Obj()
	}
	const many = 60
	for i := range many {
		w.d.Apply(lifecycle.Update(broken("a", i)))
	}
	w.d.Apply(lifecycle.Update(broken("b", 0)))
	w.pass(10*time.Minute, w.change) // each has failed
	of := map[string]int{}
	w.observe = func(a lifecycle.Attempt) {
		if a.Group == "" {
			of[a.Pod.Pod.Namespace]++
		}
	}
	part := w.pass(4*time.Hour, w.change)
	if part > 0.22 || part < 0.1 {
		t.Errorf("%.3f of the time, want a fifth or less", part)
	}
	// Each of three namespaces has a fifteenth, 960 s. An attempt takes two: a plugin that fails is
	// asked again on the reference path.
	if of["a"] < 350 || of["a"] > 500 || of["b"] < 350 || of["b"] > 500 {
		t.Errorf("attempts %v, want 480 or less of each", of)
	}
	for i := 1; i < many; i++ {
		if i%2 == 0 {
			w.d.Apply(lifecycle.Delete(broken("a", i)))
			continue
		}
		p := broken("a", i)
		p.Labels = nil
		w.d.Apply(lifecycle.Update(p))
	}
	w.pass(2*time.Hour, w.change) // until what was delayed is tried
	of = map[string]int{}
	w.pass(time.Hour, w.change)
	if of["a"] < 90 {
		t.Errorf("%d attempts in an hour for the only pod that is left, want one in 30 s", of["a"])
	}
}

// rejected is a pod that is rejected after some seconds.
func rejected(namespace string, i int) *api.Pod {
	return api.MakePod(fmt.Sprint("rejected", i)).Namespace(namespace).Labels("slow", "yes").Requests("1m", "1Mi").Obj()
}

// Pods that are rejected after a long attempt stand back while others are ready, whatever wakes them,
// and so do those whose bindings fail.
func TestSlowPodsStandBack(t *testing.T) {
	refused := func(_ string, i int) *api.Pod {
		p := rejected("a", i)
		p.Labels = map[string]string{"slow": "a little", "refused": "yes"}
		return p
	}
	for _, test := range []struct {
		name    string
		pod     func(namespace string, i int) *api.Pod
		pods    int
		longest time.Duration
	}{
		{"rejected after 3 s", rejected, 4, 16 * time.Second}, // all are due, or nothing else is ready
		{"binding fails after 80 ms", refused, 200, 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newPaceWorld(t, 0)
			for i := range test.pods {
				w.d.Apply(lifecycle.Update(test.pod("a", i)))
			}
			w.pass(10*time.Minute, func() {}) // each has failed
			longest, tries := w.amongOthers(10 * time.Minute)
			if longest > test.longest || tries < 40 {
				t.Errorf("others wait for up to %v; %d attempts for those that fail", longest, tries)
			}
		})
	}
}

// amongOthers lets five other pods come in each second, whose attempts take 0.4 s, and a node
// change. It returns how long one of them had to wait at most, and how many other attempts there
// were.
func (w *paceWorld) amongOthers(length time.Duration) (longest time.Duration, tries int) {
	came, begin, next := map[string]time.Time{}, w.clock.Now(), w.clock.Now()
	for w.clock.Now().Sub(begin) < length {
		w.change()
		for ; !next.After(w.clock.Now()); next = next.Add(200 * time.Millisecond) {
			p := api.MakePod(fmt.Sprint("other", w.serial, "-", next.Sub(begin))).Labels("slow", "a little").Requests("1m", "1Mi").Obj()
			w.d.Apply(lifecycle.Update(p))
			came[p.Name] = next
		}
		a, ok := w.d.ScheduleOne(context.Background())
		if !ok {
			w.clock.Advance(10 * time.Millisecond)
			continue
		}
		if at, ok := came[a.Pod.Pod.Name]; ok {
			longest = max(longest, w.clock.Now().Sub(at))
			w.d.Apply(lifecycle.Delete(a.Pod.Pod))
		} else {
			tries++
		}
	}
	return longest, tries
}

// While nothing else is ready, they do not wait.
func TestSlowRejectionsComeAtOnce(t *testing.T) {
	w := newPaceWorld(t, 0)
	for i := range 100 {
		w.d.Apply(lifecycle.Update(rejected("a", i)))
	}
	w.pass(10*time.Minute, w.change)
	begin := w.clock.Now()
	for i := range 100 {
		p := rejected("a", i)
		p.Labels = nil
		w.d.Apply(lifecycle.Update(p))
	}
	for {
		if _, ok := w.d.ScheduleOne(context.Background()); !ok {
			break
		}
	}
	if took := w.clock.Now().Sub(begin); len(w.bound) != 100 || took > time.Second {
		t.Errorf("%d of 100 pods are bound after %v", len(w.bound), took)
	}
}

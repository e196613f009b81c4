//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// A stumbler fails PreBind as many times as it says.
type stumbler struct{ times *int }

func (stumbler) Name() string { return "Stumbler" }

func (s stumbler) PreBind(context.Context, *framework.Cycle, string) framework.Status {
	if *s.times > 0 {
		*s.times--
		return framework.AsStatus(errors.New("not now"))
	}
	return framework.Status{}
}

// TestPodsThatMayNotLeave: a pod with the only device leaves its node, in whichever way, and an extension refuses that, some
// times or for long. The pod is placed again only when nothing of it remains, keeps its device then, and the device is free when it goes.
func TestPodsThatMayNotLeave(t *testing.T) {
	version := func(v, node string) *api.Pod {
		p := podWithDevice("a")
		p.ResourceVersion, p.Spec.NodeName = v, node
		return p
	}
	const forLong = 1000
	cordoned := api.MakeNode("n", "8", "32Gi").Obj()
	cordoned.Spec.Unschedulable = true
	for _, way := range []struct {
		name    string
		fails   int // bindings
		events  []lifecycle.Event
		waiting time.Duration
		then    []lifecycle.Event
	}{
		{name: "its binding fails", fails: 1},
		{name: "its binding fails, and another node takes it", fails: 1, then: []lifecycle.Event{
			lifecycle.Update(cordoned), lifecycle.Update(api.MakeNode("m", "8", "32Gi").Obj()),
		}},
		{name: "its binding is not confirmed", waiting: 2 * time.Minute, then: []lifecycle.Event{lifecycle.Update(version("2", ""))}},
		{name: "its binding is not confirmed, and its node goes and comes back", waiting: 2 * time.Minute, then: []lifecycle.Event{
			lifecycle.Delete(api.MakeNode("n", "8", "32Gi").Obj()), lifecycle.Update(api.MakeNode("n", "8", "32Gi").Obj()), lifecycle.Update(version("2", "")),
		}},
		{name: "an event takes the node away", events: []lifecycle.Event{lifecycle.Update(version("2", "n")), lifecycle.Update(version("3", ""))}},
		{name: "deleted, and there again", events: []lifecycle.Event{lifecycle.Delete(version("1", "")), lifecycle.Update(version("2", ""))}},
		{name: "its node goes and comes back", fails: 1, then: []lifecycle.Event{
			lifecycle.Delete(api.MakeNode("n", "8", "32Gi").Obj()), lifecycle.Update(api.MakeNode("n", "8", "32Gi").Obj()),
		}},
	} {
		for _, times := range []int{0, 1, 2, forLong} {
			t.Run(fmt.Sprint(way.name, " ", times), func(t *testing.T) {
				profile, fails, lit := scheduling.Kubernetes137(), way.fails, 0
				profile.PreBind = append(profile.PreBind, stumbler{&fails})
				d, clock := oneDeviceOf(t, allNodes, lifecycle.Config{Profiles: []scheduling.Profile{profile}, AssumeTTL: time.Minute})
				fuse{&lit, false}.lay(d)
				bound := func() (names []string) {
					for range 10 {
						for {
							a, ok := d.ScheduleOne(t.Context())
							if !ok {
								break
							}
							if a.State == lifecycle.Bound {
								names = append(names, a.Pod.Pod.Name)
							}
							if a.Err != nil && strings.Contains(a.Err.Error(), "still counts") && !strings.Contains(a.Err.Error(), "the fuse") {
								t.Errorf("%v does not say why", a.Err)
							}
						}
						clock.Advance(5 * time.Second)
					}
					return names
				}
				d.Apply(lifecycle.Update(podWithDevice("a")))
				d.Flush(t.Context())
				lit = times
				d.ScheduleOne(t.Context())
				d.Apply(way.events...)
				d.Flush(t.Context())
				clock.Advance(way.waiting)
				d.Flush(t.Context())
				d.Apply(way.then...)
				if times == forLong {
					if early := bound(); len(early) != 0 {
						t.Errorf("bound again while it remains: %v", early)
					}
					lit = 0
				}
				again := bound()
				if len(again) != 1 || lit != 0 {
					t.Errorf("bound again: %v, want a alone; the fuse is lit for %d times", again, lit)
				}
				node := "n"
				if d.Snapshot().Len() > 1 {
					node = "m"
				}
				d.Apply(lifecycle.Update(version("9", node)), lifecycle.Update(podWithDevice("b")))
				if others := bound(); len(others) != 0 {
					t.Errorf("%v have the device that a has", others)
				}
				pods := 0
				for _, n := range d.Snapshot().All() {
					pods += len(n.Pods)
				}
				if pods != 1 {
					t.Errorf("%d pods count, want 1", pods)
				}
				d.Apply(lifecycle.Delete(version("9", node)))
				if others := bound(); len(others) != 1 {
					t.Errorf("bound after a: %v, want b", others)
				}
				if err := d.Snapshot().Check(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestPodsThatMayNotCome: an extension panics over a pod that is on a node, once or for long. The pod counts there all the
// same, also while its node comes and goes, and the extension hears of it in the end; and nothing of it is left when it goes.
func TestPodsThatMayNotCome(t *testing.T) {
	for _, ours := range []bool{false, true} {
		for _, times := range []int{0, 1, 2, 3, 4, 5, 1000} {
			lit := 0
			w := newWorld(t, scheduling.Kubernetes137())
			w.confirm = true
			fuse{&lit, true}.lay(w.d)
			pods := framework.NewExtensionKey(func(*framework.Snapshot) roster { return roster{} }).Of(w.d.Snapshot())
			w.nodes(api.MakeNode("n", "8", "64Gi"))
			x := api.MakePod("x").UID("x").Requests("8", "1Gi").Obj()
			if ours {
				w.d.Apply(lifecycle.Update(x))
				w.all()
			}
			w.d.Flush(t.Context())
			lit = times
			node := api.MakeNode("n", "8", "64Gi").Obj()
			w.d.Apply(lifecycle.Update(onNode(x, "n")), lifecycle.Delete(node), lifecycle.Update(node))
			w.d.Apply(lifecycle.Update(api.MakePod("y").UID("y").Requests("8", "1Gi").Obj()))
			for range 5 {
				w.all()
				w.pass(time.Second)
			}
			if n := len(w.d.Snapshot().Node("n").Pods); n != 1 || w.bound["y"] != "" || !pods["x"] {
				t.Errorf("ours %t, refused %d times: %d pods on the node, y is on %q, an extension that refuses nothing knows %v", ours, times, n, w.bound["y"], pods)
			}
			lit = 0
			w.d.Apply(lifecycle.Delete(onNode(x, "n")))
			for range 10 {
				w.all()
				w.pass(time.Minute)
			}
			if w.bound["y"] != "n" || pods["x"] {
				t.Errorf("ours %t, refused %d times: y is on %q when x is gone, want n; an extension knows %v", ours, times, w.bound["y"], pods)
			}
		}
	}
}

// TestNewerVersionsThatMayNotCome: an extension panics over a newer version of a pod, which has grown in place, or does not
// let the one before go. The newer version counts, so nobody gets the room that it has taken, and the extension hears of it in the end.
func TestNewerVersionsThatMayNotCome(t *testing.T) {
	for _, times := range []int{0, 1, 2, 3, 1000, -1, -2, -1000} {
		coming, lit := times >= 0, 0
		w := newWorld(t, scheduling.Kubernetes137())
		w.confirm = true
		pods := framework.NewExtensionKey(func(*framework.Snapshot) roster { return roster{} }).Of(w.d.Snapshot())
		fuse{&lit, coming}.lay(w.d)
		w.nodes(api.MakeNode("n", "8", "64Gi"))
		w.d.Apply(lifecycle.Update(onNode(api.MakePod("x").UID("x").Requests("1", "1Gi").Obj(), "n")))
		w.d.Flush(t.Context())
		lit = max(times, -times)
		grown := onNode(api.MakePod("x").UID("x").Requests("8", "1Gi").Obj(), "n")
		w.d.Apply(lifecycle.Update(grown))
		w.d.Flush(t.Context())
		if n := w.d.Snapshot().Node("n"); len(n.Pods) != 1 || n.Pods[0].Pod != grown {
			t.Errorf("refused %d times: the node has %v, want the newer version", times, n.Pods)
		}
		lit = 0
		w.pods(api.MakePod("y").UID("y").Requests("1", "1Gi"))
		w.all()
		if w.bound["y"] != "" || !pods["x"] {
			t.Errorf("refused %d times: y is on %q, where x has grown; an extension knows %v", times, w.bound["y"], pods)
		}
	}
}

// TestGroupsWithPodsThatMayNotLeave: a pod of a group whose binding has failed may not leave its node. The group is tried
// again when nothing of the pod remains.
func TestGroupsWithPodsThatMayNotLeave(t *testing.T) {
	fails, lit := 1, 0
	profile := scheduling.Kubernetes137()
	profile.PreBind = append(profile.PreBind, stumbler{&fails})
	w := &groupWorld{world: newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}}, lifecycle.NewHandle())}
	fuse{&lit, false}.lay(w.d)
	w.nodes(api.MakeNode("n", "8", "64Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)), lifecycle.Update(groupPod("p", "g", "1", 0)))
	w.d.Flush(t.Context())
	told := 0
	for lit = 100; lit > 50; w.pass(time.Minute) {
		a, ok := w.d.ScheduleOne(t.Context())
		switch {
		case !ok || a.Err == nil:
		case strings.Contains(a.Err.Error(), "pod default/p still counts on node n, which it has left"):
			told++
		}
		if len(w.bound) != 0 {
			t.Fatalf("%v is bound while it remains", w.bound)
		}
	}
	lit = 0
	for range 20 {
		w.all()
		w.pass(time.Minute)
	}
	if n := len(w.d.Snapshot().Node("n").Pods); told == 0 || n != 1 || len(w.bound) != 1 {
		t.Errorf("told %d times why the group is not tried; later %v is bound, and %d pods count", told, w.bound, n)
	}
}

// A roster knows pods by their UIDs alone.
type roster map[api.UID]bool

func (r roster) Fork(*framework.Snapshot) framework.Extension { return maps.Clone(r) }

func (r roster) PodAdded(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	r[p.Pod.UID] = true
}

func (r roster) PodRemoved(_ *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	delete(r, p.Pod.UID)
}

// TestBoundElsewhereWhileItRemains: a pod may not leave its node, and another scheduler binds it there again, or elsewhere. In
// the end it counts where it is, once, also in the load-aware ledger, and in an extension that knows no nodes.
func TestBoundElsewhereWhileItRemains(t *testing.T) {
	for _, node := range []string{"n", "m"} {
		for _, times := range []int{1, 2, 3, 4} {
			fails, lit := 1, 0
			profile := scheduling.Kubernetes137()
			profile.PreBind = append(profile.PreBind, stumbler{&fails})
			profile.Filter = append(profile.Filter, filter.LoadAware{})
			profile.Reserve = append(profile.Reserve, estimator.Assigner{})
			w := newWorld(t, profile)
			estimator.LedgerOf(w.d.Snapshot())
			fuse{&lit, false}.lay(w.d)
			pods := framework.NewExtensionKey(func(*framework.Snapshot) roster { return roster{} }).Of(w.d.Snapshot())
			w.nodes(api.MakeNode("n", "10", "64Gi"))
			pod := api.MakePod("p").UID("p").Requests("7", "1Gi").Obj()
			w.d.Apply(lifecycle.Update(pod))
			w.d.Flush(t.Context())
			lit = times
			w.d.ScheduleOne(t.Context())
			w.nodes(api.MakeNode("m", "10", "64Gi"))
			w.d.Apply(lifecycle.Update(onNode(pod, node)))
			for range 10 {
				w.all()
				w.pass(time.Second)
			}
			for _, n := range w.d.Snapshot().All() {
				want := 0
				if n.Name() == node {
					want = 1
				}
				if len(n.Pods) != want {
					t.Errorf("%s, refused %d times: %d pods on %s, want %d", node, times, len(n.Pods), n.Name(), want)
				}
			}
			if !pods["p"] {
				t.Errorf("%s, refused %d times: an extension knows the pods %v", node, times, pods)
			}
			compareUse(t, w.d, w.clock.Now())
		}
	}
}

// TestBackDuringItsBinding: a pod with the only device is deleted while it is being bound, and events that come out of order
// say that it is there again: without a node, or on one. It is placed once its binding has ended, and its device is given to
// nobody else; and it counts in the end wherever it is, also for extensions.
func TestBackDuringItsBinding(t *testing.T) {
	for _, node := range []string{"", "n"} {
		for _, failure := range []error{nil, errors.New("not written")} {
			w := slowWriter{make(chan struct{}), make(chan error)}
			profile := scheduling.Kubernetes137()
			profile.PreBind = append(profile.PreBind, w)
			profile.Reserve = append(profile.Reserve, estimator.Assigner{})
			d, clock := oneDeviceOf(t, only("n"), lifecycle.Config{Profiles: []scheduling.Profile{profile}, Bindings: 4})
			estimator.LedgerOf(d.Snapshot())
			pods := framework.NewExtensionKey(func(*framework.Snapshot) roster { return roster{} }).Of(d.Snapshot())
			attempts := func(name string, bindings int) (errs []string) {
				for end := time.Now().Add(10 * time.Second); time.Now().Before(end); clock.Advance(time.Second) {
					a, ok := d.ScheduleOne(t.Context())
					if ok && a.Pod.Pod.Name == name && a.Err != nil {
						errs = append(errs, a.Err.Error())
					}
					select {
					case <-w.began:
						bindings--
					case <-time.After(time.Millisecond):
					}
					if bindings <= 0 && len(errs) > 0 || bindings == 0 && len(errs) == 0 && name != "b" {
						return errs
					}
				}
				return errs
			}
			d.Apply(lifecycle.Update(podWithDevice("a")))
			if errs := attempts("a", 1); len(errs) != 0 {
				t.Fatal(errs)
			}
			back := podWithDevice("a")
			back.ResourceVersion, back.Spec.NodeName = "3", node
			d.Apply(lifecycle.Delete(podWithDevice("a")), lifecycle.Update(back))
			if node == "" {
				if errs := attempts("a", 0); len(errs) == 0 || !strings.Contains(errs[0], "a binding from before it was deleted") {
					t.Errorf("a while it is being bound: %v", errs)
				}
			}
			d.Flush(t.Context())
			w.fail <- failure
			time.Sleep(10 * time.Millisecond)
			if d.Flush(t.Context()); node == "" {
				if errs := attempts("a", 1); slices.ContainsFunc(errs, func(e string) bool { return !strings.Contains(e, "a binding from before") }) {
					t.Errorf("a afterwards: %v", errs)
				}
				d.Apply(lifecycle.Update(podWithDevice("b")))
				if errs := attempts("b", 0); len(errs) == 0 {
					t.Error("b has the device that a has")
				}
				w.fail <- nil
			}
			for end := time.Now().Add(10 * time.Second); d.Counts().Binding+d.Counts().Queue.InFlight > 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
				d.Flush(t.Context())
			}
			if n := len(d.Snapshot().Node("n").Pods); n != 1 || !pods["a"] {
				t.Errorf("node %q, failure %v: %d pods on the node, want 1; an extension knows %v", node, failure, n, pods)
			}
			compareUse(t, d, clock.Now())
		}
	}
}

// TestGoneAgainDuringItsBinding: a pod with the only device is deleted while it is being bound, events say that it is there
// again, on a node, and then that it is gone for good. PreBind may yet write its claim, so nobody gets the device before
// the binding has ended.
func TestGoneAgainDuringItsBinding(t *testing.T) {
	for _, node := range []string{"n", "m", "unknown"} {
		for _, uid := range []api.UID{"a", ""} {
			w := slowWriter{make(chan struct{}), make(chan error)}
			profile := scheduling.Kubernetes137()
			profile.PreBind = append(profile.PreBind, w)
			d, clock := oneDeviceOf(t, allNodes, lifecycle.Config{Profiles: []scheduling.Profile{profile}, Bindings: 4})
			version := func(v, node string) *api.Pod {
				p := podWithDevice("a")
				p.UID, p.ResourceVersion, p.Spec.NodeName = uid, v, node
				return p
			}
			bound := func() (got bool) {
				for range 5 {
					a, ok := d.ScheduleOne(t.Context())
					got = got || ok && a.Pod.Pod.Name == "b" && a.Err == nil
					clock.Advance(time.Minute)
				}
				return got
			}
			d.Apply(lifecycle.Update(api.MakeNode("m", "8", "32Gi").Obj()), lifecycle.Update(version("1", "")))
			d.ScheduleOne(t.Context())
			<-w.began
			d.Apply(lifecycle.Delete(version("1", "")), lifecycle.Update(version("2", node)), lifecycle.Delete(version("2", node)), lifecycle.Update(podWithDevice("b")))
			if bound() {
				t.Errorf("node %q, UID %q: b has the device whose claim is being written for a", node, uid)
			}
			w.fail <- nil
			got := false
			for end := time.Now().Add(10 * time.Second); !got && time.Now().Before(end); time.Sleep(time.Millisecond) {
				got = bound()
			}
			if !got {
				t.Errorf("node %q, UID %q: b does not get the device although a is gone", node, uid)
			}
		}
	}
}

// TestTwoRemnantsOnANode: a pod is deleted while it is being bound, events out of order put it on the same node, and it is
// deleted again. Both leave the node once the extension lets them.
func TestTwoRemnantsOnANode(t *testing.T) {
	for _, lostNode := range []bool{false, true} {
		w, lit := slowWriter{make(chan struct{}), make(chan error)}, 0
		profile := scheduling.Kubernetes137()
		profile.PreBind = append(profile.PreBind, w)
		d, _ := oneDeviceOf(t, only("n"), lifecycle.Config{Profiles: []scheduling.Profile{profile}, Bindings: 4})
		fuse{&lit, false}.lay(d)
		d.Apply(lifecycle.Update(podWithDevice("a")))
		for begun := false; !begun; {
			d.ScheduleOne(t.Context())
			select {
			case <-w.began:
				begun = true
			case <-time.After(time.Millisecond):
			}
		}
		back := podWithDevice("a")
		back.ResourceVersion, back.Spec.NodeName = "3", "n"
		d.Apply(lifecycle.Delete(podWithDevice("a")), lifecycle.Update(back))
		d.Flush(t.Context())
		twins := len(d.Snapshot().Node("n").Pods)
		lit = 1000
		w.fail <- errors.New("not written")
		for end := time.Now().Add(10 * time.Second); lit == 1000 && time.Now().Before(end); time.Sleep(time.Millisecond) {
			d.Flush(t.Context())
		}
		d.Apply(lifecycle.Delete(back))
		d.Flush(t.Context())
		if n := len(d.Snapshot().Node("n").Pods); twins != 2 || n != 2 {
			t.Fatalf("%d pods, and then %d remain, want 2 and 2", twins, n)
		}
		lit = 0
		node := api.MakeNode("n", "8", "32Gi").Obj()
		if lostNode {
			d.Apply(lifecycle.Delete(node), lifecycle.Update(node))
		}
		d.Flush(t.Context())
		d.Flush(t.Context())
		if n := len(d.Snapshot().Node("n").Pods); n != 0 {
			t.Errorf("%d pods remain on the node, want none", n)
		}
		d.Apply(lifecycle.Update(podWithDevice("b")))
		if b, ok := d.ScheduleOne(t.Context()); !ok || b.Err != nil {
			t.Errorf("b, after a: %v", b.Err)
		}
	}
}

// TestRemnantsAreNoVictims: a pod that runs elsewhere is not evicted for what remains of it on a node that another pod needs.
func TestRemnantsAreNoVictims(t *testing.T) {
	fails, lit := 1, 0
	profile := scheduling.Kubernetes137()
	profile.PreBind = append(profile.PreBind, stumbler{&fails})
	w := newWorld(t, profile)
	fuse{&lit, false}.lay(w.d)
	w.nodes(api.MakeNode("n", "10", "64Gi").Zone("n"))
	pod := api.MakePod("p").UID("p").Requests("7", "1Gi").Obj()
	w.d.Apply(lifecycle.Update(pod))
	w.d.Flush(t.Context())
	lit = 1
	w.d.ScheduleOne(t.Context())
	w.nodes(api.MakeNode("m", "10", "64Gi").Zone("m"))
	high := api.MakePod("high").UID("high").Requests("7", "1Gi").Priority(10).NodeSelector(api.LabelTopologyZone, "n").Obj()
	w.d.Apply(lifecycle.Update(onNode(pod, "m")), lifecycle.Update(high))
	lit = 1
	if a, ok := w.d.ScheduleOne(t.Context()); !ok || len(a.Victims) == 0 {
		t.Fatalf("%+v has no victim: the history shows nothing", a)
	}
	for range 5 {
		w.all()
		w.pass(5 * time.Second)
	}
	if len(w.evicted) > 0 || w.bound["high"] != "n" {
		t.Errorf("evicted %v, bound %v; want nobody, and high on n", w.evicted, w.bound)
	}
}

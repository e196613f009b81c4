package lifecycle_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// keyhole is a PreEnqueue plugin that lets a pod pass if the service of its annotation exists. It says
// what it looks at if it is narrow.
type keyhole struct {
	services map[string]bool // by key
	narrow   bool
	asked    *int // how often a hint was
}

func (keyhole) Name() string { return "keyhole" }

func keyOfDoor(p *api.Pod) string { return p.Namespace + "/" + p.Annotations["key"] }

func (k keyhole) PreEnqueue(_ context.Context, p *framework.PodInfo) framework.Status {
	if !k.services[keyOfDoor(p.Pod)] {
		return framework.UnschedulableStatus(framework.Text("no key"))
	}
	return framework.Status{}
}

func (k keyhole) EventsToRegister() []queueing.EventHint {
	h := queueing.EventHint{Event: queueing.ClusterEvent{Resource: "Service", Action: queueing.ActionAdd | queueing.ActionUpdate}}
	h.Hint = func(p *framework.PodInfo, _, after any) (queueing.QueueingHint, error) {
		*k.asked++
		if s := after.(*api.Service); s.Key() != keyOfDoor(p.Pod) {
			return queueing.QueueSkip, nil
		}
		return queueing.Queue, nil
	}
	freed := queueing.EventHint{Event: queueing.ClusterEvent{Resource: "Service", Action: queueing.ActionDelete}, Frees: true}
	freed.Hint = func(*framework.PodInfo, any, any) (queueing.QueueingHint, error) {
		*k.asked++
		return queueing.Queue, nil
	}
	if k.narrow {
		h.Matters = func(_, after any) bool { return after.(*api.Service).Labels["for"] != "nobody" }
		h.Subjects = func(p *framework.PodInfo) []queueing.Subject {
			if p.Pod.Annotations["key"] == "any" {
				return []queueing.Subject{{Namespace: p.Pod.Namespace}}
			}
			return []queueing.Subject{{Namespace: p.Pod.Namespace, Key: "service", Value: p.Pod.Annotations["key"]}}
		}
		h.About = func(_, after any) []queueing.Subject {
			s := after.(*api.Service)
			if s.Labels["for"] == "everybody" {
				return []queueing.Subject{{}}
			}
			return []queueing.Subject{{Namespace: s.Namespace, Key: "service", Value: s.Name}}
		}
	}
	return []queueing.EventHint{h, freed}
}

// doors is a driver with a keyhole.
type doors struct {
	*lifecycle.Driver
	asked    int
	services map[string]bool
	pods     map[string]*api.Pod
}

func newDoors(t interface{ Fatal(args ...any) }, narrow bool) *doors {
	w := &doors{services: map[string]bool{}, pods: map[string]*api.Pod{}}
	p := scheduling.Kubernetes137()
	p.PreEnqueue = append(slices.Clone(p.PreEnqueue), keyhole{w.services, narrow, &w.asked})
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Groups: &groups.Rules{}, Clock: virtualclock.New(time.Unix(0, 0)),
		Binder: lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Driver = d
	return w
}

// put lets a pod of a group come, or change which service it needs.
func (w *doors) put(name, group, key string, version int) {
	p := groupPod(name, group, "1m", 0)
	p.UID, p.ResourceVersion, p.Annotations = api.UID(name), fmt.Sprint(version), map[string]string{"key": key}
	w.pods[name] = p
	w.Apply(lifecycle.Update(p))
	w.Flush(context.Background())
}

func (w *doors) service(name, label string, version int) {
	s := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: fmt.Sprint(version), Labels: map[string]string{"for": label}}}
	w.services[s.Key()] = true
	w.Apply(lifecycle.Update(s))
	w.Flush(context.Background())
}

func (w *doors) removeService(name string) {
	s := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
	delete(w.services, s.Key())
	w.Apply(lifecycle.Delete(s))
	w.Flush(context.Background())
}

// open lists the pods by which groups are in the queue.
func (w *doors) open() (names []string) {
	for _, it := range w.Pending() {
		names = append(names, it.Pod.Pod.Name)
	}
	return names
}

// An event asks about no group that a gate keeps out if it is about what the bars of others look at,
// however many they are, or helps nobody, or frees what others use.
func TestShutGroupsAreAskedAboutTheirObjects(t *testing.T) {
	w := newDoors(t, true)
	for i := range 50 {
		name := fmt.Sprint("g", i)
		w.Apply(lifecycle.Update(podGroup(name, 1, 0)))
		w.put("p-"+name, name, name, i+1)
	}
	w.Apply(lifecycle.Update(podGroup("all", 1, 0)))
	w.put("p-all", "all", "any", 100)
	for i, step := range []struct {
		what string
		do   func()
		asks int
		open int
	}{
		{"a service of others", func() { w.service("other", "", 1) }, 1, 0}, // the pod that looks at any
		{"one that helps nobody", func() { w.service("other", "nobody", 2) }, 0, 0},
		{"one that goes", func() { w.removeService("other") }, 0, 0},
		{"that of a group", func() { w.service("g7", "", 3) }, 2, 1},
		{"one that is about everything", func() { w.service("other", "everybody", 4) }, 50, 1},
		{"a pod looks at another service", func() { w.put("p-g8", "g8", "new", 101) }, 0, 1},
		{"what it looked at", func() { w.service("g8", "", 5) }, 1, 1},
		{"what it looks at", func() { w.service("new", "", 6) }, 2, 2},
	} {
		w.asked = 0
		if step.do(); w.asked != step.asks || len(w.open()) != step.open {
			t.Errorf("step %d, %s: asked about %d groups, %d are open, want %d and %d", i, step.what, w.asked, len(w.open()), step.asks, step.open)
		}
	}
}

// A narrowed registration opens the same groups, in the same order, as one that is asked about everything.
func TestNarrowedGatesOpenTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		narrow, plain := newDoors(rt, true), newDoors(rt, false)
		both := func(do func(w *doors)) {
			do(narrow)
			do(plain)
			if diff := cmp.Diff(plain.open(), narrow.open()); diff != "" {
				rt.Fatalf("open groups (-plain +narrow):\n%s", diff)
			}
		}
		for i := range 4 {
			both(func(w *doors) { w.Apply(lifecycle.Update(podGroup(fmt.Sprint("g", i), 1, 0))) })
		}
		version := 0
		key := rapid.SampledFrom([]string{"a", "b", "c"})
		rt.Repeat(map[string]func(*rapid.T){
			"pod": func(rt *rapid.T) {
				version++
				i, k := rapid.IntRange(0, 7).Draw(rt, "pod"), key.Draw(rt, "key")
				both(func(w *doors) { w.put(fmt.Sprint("p", i), fmt.Sprint("g", i%4), k, version) })
			},
			"pod goes": func(rt *rapid.T) {
				name := fmt.Sprint("p", rapid.IntRange(0, 7).Draw(rt, "pod"))
				both(func(w *doors) {
					if p := w.pods[name]; p != nil {
						delete(w.pods, name)
						w.Apply(lifecycle.Delete(p))
						w.Flush(context.Background())
					}
				})
			},
			"service": func(rt *rapid.T) {
				version++
				k, label := key.Draw(rt, "name"), rapid.SampledFrom([]string{"", "", "everybody"}).Draw(rt, "for")
				both(func(w *doors) { w.service(k, label, version) })
			},
			"service goes": func(rt *rapid.T) {
				k := key.Draw(rt, "name")
				both(func(w *doors) { w.removeService(k) })
			},
		})
	})
}

// Groups that one event opens enter the queue in the order in which they were shut out, whatever happened to
// their pods meanwhile.
func TestShutGroupsKeepTheirTurn(t *testing.T) {
	w := newDoors(t, true)
	for i, name := range []string{"a", "b", "c"} {
		w.Apply(lifecycle.Update(podGroup(name, 1, 0)))
		w.put("p-"+name, name, "x", i+1)
	}
	w.put("p-a", "a", "other", 10)
	w.put("p-a", "a", "x", 11)
	w.service("x", "", 12)
	if diff := cmp.Diff([]string{"p-a", "p-b", "p-c"}, w.open()); diff != "" {
		t.Errorf("open groups (-want +got):\n%s", diff)
	}
}

// Two profiles may have gates of one name that register for different events.
func TestGatesOfTwoProfiles(t *testing.T) {
	asked, services := 0, map[string]bool{}
	var list []scheduling.Profile
	for i, narrow := range []bool{true, false} {
		p := scheduling.Kubernetes137()
		p.Name = fmt.Sprint("profile-", i)
		p.PreEnqueue = []framework.Plugin{keyhole{services, narrow, &asked}}
		if i == 0 {
			p.PreEnqueue = []framework.Plugin{deafKeyhole{keyhole{services, narrow, &asked}}}
		}
		list = append(list, p)
	}
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: list, Groups: &groups.Rules{}, Clock: virtualclock.New(time.Unix(0, 0)),
		Binder: lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		name := fmt.Sprint("g", i)
		p := groupPod("p-"+name, name, "1m", 0)
		p.Spec.SchedulerName, p.Annotations = list[i].Name, map[string]string{"key": "x"}
		d.Apply(lifecycle.Update(podGroup(name, 1, 0)), lifecycle.Update(p))
	}
	d.Flush(context.Background())
	w := &doors{Driver: d, services: services}
	if w.service("x", "", 1); !slices.Equal(w.open(), []string{"p-g1"}) {
		t.Errorf("open: %v, want p-g1", w.open())
	}
}

// deafKeyhole is a keyhole that no event opens.
type deafKeyhole struct{ keyhole }

func (deafKeyhole) EventsToRegister() []queueing.EventHint { return []queueing.EventHint{} }

package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// newTest returns a cluster that is opened; events counts what the driver was told.
func newTest(t *testing.T) (c *Cluster, events *int) {
	t.Helper()
	c = New(fake.NewClientset(), Served{"resourceclaims": true, "deviceclasses": true}, func(err error) { t.Error(err) })
	events = new(int)
	c.Open(func(list ...lifecycle.Event) { *events += len(list) })
	return c, events
}

func newPod(name, uid, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(uid), ResourceVersion: version}}
}

// known lists the names, UIDs and versions of pods.
func known(c *Cluster) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, key := range slices.Sorted(maps.Keys(c.Pods.known)) {
		m := c.Pods.known[key].ObjectMeta
		list = append(list, m.Name+"/"+string(m.UID)+"/"+m.ResourceVersion)
	}
	return strings.Join(list, " ")
}

// step is a change of pods, what is known after it and how many events it has caused.
type step struct {
	name   string
	do     func() error
	known  string
	events int
	wakes  bool
}

// A version that is known or older does nothing. Another UID is another object, whatever
// its version: the driver hears that the old one is gone, and those who wait for it are
// woken.
func TestVersionsAndUIDs(t *testing.T) {
	c, events := newTest(t)
	ended := newPod("p", "new", "20")
	ended.Status.Phase = corev1.PodFailed
	for _, s := range []step{
		{"added", func() error { return c.Pods.Add(newPod("p", "old", "10")) }, "p/old/10", 1, false},
		{"the same again", func() error { return c.Pods.Update(newPod("p", "old", "10")) }, "p/old/10", 0, false},
		{"older", func() error { return c.Pods.Update(newPod("p", "old", "9")) }, "p/old/10", 0, false},
		{"newer", func() error { return c.Pods.Update(newPod("p", "old", "11")) }, "p/old/11", 1, false},
		{"another UID", func() error { return c.Pods.Update(newPod("p", "new", "12")) }, "p/new/12", 2, true},
		{"another UID of an older version", func() error { return c.Pods.Update(newPod("p", "newer", "3")) }, "p/newer/3", 2, true},
		{"it ends", func() error { return c.Pods.Update(ended) }, "", 1, true},
		{"it ends again", func() error { return c.Pods.Update(ended) }, "", 0, false},
	} {
		check(t, c, events, s)
	}
}

// check does one step.
func check(t *testing.T, c *Cluster, events *int, s step) {
	t.Helper()
	*events = 0
	changed := c.Changed()
	if err := s.do(); err != nil {
		t.Errorf("%s: %v", s.name, err)
	}
	if got := known(c); got != s.known {
		t.Errorf("%s: known are %q, want %q", s.name, got, s.known)
	}
	if *events != s.events {
		t.Errorf("%s: %d events, want %d", s.name, *events, s.events)
	}
	woken := false
	select {
	case <-changed:
		woken = true
	default:
	}
	if woken != s.wakes {
		t.Errorf("%s: waiters are woken: %t, want %t", s.name, woken, s.wakes)
	}
}

// A deletion that the watch has missed comes as a tombstone, which holds the last version
// that was seen.
func TestDelete(t *testing.T) {
	c, events := newTest(t)
	for _, name := range []string{"a", "b", "c"} {
		if err := c.Pods.Add(newPod(name, name, "5")); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []step{
		{"deleted", func() error { return c.Pods.Delete(newPod("a", "a", "6")) }, "b/b/5 c/c/5", 1, true},
		{"a tombstone", func() error {
			return c.Pods.Delete(cache.DeletedFinalStateUnknown{Key: "default/b", Obj: newPod("b", "b", "5")})
		}, "c/c/5", 1, true},
		{"unknown", func() error { return c.Pods.Delete(newPod("d", "d", "5")) }, "c/c/5", 0, false},
	} {
		check(t, c, events, s)
	}
	for name, err := range map[string]error{
		"deletion of a node":  c.Pods.Delete(&corev1.Node{}),
		"tombstone of a node": c.Pods.Delete(cache.DeletedFinalStateUnknown{Key: "x", Obj: &corev1.Node{}}),
		"update of a node":    c.Pods.Update(&corev1.Node{}),
		"list of a node":      c.Pods.Replace([]any{&corev1.Node{}}, ""),
		"addition of a pod":   c.Nodes.Add(&corev1.Pod{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "got a *v1.") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A list is all that there is: what is not in it is deleted, and what is known in this
// version costs neither a conversion nor an event.
func TestReplace(t *testing.T) {
	c, events := newTest(t)
	check(t, c, events, step{"the first list", func() error {
		return c.Pods.Replace([]any{newPod("b", "b", "6"), newPod("a", "a", "5"), newPod("c", "c", "7")}, "")
	}, "a/a/5 b/b/6 c/c/7", 3, false})
	before := c.Pods.Get("default/a")
	check(t, c, events, step{"the next", func() error {
		return c.Pods.Replace([]any{newPod("a", "a", "5"), newPod("b", "b", "8"), newPod("d", "d", "9")}, "")
	}, "a/a/5 b/b/8 d/d/9", 3, true})
	if c.Pods.Get("default/a") != before {
		t.Error("what has not changed was converted again")
	}
}

func newClaim(uid, version string, allocated bool) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: types.UID(uid), ResourceVersion: version}}
	if allocated {
		c.Status.Allocation = new(resourcev1.AllocationResult)
	}
	return c
}

// What was written is known at once, and what lists and watches tell of the time before does
// not undo it; what they tell of the time after does. What has ended does not come back.
func TestWritten(t *testing.T) {
	add := func(x *resourcev1.ResourceClaim) func(*Cluster) error {
		return func(c *Cluster) error { return c.Devices.Update(x) }
	}
	write := func(x *resourcev1.ResourceClaim) func(*Cluster) error {
		return func(c *Cluster) error { c.Devices.Written(x); return nil }
	}
	remove := func(x *resourcev1.ResourceClaim) func(*Cluster) error {
		return func(c *Cluster) error { return c.Devices.Delete(x) }
	}
	list := func(version string, items ...any) func(*Cluster) error {
		return func(c *Cluster) error { return c.Devices.Replace(items, version) }
	}
	other := newClaim("other", "100", false)
	other.Name = "other"
	for _, test := range []struct {
		name  string
		steps []func(*Cluster) error
		want  string // UID, version and whether it is allocated
	}{
		{"written", []func(*Cluster) error{add(newClaim("u", "5", false)), write(newClaim("u", "8", true))}, "u/8/true"},
		{"an older event", []func(*Cluster) error{add(newClaim("u", "5", false)), write(newClaim("u", "8", true)), add(newClaim("u", "7", false))}, "u/8/true"},
		{"its own event", []func(*Cluster) error{add(newClaim("u", "5", false)), write(newClaim("u", "8", true)), add(newClaim("u", "8", true))}, "u/8/true"},
		{"a newer event", []func(*Cluster) error{add(newClaim("u", "5", false)), write(newClaim("u", "8", true)), add(newClaim("u", "9", false))}, "u/9/false"},
		{"the watch was faster", []func(*Cluster) error{add(newClaim("u", "9", false)), write(newClaim("u", "8", true))}, "u/9/false"},
		{"deleted later", []func(*Cluster) error{add(newClaim("u", "5", false)), write(newClaim("u", "8", true)), remove(newClaim("u", "9", true))}, ""},
		{"the watch has told its end", []func(*Cluster) error{add(newClaim("u", "5", false)), remove(newClaim("u", "9", true)), write(newClaim("u", "8", true))}, ""},
		{"another has its name by now", []func(*Cluster) error{add(newClaim("u", "5", false)), add(newClaim("v", "10", false)), write(newClaim("u", "8", true))}, "v/10/false"},
		{"an older list", []func(*Cluster) error{list("6", newClaim("u", "5", false)), write(newClaim("u", "8", true)), list("7", newClaim("u", "5", false))}, "u/8/true"},
		{"a newer list without it", []func(*Cluster) error{list("6", newClaim("u", "5", false)), write(newClaim("u", "8", true)), list("9")}, ""},
		{"a list without it that is as new", []func(*Cluster) error{list("6", newClaim("u", "5", false)), write(newClaim("u", "8", true)), list("8")}, ""},
		{"made", []func(*Cluster) error{list("6"), write(newClaim("u", "8", true))}, "u/8/true"},
		{"made, and an older list", []func(*Cluster) error{list("6"), write(newClaim("u", "8", true)), list("7")}, "u/8/true"},
		{"made, an older list, and its end", []func(*Cluster) error{list("6"), write(newClaim("u", "8", true)), list("7"), add(newClaim("u", "8", true)), remove(newClaim("u", "9", true))}, ""},
		{"made, and a newer list", []func(*Cluster) error{list("6"), write(newClaim("u", "8", true)), list("9")}, ""},
		{"made, and the watch has told its end", []func(*Cluster) error{list("6"), add(newClaim("u", "8", true)), remove(newClaim("u", "9", true)), write(newClaim("u", "8", true))}, ""},
		{"made, and a list has passed it", []func(*Cluster) error{list("6"), list("9"), write(newClaim("u", "8", true))}, ""},
		{"made, and the watch has passed it", []func(*Cluster) error{list("6"), add(other), write(newClaim("u", "8", true))}, ""},
		{"made, and an older one of its name", []func(*Cluster) error{list("6"), write(newClaim("u", "8", true)), add(newClaim("v", "5", false)), remove(newClaim("v", "7", false))}, "u/8/true"},
		{"the watch has reached it, then an older list", []func(*Cluster) error{list("6"), write(newClaim("u", "8", true)), add(newClaim("u", "8", true)), list("7")}, ""},
	} {
		c, _ := newTest(t)
		for _, step := range test.steps {
			if err := step(c); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		got := ""
		if x := c.Devices.Get("default/c"); x != nil {
			got = fmt.Sprintf("%s/%s/%t", x.UID, x.ResourceVersion, x.Status.Allocation != nil)
		}
		if got != test.want {
			t.Errorf("%s: the claim is %q, want %q", test.name, got, test.want)
		}
	}
}

// Until it is opened, the feed tells nothing; then everything, in the order of kinds and
// names, and every change after that.
func TestOpen(t *testing.T) {
	c := New(fake.NewClientset(), Served{}, func(err error) { t.Error(err) })
	if c.Devices != nil {
		t.Error("the feed follows resource claims that the API server does not have")
	}
	for _, name := range []string{"f", "b", "d", "a", "e", "c"} {
		if err := errors.Join(c.Pods.Add(newPod(name, name, "5")), c.Nodes.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})); err != nil {
			t.Fatal(err)
		}
	}
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: virtualclock.New(time.Unix(0, 0)),
		Binder: lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
	})
	if err != nil {
		t.Fatal(err)
	}
	told, nodes := 0, ""
	c.Open(func(list ...lifecycle.Event) {
		told += len(list)
		d.Apply(list...)
	})
	d.Flush(context.Background())
	for _, n := range d.Snapshot().All() {
		nodes += n.Name()
	}
	if told != 12 || nodes != "abcdef" {
		t.Errorf("%d events at the start, and the nodes %q; want 12, abcdef", told, nodes)
	}
	if err := c.Pods.Delete(newPod("a", "a", "5")); err != nil {
		t.Fatal(err)
	}
	if told != 13 {
		t.Errorf("%d events after a deletion, want 13", told)
	}
	if got := c.Waiting(); !strings.HasPrefix(got, "namespaces; ") || !strings.HasSuffix(got, "; nodes; pods") {
		t.Errorf("waiting for %q", got)
	}
	c.Pods.note(errors.New("no right"))
	if got := c.Waiting(); !strings.HasSuffix(got, "; pods: no right") {
		t.Errorf("waiting for %q", got)
	}
	if err := c.Pods.Replace(nil, ""); err != nil {
		t.Fatal(err)
	}
	if got := c.Waiting(); !strings.HasSuffix(got, "; nodes") {
		t.Errorf("waiting for %q", got)
	}
}

// Waiters look again at every change of volumes and claims, and only at those.
func TestChanged(t *testing.T) {
	c, events := newTest(t)
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", UID: "v", ResourceVersion: "1"}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "c", ResourceVersion: "1"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n", ResourceVersion: "1"}}
	for _, s := range []step{
		{"a volume comes", func() error { return c.Volumes.Add(volume) }, "", 1, true},
		{"a claim comes", func() error { return c.Claims.Add(claim) }, "", 1, true},
		{"a node comes", func() error { return c.Nodes.Add(node) }, "", 1, false},
		{"a node goes", func() error { return c.Nodes.Delete(node) }, "", 1, true},
	} {
		check(t, c, events, s)
	}
}

// An object that cannot be converted is reported, and the others go on.
func TestUnconvertible(t *testing.T) {
	var faults []error
	c := New(fake.NewClientset(), Served{}, func(err error) { faults = append(faults, err) })
	c.Pods.convert = func(p *corev1.Pod) (*api.Pod, error) {
		if p.Name == "bad" {
			return nil, errors.New("bad is not a pod")
		}
		return &api.Pod{ObjectMeta: api.ObjectMeta{Name: p.Name}}, nil
	}
	if err := c.Pods.Replace([]any{newPod("bad", "1", "1"), newPod("good", "2", "2")}, ""); err != nil {
		t.Fatal(err)
	}
	if len(faults) != 1 || faults[0].Error() != "bad is not a pod" || c.Pods.Get("default/good") == nil || c.Pods.Get("default/bad") != nil {
		t.Errorf("faults %v, known %s", faults, known(c))
	}
}

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

func podWithDevice(name string) *api.Pod {
	p := api.MakePod(name).UID(api.UID(name)).Requests("100m", "64Mi").Obj()
	p.ResourceVersion = "1"
	p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpu")}}
	return p
}

// TestDevicesOfConfirmedPods: a pod keeps its device, which nobody has written, when the event
// comes that it is bound, and when it changes. When it goes, the next pod gets the device.
func TestDevicesOfConfirmedPods(t *testing.T) {
	for confirmed := range 3 { // events about the pod after its binding
		t.Run(fmt.Sprint(confirmed, " events"), func(t *testing.T) {
			d, clock := oneDevice(t, only("n"))
			d.Apply(lifecycle.Update(podWithDevice("a")))
			a, ok := d.ScheduleOne(context.Background())
			if !ok || a.State != lifecycle.Bound {
				t.Fatalf("a: %v %v", a.State, a.Err)
			}
			for i := range confirmed {
				bound := podWithDevice("a")
				bound.ResourceVersion, bound.Spec.NodeName = fmt.Sprint(2+i), "n"
				d.Apply(lifecycle.Update(bound))
			}
			d.Apply(lifecycle.Update(podWithDevice("b")))
			if b, ok := d.ScheduleOne(context.Background()); !ok || b.State == lifecycle.Bound {
				t.Errorf("b is %v: the only device, which a has, is given twice", b.State)
			}
			d.Apply(lifecycle.Delete(podWithDevice("a")))
			clock.Advance(time.Hour)
			if b, ok := d.ScheduleOne(context.Background()); !ok || b.State != lifecycle.Bound {
				t.Errorf("b is %v: a and its device are gone, want Bound: %v", b.State, b.Err)
			}
		})
	}
}

// only makes a slice one of a single node.
func only(node string) func(*api.ResourceSliceSpec) {
	return func(s *api.ResourceSliceSpec) { s.NodeName = &node }
}

// allNodes makes a slice one of the network.
func allNodes(s *api.ResourceSliceSpec) { s.AllNodes = new(true) }

// oneDevice is a driver of a cluster with one node and one device.
func oneDevice(t *testing.T, where func(*api.ResourceSliceSpec)) (*lifecycle.Driver, *virtualclock.Clock) {
	t.Helper()
	return oneDeviceOf(t, where, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}})
}

func oneDeviceOf(t *testing.T, where func(*api.ResourceSliceSpec), c lifecycle.Config) (*lifecycle.Driver, *virtualclock.Clock) {
	t.Helper()
	clock := virtualclock.New(time.Unix(0, 0))
	c.Clock, c.Binder = clock, lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil })
	d, err := lifecycle.New(c)
	if err != nil {
		t.Fatal(err)
	}
	slice := devicesOf("n", 1)
	slice.Spec.NodeName = nil
	where(&slice.Spec)
	d.Apply(
		lifecycle.Update(api.MakeNode("n", "8", "32Gi").Obj()), lifecycle.Update(&api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "any"}}),
		lifecycle.Update(slice), lifecycle.Update(templateOfOne()),
	)
	return d, clock
}

// devicesOf is a slice of devices of a node.
func devicesOf(node string, count int) *api.ResourceSlice {
	s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: node}}
	s.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: &node, Pool: api.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}}
	for i := range count {
		s.Spec.Devices = append(s.Spec.Devices, api.Device{Name: fmt.Sprint("d", i)})
	}
	return s
}

// templateOfOne is the template that podWithDevice names, of claims for one device of the class any.
func templateOfOne() *api.ResourceClaimTemplate {
	x := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "gpu", Namespace: "default"}}
	x.Spec.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}
	return x
}

// TestDevicesAfterAPanic: an extension panics when the event comes that a pod with a device is bound. The pod
// keeps its device, counts on, also beyond the time in which its binding had to be confirmed, and in its newest version
// once the extension has come to its senses.
func TestDevicesAfterAPanic(t *testing.T) {
	for _, inverted := range []bool{false, true} {
		for _, times := range []int{1, 2, 5, 20} {
			t.Run(fmt.Sprint(inverted, times), func(t *testing.T) {
				var problems []error
				d, clock := oneDeviceOf(t, only("n"), lifecycle.Config{
					Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, AssumeTTL: time.Minute,
					ErrorHandler: func(err error) { problems = append(problems, err) },
				})
				lit := 0
				fuse{&lit, inverted}.lay(d)
				d.Apply(lifecycle.Update(podWithDevice("a")))
				if a, ok := d.ScheduleOne(t.Context()); !ok || a.State != lifecycle.Bound {
					t.Fatalf("a: %+v", a)
				}
				lit = times
				bound := podWithDevice("a")
				bound.ResourceVersion, bound.Spec.NodeName = "2", "n"
				d.Apply(lifecycle.Update(bound))
				for range times {
					d.Flush(t.Context())
					clock.Advance(time.Hour)
				}
				if lit > 0 || len(problems) != 1 || !strings.Contains(problems[0].Error(), "the fuse") {
					t.Errorf("problems %v, want one of the fuse, which is lit for %d times more", problems, lit)
				}
				if pods := d.Snapshot().Node("n").Pods; len(pods) != 1 || pods[0].Pod != bound {
					t.Errorf("the node has the pods %v, want the newest version", pods)
				}
				clock.Advance(time.Hour)
				d.Apply(lifecycle.Update(podWithDevice("b")))
				if b, ok := d.ScheduleOne(t.Context()); !ok || b.State != lifecycle.Failed {
					t.Errorf("the only device, which a has, is given to b: %+v", b)
				}
				if len(problems) != 1 {
					t.Errorf("problems %v", problems)
				}
				d.Apply(lifecycle.Delete(bound))
				clock.Advance(time.Hour)
				if b, ok := d.ScheduleOne(t.Context()); !ok || b.State != lifecycle.Bound {
					t.Errorf("b after a: %+v", b)
				}
			})
		}
	}
}

// TestDevicesAfterAPanicOnReturn: a node is lost and comes back, an extension panics over its pod, and a newer version of the
// pod comes before the pod counts again. It keeps its device, which is none of the node, whether the extension is told of
// the pod before that of the devices or after it.
func TestDevicesAfterAPanicOnReturn(t *testing.T) {
	for _, late := range []bool{false, true} {
		d, _ := oneDevice(t, allNodes)
		lit := 0
		if !late {
			fuse{&lit, true}.lay(d)
		}
		d.Apply(lifecycle.Update(podWithDevice("a")))
		if a, ok := d.ScheduleOne(t.Context()); !ok || a.State != lifecycle.Bound {
			t.Fatalf("a: %+v", a)
		}
		if late {
			fuse{&lit, true}.lay(d)
		}
		node, newer := api.MakeNode("n", "8", "32Gi").Obj(), podWithDevice("a")
		newer.ResourceVersion, newer.Spec.NodeName = "2", "n"
		lit = 1
		d.Apply(lifecycle.Delete(node), lifecycle.Update(node), lifecycle.Update(newer))
		d.Flush(t.Context())
		d.Apply(lifecycle.Update(podWithDevice("b")))
		if b, ok := d.ScheduleOne(t.Context()); !ok || b.State != lifecycle.Failed {
			t.Errorf("late %t: the only device, which a has, is given to b: %+v", late, b)
		}
		if pods := d.Snapshot().Node("n").Pods; lit > 0 || len(pods) != 1 || pods[0].Pod != newer {
			t.Errorf("late %t: the node has the pods %v, want the newer version; the fuse is lit for %d times", late, pods, lit)
		}
	}
}

// TestDevicesOfLostNodes: a pod keeps its device, which nobody has written, while its node is
// missing. If it goes meanwhile, the next pod gets the device.
func TestDevicesOfLostNodes(t *testing.T) {
	version := func(v, node string) *api.Pod {
		p := podWithDevice("a")
		p.ResourceVersion, p.Spec.NodeName = v, node
		return p
	}
	node := func(name string) lifecycle.Event { return lifecycle.Update(api.MakeNode(name, "8", "32Gi").Obj()) }
	lost := lifecycle.Delete(api.MakeNode("n", "8", "32Gi").Obj())
	for _, where := range []struct {
		name string
		set  func(*api.ResourceSliceSpec)
	}{{"local", only("n")}, {"network", allNodes}} {
		for _, tt := range []struct {
			name   string
			events []lifecycle.Event
			free   bool
		}{
			{"comes back", []lifecycle.Event{lost, node("n")}, false},
			{"comes back twice", []lifecycle.Event{lost, node("n"), lost, node("n")}, false},
			{"missing", []lifecycle.Event{lost, node("other")}, false},
			{"confirmed while it is missing", []lifecycle.Event{lost, lifecycle.Update(version("2", "n")), node("n")}, false},
			{"confirmed before", []lifecycle.Event{lifecycle.Update(version("2", "n")), lost, node("n")}, false},
			{"changed while it is missing", []lifecycle.Event{lifecycle.Update(version("2", "n")), lost, lifecycle.Update(version("3", "n")), lifecycle.Update(version("4", "n")), node("n")}, false},
			{"the pod goes while it is missing", []lifecycle.Event{lost, lifecycle.Delete(version("2", "n")), node("n")}, true},
			{"the pod goes later", []lifecycle.Event{lost, lifecycle.Update(version("2", "n")), node("n"), lifecycle.Delete(version("3", "n"))}, true},
		} {
			t.Run(where.name+", "+tt.name, func(t *testing.T) {
				d, clock := oneDevice(t, where.set)
				d.Apply(lifecycle.Update(podWithDevice("a")))
				if a, ok := d.ScheduleOne(context.Background()); !ok || a.State != lifecycle.Bound {
					t.Fatalf("a: %v %v", a.State, a.Err)
				}
				d.Apply(tt.events...)
				d.Apply(lifecycle.Update(podWithDevice("b")))
				clock.Advance(time.Hour)
				if b, ok := d.ScheduleOne(context.Background()); !ok || (b.State == lifecycle.Bound) != tt.free {
					t.Errorf("b is %v (%v), want Bound: %t", b.State, b.Err, tt.free)
				}
				if err := d.Snapshot().Check(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// slowWriter is a PreBind plugin that writes claims: it says when it begins, and fails when it is
// told to.
type slowWriter struct {
	began chan struct{}
	fail  chan error
}

func (slowWriter) Name() string { return "SlowWriter" }

func (w slowWriter) PreBind(_ context.Context, c *framework.Cycle, _ string) framework.Status {
	if c.Pod.Pod.Name != "a" {
		return framework.Status{}
	}
	w.began <- struct{}{}
	return framework.AsStatus(<-w.fail)
}

// TestDevicesWhilePreBindWrites: as long as PreBind may write the claims of a pod, nobody else
// gets its devices, whatever happens to the pod: PreBind may yet write them.
func TestDevicesWhilePreBindWrites(t *testing.T) {
	on := func(version, node string) *api.Pod {
		p := podWithDevice("a")
		p.ResourceVersion, p.Spec.NodeName = version, node
		return p
	}
	another := on("3", "")
	another.UID, another.Spec.SchedulerName = "another", "none"
	ended := on("3", "")
	ended.Status.Phase = api.PodFailed
	gone := lifecycle.Delete(on("4", ""))
	for _, tt := range []struct {
		name   string
		events []lifecycle.Event
	}{
		{"deleted", []lifecycle.Event{gone}},
		{"ended", []lifecycle.Event{lifecycle.Update(ended)}},
		{"another has its name", []lifecycle.Event{lifecycle.Update(another)}},
		{"bound by another scheduler to its node", []lifecycle.Event{lifecycle.Update(on("2", "n"))}},
		{"bound to its node, and deleted", []lifecycle.Event{lifecycle.Update(on("2", "n")), gone}},
		{"bound to its node, and ended", []lifecycle.Event{lifecycle.Update(on("2", "n")), lifecycle.Update(ended)}},
		{"bound to its node, and another has its name", []lifecycle.Event{lifecycle.Update(on("2", "n")), lifecycle.Update(another)}},
		{"bound to its node, and then to none", []lifecycle.Event{lifecycle.Update(on("2", "n")), lifecycle.Update(on("3", ""))}},
		{"bound to another node", []lifecycle.Event{lifecycle.Update(on("2", "m"))}},
		{"bound to another node, and deleted", []lifecycle.Event{lifecycle.Update(on("2", "m")), gone}},
		{"bound to an unknown node", []lifecycle.Event{lifecycle.Update(on("2", "unknown"))}},
		{"bound to an unknown node, and deleted", []lifecycle.Event{lifecycle.Update(on("2", "unknown")), gone}},
		{"its node is lost, and it is deleted", []lifecycle.Event{lifecycle.Delete(api.MakeNode("n", "8", "32Gi").Obj()), gone}},
		{"its node is lost, and it is bound to another", []lifecycle.Event{lifecycle.Delete(api.MakeNode("n", "8", "32Gi").Obj()), lifecycle.Update(on("2", "m"))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := slowWriter{make(chan struct{}), make(chan error)}
			profile := scheduling.Kubernetes137()
			profile.PreBind = append(profile.PreBind, w)
			d, clock := oneDeviceOf(t, allNodes, lifecycle.Config{Profiles: []scheduling.Profile{profile}, Bindings: 4})
			d.Apply(lifecycle.Update(podWithDevice("a")))
			if a, ok := d.ScheduleOne(t.Context()); !ok || a.Err != nil {
				t.Fatalf("a: %v %v", a.State, a.Err)
			}
			flush := func(what string, until func() bool) {
				for end := time.Now().Add(time.Minute); !until(); d.Flush(t.Context()) {
					if time.Now().After(end) {
						t.Fatal(what)
					}
				}
			}
			begun := false
			flush("PreBind does not begin", func() bool {
				select {
				case <-w.began:
					begun = true
				default:
				}
				return begun
			})
			d.Apply(lifecycle.Update(api.MakeNode("m", "8", "32Gi").Obj()))
			d.Apply(tt.events...)
			d.Apply(lifecycle.Update(podWithDevice("b")))
			b, ok := d.ScheduleOne(t.Context())
			if !ok || b.Pod.Pod.Name != "b" || b.Err == nil {
				t.Errorf("b: %v %v, want it rejected", b.State, b.Err)
			}
			if err := d.Snapshot().Check(); err != nil {
				t.Error(err)
			}
			w.fail <- errors.New("not written")
			d.Apply(gone)
			flush("b does not get the device", func() bool {
				clock.Advance(time.Minute)
				b, ok := d.ScheduleOne(t.Context())
				return ok && b.Pod.Pod.Name == "b" && b.Err == nil
			})
			if err := d.Snapshot().Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAlikeWithDevices: pods are not rejected together if a class stands behind a resource that
// they request: one may have a claim that was made for it, which no node can use. Without such
// a class they are.
func TestAlikeWithDevices(t *testing.T) {
	for _, backed := range []bool{true, false} {
		clock, bound := virtualclock.New(epoch), map[string]string{}
		p := scheduling.Kubernetes137()
		p.PostFilter = nil // DynamicResources would have the claim deleted
		d, err := lifecycle.New(lifecycle.Config{
			Profiles: []scheduling.Profile{p}, Clock: clock,
			Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, node string) error { bound[p.Name] = node; return nil }),
		})
		if err != nil {
			t.Fatal(err)
		}
		pod := func(name string) *api.Pod {
			p := api.MakePod(name).UID(api.UID(name)).Requests("1", "1Mi").Obj()
			p.Spec.Containers[0].Resources.Requests["d.io/x"] = resource.MustParse("1")
			return p
		}
		slice := func(version int, taints ...api.DeviceTaint) lifecycle.Event {
			s := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "n", UID: "s", ResourceVersion: fmt.Sprint(version)}}
			pool := api.ResourcePool{Name: "n", Generation: int64(version), ResourceSliceCount: 1}
			s.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: new("n"), Pool: pool, Devices: []api.Device{{Name: "only", Taints: taints}}}
			return lifecycle.Update(s)
		}
		alike := 0
		try := func() {
			for {
				a, ok := d.ScheduleOne(context.Background())
				if !ok {
					return
				}
				alike += a.Alike
			}
		}
		d.Apply(lifecycle.Update(api.MakeNode("n", "8", "8Gi").Obj()))
		if backed {
			class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "c"}}
			class.Spec.ExtendedResourceName = new("d.io/x")
			claim := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c", UID: "c"}}
			claim.Annotations = map[string]string{api.AnnExtendedResourceClaim: "true"}
			claim.OwnerReferences = []api.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "a", UID: "a", Controller: new(true)}}
			claim.Spec.Devices.Requests = []api.DeviceRequest{{Name: "container-0-request-1", Exactly: &api.ExactDeviceRequest{DeviceClassName: "c", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}
			elsewhere := api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"elsewhere"}}}}
			claim.Status.Allocation = &api.AllocationResult{NodeSelector: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{elsewhere}}}
			claim.Status.Allocation.Devices.Results = []api.DeviceRequestAllocationResult{{Request: "container-0-request-1", Driver: "d.io", Pool: "x", Device: "x"}}
			d.Apply(lifecycle.Update(class), lifecycle.Update(claim), slice(1, api.DeviceTaint{Key: "k", Effect: "NoSchedule"}))
		}
		d.Apply(lifecycle.Update(pod("a")), lifecycle.Update(pod("b")))
		try()
		clock.Advance(time.Minute)
		if backed {
			d.Apply(slice(2)) // without the taint
		}
		for range 2 { // at the latest when they have waited for too long
			try()
			clock.Advance(10 * time.Minute)
			d.Flush(context.Background())
		}
		try()
		if got, want := bound["b"], map[bool]string{true: "n"}[backed]; got != want {
			t.Errorf("a class stands behind the resource: %v: b is on %q, want %q", backed, got, want)
		}
		if (alike > 0) == backed {
			t.Errorf("a class stands behind the resource: %v: %d pods were rejected with another one", backed, alike)
		}
	}
}

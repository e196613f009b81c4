package kube_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/kube"
)

var claimResource = resourcev1.SchemeGroupVersion.WithResource("resourceclaims")

// A heldWatch keeps the events of a watch back until the test lets them through.
type heldWatch struct {
	mu   sync.Mutex
	held []watch.Event // in order
	open bool
	to   chan watch.Event
}

// hold holds the watch of a resource, such as "resourceclaims", of the next scheduler.
func (w *world) hold(resource string) *heldWatch {
	h := &heldWatch{to: make(chan watch.Event, 1000)}
	w.client.PrependWatchReactor(resource, func(a clienttesting.Action) (bool, watch.Interface, error) {
		from, err := w.client.Tracker().Watch(a.GetResource(), a.GetNamespace())
		if err != nil {
			return true, nil, err
		}
		to := watch.NewProxyWatcher(h.to)
		go func() {
			defer from.Stop()
			for {
				select {
				case e := <-from.ResultChan():
					h.take(e)
				case <-to.StopChan():
					return
				}
			}
		}()
		return true, to, nil
	})
	return h
}

func (h *heldWatch) take(e watch.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open {
		h.to <- e
		return
	}
	h.held = append(h.held, e)
}

// release lets through what arrange makes of the events that are held, and all later ones.
func (h *heldWatch) release(arrange func([]watch.Event) []watch.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range arrange(h.held) {
		h.to <- e
	}
	h.held, h.open = nil, true
}

// has reports whether a write of the claim is held.
func (h *heldWatch) has(claim string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.held, func(e watch.Event) bool {
		c := e.Object.(*resourcev1.ResourceClaim)
		return (c.Name == claim || strings.HasPrefix(c.GenerateName, claim)) && c.Status.Allocation != nil
	})
}

func inOrder(list []watch.Event) []watch.Event { return list }

// oneGPU is a cluster of node a, with one device of class gpu, which is also the extended
// resource example.com/gpu, and one of class other. Claims victim0 to victim3 want the first.
func oneGPU(t *testing.T, more ...kruntime.Object) *world {
	objects := []kruntime.Object{node("a", "64")}
	for _, name := range []string{"gpu", "other"} {
		class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", name+".example.com")}}},
		}}
		if name == "gpu" {
			class.Spec.ExtendedResourceName = new("example.com/gpu")
		}
		objects = append(objects, class, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: name + ".example.com", NodeName: new("a"), Pool: resourcev1.ResourcePool{Name: "a", ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: name + "-0"}},
		}})
	}
	for i := range 4 {
		c, _ := gpuClaim(fmt.Sprint("victim", i), pod("", "1"))
		objects = append(objects, c)
	}
	return newWorld(t, append(objects, more...)...)
}

// victim returns the pod of a claim of [oneGPU].
func victim(i int) *corev1.Pod {
	_, p := gpuClaim(fmt.Sprint("victim", i), pod(fmt.Sprint("victim", i), "1"))
	return p
}

func (w *world) claim(name string) *resourcev1.ResourceClaim {
	w.t.Helper()
	c, err := w.client.ResourceV1().ResourceClaims("default").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// exclusive checks that no device is in two claims, and returns the devices of all.
func (w *world) exclusive() map[string]string {
	w.t.Helper()
	list, err := w.client.ResourceV1().ResourceClaims("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	users := map[string]string{}
	for _, c := range list.Items {
		if c.Status.Allocation == nil {
			continue
		}
		for _, r := range c.Status.Allocation.Devices.Results {
			id := r.Driver + "/" + r.Pool + "/" + r.Device
			if other := users[id]; other != "" {
				w.t.Errorf("device %s is in the claims %s and %s", id, other, c.Name)
			}
			users[id] = c.Name
		}
	}
	return users
}

// refused creates a pod that wants the device, and checks that it does not get it.
func (w *world) refused(i int) {
	w.t.Helper()
	p := victim(i)
	w.create(p)
	w.eventually("the pod has been tried", func() bool {
		return len(w.pod(p.Name).Status.Conditions) > 0 || w.claim(p.Name).Status.Allocation != nil
	})
	w.exclusive()
	if got := w.claim(p.Name); got.Status.Allocation != nil {
		w.t.Fatalf("claim %s has got the device", p.Name)
	}
	if got := w.pod(p.Name).Status.Conditions[0].Message; !strings.Contains(got, "cannot allocate all claims") {
		w.t.Fatalf("pod %s: condition %q", p.Name, got)
	}
}

// answer lets a test answer the writes of a claim's status. carryOut does what the API server does
// with the write.
func (w *world) answer(claim string, as func(carryOut func() (kruntime.Object, error)) (kruntime.Object, error)) {
	w.client.PrependReactor("update", "resourceclaims", func(a clienttesting.Action) (bool, kruntime.Object, error) {
		if u := a.(clienttesting.UpdateAction); u.GetSubresource() != "status" || u.GetObject().(metav1.Object).GetName() != claim {
			return false, nil, nil
		}
		obj, err := as(func() (kruntime.Object, error) {
			if refused, _, err := w.versioned(a); refused {
				return nil, err
			}
			_, obj, err := clienttesting.ObjectReaction(w.client.Tracker())(a)
			return obj, err
		})
		return true, obj, err
	})
}

// onStatus calls do once, before the status of a claim is written.
func (w *world) onStatus(claim string, do func()) {
	var once sync.Once
	w.client.PrependReactor("update", "resourceclaims", func(a clienttesting.Action) (bool, kruntime.Object, error) {
		if u := a.(clienttesting.UpdateAction); u.GetSubresource() == "status" && u.GetObject().(metav1.Object).GetName() == claim {
			once.Do(do)
		}
		return false, nil, nil
	})
}

// change changes a claim as another client does.
func (w *world) change(claim string, do func(*resourcev1.ResourceClaim)) {
	got, err := w.client.Tracker().Get(claimResource, "default", claim)
	if err == nil {
		c := got.(*resourcev1.ResourceClaim).DeepCopy()
		do(c)
		c.ResourceVersion = w.version()
		err = w.client.Tracker().Update(claimResource, c, "default")
	}
	if err != nil {
		w.t.Error(err)
	}
}

func deallocate(c *resourcev1.ResourceClaim) {
	c.Status.Allocation, c.Status.ReservedFor = nil, nil
}

// A binding fails after a claim was written, and the watch has not told of the write: the
// devices stay in use, whatever the watch tells later of the time before, until the claim is
// deallocated. kube-scheduler gives them to the next pod.
func TestWrittenDevicesStayInUse(t *testing.T) {
	second := func(w *world, p *corev1.Pod, do func()) {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: "second", ResourceClaimName: new("second")})
		var once sync.Once
		w.client.PrependReactor("get", "resourceclaims", func(a clienttesting.Action) (bool, kruntime.Object, error) {
			if a.(clienttesting.GetAction).GetName() == "second" {
				once.Do(do)
			}
			return false, nil, nil
		})
	}
	for _, test := range []struct {
		name    string
		prepare func(w *world, s func() *kube.Scheduler, p *corev1.Pod)
		after   func(w *world, s *kube.Scheduler)
	}{
		{name: "the pod is deleted", prepare: func(w *world, _ func() *kube.Scheduler, p *corev1.Pod) {
			w.onStatus("first", func() { _ = w.client.Tracker().Delete(podResource, "default", p.Name) })
		}},
		{name: "the pod is deleted, and the answer is lost", prepare: func(w *world, _ func() *kube.Scheduler, p *corev1.Pod) {
			w.answer("first", func(carryOut func() (kruntime.Object, error)) (kruntime.Object, error) {
				_ = w.client.Tracker().Delete(podResource, "default", p.Name)
				_, err := carryOut()
				return nil, errors.Join(err, errors.New("connection lost"))
			})
		}},
		{name: "another pod has its name", prepare: func(w *world, _ func() *kube.Scheduler, p *corev1.Pod) {
			w.onStatus("first", func() {
				again := pod(p.Name, "1")
				again.UID, again.ResourceVersion, again.Spec.SchedulerName = "again", w.version(), "none"
				_ = w.client.Tracker().Delete(podResource, "default", p.Name)
				_ = w.client.Tracker().Add(again)
			})
		}},
		{name: "the node goes", prepare: func(w *world, s func() *kube.Scheduler, _ *corev1.Pod) {
			w.onStatus("first", func() {
				_ = w.client.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("nodes"), "", "a")
				w.eventually("the node is gone", func() (gone bool) {
					err := s().Do(context.Background(), func(snap *framework.Snapshot) { gone = snap.Node("a") == nil })
					return gone && err == nil
				})
			})
		}, after: func(w *world, s *kube.Scheduler) {
			again := node("a", "64")
			again.ResourceVersion = w.version()
			if err := w.client.Tracker().Add(again); err != nil {
				w.t.Error(err)
			}
			w.delete("attacker") // else it is bound
			w.eventually("the node is back", func() (back bool) {
				err := s.Do(context.Background(), func(snap *framework.Snapshot) { back = snap.Node("a") != nil })
				return back && err == nil
			})
		}},
		{name: "its second claim is deleted", prepare: func(w *world, _ func() *kube.Scheduler, p *corev1.Pod) {
			second(w, p, func() { _ = w.client.Tracker().Delete(claimResource, "default", "second") })
		}},
		{name: "its second claim is allocated elsewhere", prepare: func(w *world, _ func() *kube.Scheduler, p *corev1.Pod) {
			second(w, p, func() {
				w.change("second", func(c *resourcev1.ResourceClaim) {
					c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
						{Request: "gpu", Driver: "other.example.com", Pool: "b", Device: "other-0"},
					}}}
				})
			})
		}},
		{name: "the claim of its extended resources is not noted", prepare: func(w *world, _ func() *kube.Scheduler, p *corev1.Pod) {
			p.Spec.ResourceClaims = nil
			p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
			w.client.PrependReactor("create", "resourceclaims", func(a clienttesting.Action) (bool, kruntime.Object, error) {
				m := a.(clienttesting.CreateAction).GetObject().(*resourcev1.ResourceClaim)
				m.Name, m.UID = "first", "first"
				return false, nil, nil
			})
			w.client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, kruntime.Object, error) {
				if strings.Contains(string(a.(clienttesting.PatchAction).GetPatch()), "extendedResourceClaimStatus") {
					return true, nil, apierrors.NewForbidden(podResource.GroupResource(), p.Name, nil)
				}
				return false, nil, nil
			})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, order := range []struct {
				name    string
				arrange func([]watch.Event) []watch.Event
			}{
				{"in order", inOrder},
				{"twice", func(list []watch.Event) []watch.Event { return append(slices.Clone(list), list...) }},
				{"lost", func([]watch.Event) []watch.Event { return nil }},
			} {
				t.Run(order.name, func(t *testing.T) {
					first, p := gpuClaim("first", pod("attacker", "1"))
					other, _ := gpuClaim("second", pod("", "1"))
					other.Spec.Devices.Requests[0].Exactly.DeviceClassName = "other"
					w := oneGPU(t, other)
					var s *kube.Scheduler
					test.prepare(w, func() *kube.Scheduler { return s }, p)
					if len(p.Spec.ResourceClaims) > 0 {
						first.ResourceVersion = w.version()
						if err := w.client.Tracker().Add(first); err != nil {
							t.Fatal(err)
						}
					}
					held := w.hold("resourceclaims")
					s = w.start(kube.Config{})
					w.create(p)
					w.eventually("the claim is written", func() bool { return held.has("first") })
					w.eventually("the binding has failed", func() bool {
						got, err := w.client.CoreV1().Pods("default").Get(context.Background(), p.Name, metav1.GetOptions{})
						if err == nil && got.UID == p.UID {
							return len(got.Status.Conditions) > 0
						}
						return podsOn(t, s, "a") == 0
					})
					if test.after != nil {
						test.after(w, s)
					}
					w.refused(0)
					held.release(order.arrange)
					sentinel, _ := gpuClaim("sentinel", pod("", "1"))
					sentinel.ResourceVersion = w.version()
					if err := w.client.Tracker().Add(sentinel); err != nil {
						t.Fatal(err)
					}
					w.eventually("the watch has caught up", func() (known bool) {
						err := s.Do(context.Background(), func(snap *framework.Snapshot) {
							known = framework.Lookup[api.ResourceClaim](snap, "default/sentinel") != nil
						})
						return known && err == nil
					})
					w.refused(1)
					_ = w.client.Tracker().Delete(podResource, "default", p.Name)
					if order.name == "twice" { // the claim controller deallocates the claim, or deletes it
						if err := w.client.Tracker().Delete(claimResource, "default", "first"); err != nil {
							t.Error(err)
						}
					} else {
						w.change("first", deallocate)
					}
					w.eventually("a victim has the device", func() bool { return w.exclusive()["gpu.example.com/a/gpu-0"] != "" })
				})
			}
		})
	}
}

// forgotten waits until the scheduler no longer knows a claim.
func forgotten(w *world, s *kube.Scheduler, claim string) {
	w.eventually("the claim is forgotten", func() (gone bool) {
		err := s.Do(context.Background(), func(snap *framework.Snapshot) {
			gone = framework.Lookup[api.ResourceClaim](snap, "default/"+claim) == nil
		})
		return gone && err == nil
	})
}

// The watch says that a claim was deleted before the write of the claim is answered: the claim
// does not come back, so its device is free. Its pod is not bound.
func TestWriteAnsweredAfterTheEnd(t *testing.T) {
	first, p := gpuClaim("first", pod("attacker", "1"))
	w := oneGPU(t, first)
	var s *kube.Scheduler
	w.answer("first", func(carryOut func() (kruntime.Object, error)) (kruntime.Object, error) {
		obj, err := carryOut()
		_ = w.client.Tracker().Delete(claimResource, "default", "first")
		forgotten(w, s, "first")
		return obj, err
	})
	s = w.start(kube.Config{})
	w.create(p)
	w.eventually("its binding has failed", func() bool { return len(w.pod("attacker").Status.Conditions) > 0 })
	if got := w.pod("attacker").Status.Conditions[0].Message; !strings.Contains(got, "claim default/first does not exist any more") {
		t.Errorf("condition %q", got)
	}
	w.create(victim(0))
	w.eventually("the device is free", func() bool { return slices.Equal(w.bindings(), []string{"victim0 a"}) })
	w.exclusive()
}

// The answer to a write that was carried out is lost: the pod is bound all the same.
func TestWriteWithoutAnswer(t *testing.T) {
	first, p := gpuClaim("first", pod("p", "1"))
	w := oneGPU(t, first)
	writes := 0
	w.answer("first", func(carryOut func() (kruntime.Object, error)) (kruntime.Object, error) {
		writes++
		_, err := carryOut()
		return nil, errors.Join(err, errors.New("connection lost"))
	})
	w.start(kube.Config{})
	w.create(p)
	w.eventually("the pod is bound", func() bool { return slices.Equal(w.bindings(), []string{"p a"}) })
	w.refused(0)
	if c := w.claim("first"); writes != 1 || len(c.Status.ReservedFor) != 1 || c.Status.ReservedFor[0].UID != p.UID {
		t.Errorf("%d writes, the claim is reserved for %v", writes, c.Status.ReservedFor)
	}
	if !w.logs.has("nobody knows whether a claim has got its devices") {
		t.Errorf("the log is %s", w.logs)
	}
}

// A claim is deleted while its device is prepared: the pod fails at once.
func TestClaimDeletedWhileDeviceIsPrepared(t *testing.T) {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: new("a"), Pool: resourcev1.ResourcePool{Name: "a", ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "gpu-0", BindingConditions: []string{"ready"}, BindingFailureConditions: []string{"failed"}}},
	}}
	claim, p := gpuClaim("claim", pod("p", "4"))
	w := newWorld(t, node("a", "4"), slice, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}, claim)
	s := w.start(kube.Config{})
	w.create(p)
	w.eventually("the claim is allocated", func() bool { return w.claim("claim").Status.Allocation != nil })
	if err := w.client.Tracker().Delete(claimResource, "default", "claim"); err != nil {
		t.Fatal(err)
	}
	w.eventually("the pod no longer counts", func() bool { return podsOn(t, s, "a") == 0 })
	w.eventually("an event says so", func() bool {
		return slices.ContainsFunc(w.events("p"), func(e string) bool { return strings.Contains(e, "claim default/claim does not exist any more") })
	})
	if got := w.bindings(); len(got) > 0 {
		t.Errorf("bindings %v", got)
	}
}

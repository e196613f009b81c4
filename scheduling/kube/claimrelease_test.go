package kube_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// deleted sets what the API server sets when a claim with a finalizer is deleted.
func deleted(c *resourcev1.ResourceClaim) { c.DeletionTimestamp = &metav1.Time{Time: time.Now()} }

// users lists the names of the pods that a claim is reserved for.
func users(c *resourcev1.ResourceClaim) (list []string) {
	for _, u := range c.Status.ReservedFor {
		list = append(list, u.Name)
	}
	return list
}

// usedBy makes pods users of a claim.
func usedBy(c *resourcev1.ResourceClaim, pods ...*corev1.Pod) {
	for _, p := range pods {
		c.Status.ReservedFor = append(c.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: p.Name, UID: p.UID})
	}
}

// The binding of a pod fails, and then a user deletes its claim. The claim goes, so the pod that is made for
// a new one of its name gets the device.
func TestClaimOfFailedBindingGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := oneGPU(t)
		w.refuse = func(pod, _ string) (bool, error) {
			return false, apierrors.NewForbidden(podResource.GroupResource(), pod, nil)
		}
		w.start(kube.Config{})
		w.create(victim(0))
		w.eventually("its binding has failed", func() bool { return len(w.pod("victim0").Status.Conditions) > 0 })
		if got := users(w.claim("victim0")); !slices.Equal(got, []string{"victim0"}) {
			t.Fatalf("after the binding has failed the claim is reserved for %v", got)
		}
		w.change("victim0", deleted)
		w.eventually("the pod has left the claim", func() bool { return len(w.claim("victim0").Status.ReservedFor) == 0 })

		// The claim controller lets the claim go, and the user makes it again.
		_ = w.client.Tracker().Delete(claimResource, "default", "victim0")
		w.mu.Lock()
		w.refuse = nil
		w.mu.Unlock()
		again, _ := gpuClaim("victim0", pod("", "1"))
		again.UID, again.ResourceVersion = "again", w.version()
		if err := w.client.Tracker().Add(again); err != nil {
			t.Fatal(err)
		}
		w.eventually("the pod is bound", func() bool { return slices.Equal(w.bindings(), []string{"victim0 a"}) })
		if got := users(w.claim("victim0")); !slices.Equal(got, []string{"victim0"}) {
			t.Errorf("the new claim is reserved for %v", got)
		}
	})
}

// Only pods that wait for a place of ours leave a claim that is being deleted.
func TestClaimKeepsOtherUsers(t *testing.T) {
	running, foreign, old, waits := pod("running", "1"), pod("foreign", "1"), pod("old", "1"), pod("waits", "1")
	running.Spec.NodeName = "a"
	foreign.Spec.SchedulerName = "other"
	for _, p := range []*corev1.Pod{waits, foreign, old} {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
	}
	for _, test := range []struct {
		name    string
		prepare func(c *resourcev1.ResourceClaim)
		want    []string
		writes  int32
	}{
		{"being deleted", deleted, []string{"running", "foreign", "old", "gone", "job"}, 1},
		{"not deleted", func(*resourcev1.ResourceClaim) {}, []string{"running", "waits", "foreign", "old", "gone", "job"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := gpuClaim("shared", pod("", "1"))
				usedBy(c, running, waits, foreign)
				before := old.DeepCopy()
				before.UID = "before"
				usedBy(c, before, pod("gone", "1"))
				c.Status.ReservedFor = append(c.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{APIGroup: "batch", Resource: "jobs", Name: "job", UID: "job"})
				test.prepare(c)
				w := oneGPU(t, c)
				var writes atomic.Int32
				w.client.PrependReactor("update", "resourceclaims", func(clienttesting.Action) (bool, kruntime.Object, error) {
					writes.Add(1)
					return false, nil, nil
				})
				w.start(kube.Config{})
				for _, p := range []*corev1.Pod{running, waits, foreign, old} {
					w.create(p.DeepCopy())
				}
				time.Sleep(10 * time.Minute)
				if got := users(w.claim("shared")); !slices.Equal(got, test.want) {
					t.Errorf("the claim is reserved for %v, want %v", got, test.want)
				}
				if got := writes.Load(); got != test.writes {
					t.Errorf("%d writes, want %d", got, test.writes)
				}
			})
		})
	}
}

// While its binding is under way a pod stays in its claim, though a user deletes that: the API server may
// still bind it.
func TestClaimKeepsPodOfBindingUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := oneGPU(t)
		bind := &slowBind{carryOut: make(chan struct{})}
		profile := scheduling.Kubernetes137()
		profile.Bind = []framework.Plugin{bind}
		bind.s = w.start(kube.Config{Profiles: []scheduling.Profile{profile}})
		carryOut := sync.OnceFunc(func() { close(bind.carryOut) })
		t.Cleanup(carryOut)
		time.Sleep(5 * time.Minute)
		w.create(victim(0))
		w.eventually("its claim is written", func() bool { return len(users(w.claim("victim0"))) > 0 })
		w.change("victim0", deleted)
		time.Sleep(10 * time.Minute)
		if got := users(w.claim("victim0")); !slices.Equal(got, []string{"victim0"}) {
			t.Errorf("while the binding is under way, the claim is reserved for %v", got)
		}
		carryOut()
		w.eventually("the pod is bound", func() bool { return slices.Equal(w.bindings(), []string{"victim0 a"}) })
		time.Sleep(10 * time.Minute)
		if got := users(w.claim("victim0")); !slices.Equal(got, []string{"victim0"}) {
			t.Errorf("once it is bound, the claim is reserved for %v", got)
		}
	})
}

// slowBind binds with s once carryOut is closed.
type slowBind struct {
	carryOut chan struct{}
	s        *kube.Scheduler
}

func (*slowBind) Name() string { return "SlowBind" }

func (b *slowBind) Bind(ctx context.Context, c *framework.Cycle, node string) framework.Status {
	if err := lifecycle.Await(ctx, func() error { <-b.carryOut; return nil }); err != nil {
		return framework.AsStatus(err)
	}
	return framework.AsStatus(b.s.Bind(ctx, c.Pod.Pod, node))
}

// A claim whose write fails does not keep others, of its namespace or of another one, and is tried again.
func TestClaimReleaseFails(t *testing.T) {
	const claims = 30
	synctest.Test(t, func(t *testing.T) {
		var objects []kruntime.Object
		var pods []*corev1.Pod
		for i := range claims {
			name := fmt.Sprintf("c%02d", i)
			p := pod(name, "1")
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
			c, _ := gpuClaim(name, pod("", "1"))
			c.UID = types.UID(name)
			usedBy(c, p)
			deleted(c)
			objects, pods = append(objects, c), append(pods, p)
		}
		w := oneGPU(t, objects...)
		start := time.Now()
		var first atomic.Int32 // writes of c00
		w.client.PrependReactor("update", "resourceclaims", func(a clienttesting.Action) (bool, kruntime.Object, error) {
			name := a.(clienttesting.UpdateAction).GetObject().(metav1.Object).GetName()
			if name == "c00" {
				first.Add(1)
			}
			if name < "c25" && time.Since(start) < 10*time.Minute {
				return true, nil, errors.New("no")
			}
			return false, nil, nil
		})
		w.start(kube.Config{})
		w.create(pods...)
		left := func() (n int) {
			for i := range claims {
				n += len(w.claim(fmt.Sprintf("c%02d", i)).Status.ReservedFor)
			}
			return n
		}
		time.Sleep(3 * time.Minute)
		if got := left(); got != 25 {
			t.Errorf("%d claims are reserved while the writes of 25 fail", got)
		}
		if got := first.Load(); got < 2 || got > 3 {
			t.Errorf("%d writes of a claim within a minute", got)
		}
		if !w.logs.has("a claim that is being deleted stays reserved") {
			t.Errorf("the log is %s", w.logs)
		}
		time.Sleep(8 * time.Minute)
		if got := left(); got != 0 {
			t.Errorf("%d claims are reserved at the end", got)
		}
	})
}

// Claims of a namespace whose users wait for another scheduler do not keep its other claims from being released.
func TestClaimsOfForeignUsersLetOthersGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const foreign = 400
		var claims []kruntime.Object
		var pods []*corev1.Pod
		add := func(name, scheduler string) {
			p := pod(name, "1")
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
			if scheduler != "" {
				p.Spec.SchedulerName = scheduler
			}
			c, _ := gpuClaim(name, pod("", "1"))
			usedBy(c, p)
			deleted(c)
			claims, pods = append(claims, c), append(pods, p)
		}
		for i := range foreign {
			add(fmt.Sprintf("foreign-%03d", i), "other")
			if i%200 == 190 {
				add(fmt.Sprintf("ours-%03d", i), "")
			}
		}
		w := oneGPU(t, claims...)
		w.start(kube.Config{})
		for _, p := range pods {
			w.create(p)
		}
		time.Sleep(4 * time.Minute)
		for _, name := range []string{"ours-190", "ours-390"} {
			if got := users(w.claim(name)); len(got) > 0 {
				t.Errorf("claim %s is reserved for %v", name, got)
			}
		}
		if got := users(w.claim("foreign-000")); len(got) == 0 {
			t.Error("a pod of another scheduler has left its claim")
		}
	})
}

package kube_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apimachinery/pkg/watch"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube"
)

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// world is a cluster without a control plane: client-go's fake, which this type teaches to
// bind pods.
type world struct {
	t      *testing.T
	client *fake.Clientset
	logs   *lockedBuffer

	mu     sync.Mutex
	bound  []string                             // "pod node", in order
	refuse func(pod, node string) (bool, error) // whether to bind in spite of the error

	started int // schedulers
	watches int // of pods

	versions atomic.Int64
}

func newWorld(t *testing.T, objects ...kruntime.Object) *world {
	t.Helper()
	w := &world{t: t, logs: new(lockedBuffer)}
	for _, o := range objects {
		if m := o.(metav1.Object); m.GetResourceVersion() == "" {
			m.SetResourceVersion(w.version())
		}
	}
	w.client = fake.NewClientset(objects...)
	w.client.PrependReactor("*", "*", w.versioned)
	w.client.Resources = []*metav1.APIResourceList{{GroupVersion: "resource.k8s.io/v1", APIResources: []metav1.APIResource{
		{Name: "deviceclasses"}, {Name: "resourceclaims"}, {Name: "resourceslices"}, {Name: "devicetaintrules"},
	}}}
	w.client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.1"}
	w.client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, kruntime.Object, error) {
		if a.GetSubresource() != "binding" {
			return false, nil, nil
		}
		b := a.(clienttesting.CreateAction).GetObject().(*corev1.Binding)
		return true, b, w.bind(b)
	})
	// The fake loses what happens between a list and the watch that follows, so pods are
	// created once they are watched.
	w.client.PrependWatchReactor("pods", func(a clienttesting.Action) (bool, watch.Interface, error) {
		watcher, err := w.client.Tracker().Watch(a.GetResource(), a.GetNamespace())
		w.mu.Lock()
		defer w.mu.Unlock()
		w.watches++
		return true, watcher, err
	})
	return w
}

// version returns the next resourceVersion.
func (w *world) version() string { return fmt.Sprint(w.versions.Add(1)) }

// versioned gives every object that is written a new version, which the fake does not, and
// refuses to write over another version than the writer has seen.
func (w *world) versioned(a clienttesting.Action) (bool, kruntime.Object, error) {
	switch a := a.(type) {
	case clienttesting.UpdateActionImpl: // also a creation
		m := a.GetObject().(metav1.Object)
		if a.GetVerb() == "update" {
			if err := w.fits(a, m.GetName(), m.GetResourceVersion()); err != nil {
				return true, nil, err
			}
		}
		m.SetResourceVersion(w.version())
	case clienttesting.CreateActionImpl:
		a.GetObject().(metav1.Object).SetResourceVersion(w.version())
	case clienttesting.PatchActionImpl:
		var patch map[string]any
		if err := json.Unmarshal(a.Patch, &patch); err != nil {
			return true, nil, err
		}
		m, _ := patch["metadata"].(map[string]any)
		if m == nil {
			m = map[string]any{}
			patch["metadata"] = m
		}
		seen, _ := m["resourceVersion"].(string)
		if err := w.fits(a, a.Name, seen); err != nil {
			return true, nil, err
		}
		m["resourceVersion"] = w.version()
		a.Patch, _ = json.Marshal(patch)
		return clienttesting.ObjectReaction(w.client.Tracker())(a)
	}
	return false, nil, nil
}

// fits returns a conflict unless the version is that of the object, or "".
func (w *world) fits(a clienttesting.Action, name, version string) error {
	got, err := w.client.Tracker().Get(a.GetResource(), a.GetNamespace(), name)
	if err != nil {
		return err
	}
	if now := got.(metav1.Object).GetResourceVersion(); version != "" && version != now {
		return apierrors.NewConflict(a.GetResource().GroupResource(), name, fmt.Errorf("version %s is not %s", version, now))
	}
	return nil
}

// bind is what the API server does with a binding.
func (w *world) bind(b *corev1.Binding) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var failure error
	if w.refuse != nil {
		carryOut, err := w.refuse(b.Name, b.Target.Name)
		if failure = err; err != nil && !carryOut {
			return err
		}
	}
	got, err := w.client.Tracker().Get(podResource, b.Namespace, b.Name)
	if err != nil {
		return err
	}
	pod := got.(*corev1.Pod).DeepCopy()
	switch {
	case b.UID != "" && b.UID != pod.UID:
		return apierrors.NewConflict(podResource.GroupResource(), b.Name, errors.New("another UID"))
	case pod.Spec.NodeName != "":
		return apierrors.NewConflict(podResource.GroupResource(), b.Name, fmt.Errorf("pod %s is already assigned to node %q", pod.Name, pod.Spec.NodeName))
	}
	pod.Spec.NodeName, pod.ResourceVersion = b.Target.Name, w.version()
	if err := w.client.Tracker().Update(podResource, pod, b.Namespace); err != nil {
		return err
	}
	w.bound = append(w.bound, b.Name+" "+b.Target.Name)
	return failure
}

func (w *world) bindings() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.bound)
}

// start runs a scheduler until the test ends, and checks that it ends well.
func (w *world) start(c kube.Config) *kube.Scheduler {
	w.t.Helper()
	s, stop := w.startWith(c)
	w.t.Cleanup(func() {
		if err := stop(); !errors.Is(err, context.Canceled) {
			w.t.Errorf("Run: %v", err)
		}
	})
	return s
}

// startWith runs a scheduler. stop ends it and returns what Run has returned.
func (w *world) startWith(c kube.Config) (s *kube.Scheduler, stop func() error) {
	w.t.Helper()
	if c.Client == nil {
		c.Client = w.client
	}
	if c.Profiles == nil && c.Configuration == nil {
		c.Profiles = []scheduling.Profile{scheduling.Kubernetes137()}
	}
	if c.Log == nil {
		c.Log = w.log()
	}
	s, err := kube.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	w.started++
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return s, func() error {
		cancel()
		select {
		case err := <-done:
			for end := time.Now().Add(patience); w.started == 1 && runtime.NumGoroutine() > before && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if n := runtime.NumGoroutine(); w.started == 1 && n > before {
				var stacks [1 << 16]byte
				w.t.Errorf("%d goroutines are left, there were %d\n%s", n, before, stacks[:runtime.Stack(stacks[:], true)])
			}
			return err
		case <-time.After(patience):
			w.t.Fatal("Run does not end")
			return nil
		}
	}
}

func (w *world) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// patience is how long a test waits for what must happen: far longer than it takes on a
// slow machine that has much else to do.
const patience = 3 * time.Minute

// eventually waits until a condition holds.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if holds() {
			return
		}
	}
	w.t.Fatalf("not within %v: %s\n%s", patience, what, w.logs)
}

func (w *world) pod(name string) *corev1.Pod {
	w.t.Helper()
	p, err := w.client.CoreV1().Pods("default").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) create(pods ...*corev1.Pod) {
	w.t.Helper()
	w.eventually("pods are watched", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.watches >= w.started
	})
	for _, p := range pods {
		if _, err := w.client.CoreV1().Pods(p.Namespace).Create(context.Background(), p, metav1.CreateOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) delete(pod string) {
	w.t.Helper()
	if err := w.client.CoreV1().Pods("default").Delete(context.Background(), pod, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// events lists the reasons and notes of the events of a pod.
func (w *world) events(pod string) (list []string) {
	w.t.Helper()
	all, err := w.client.EventsV1().Events("default").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range all.Items {
		if e.Regarding.Name == pod {
			list = append(list, e.Reason+": "+e.Note)
		}
	}
	return list
}

func node(name, cpu string) *corev1.Node {
	capacity := corev1.ResourceList{
		"cpu": resource.MustParse(cpu), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110"),
		"ephemeral-storage": resource.MustParse("100Gi"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name), Labels: map[string]string{"kubernetes.io/hostname": name}},
		Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
}

func pod(name, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("pod-" + name)},
		Spec: corev1.PodSpec{SchedulerName: "default-scheduler", Containers: []corev1.Container{{
			Name: "main", Image: "image",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedBuffer) has(text string) bool { return strings.Contains(l.String(), text) }

func fakeVersion(w *world, minor string) {
	w.client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &version.Info{Major: "1", Minor: minor, GitVersion: "v1." + minor + ".0"}
}

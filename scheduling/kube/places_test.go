package kube_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	typedresourcev1 "k8s.io/client-go/kubernetes/typed/resource/v1"

	"github.com/berth-sched/berth/scheduling/kube"
)

// A gate holds writes of claims until the test opens it.
type gate struct {
	open  chan struct{}
	holds atomic.Int32
	most  atomic.Int32 // that it has held at once
}

func (g *gate) pass(ctx context.Context) error {
	now := g.holds.Add(1)
	defer g.holds.Add(-1)
	for old := g.most.Load(); now > old && !g.most.CompareAndSwap(old, now); old = g.most.Load() {
	}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// gated is the fake behind a gate. The fake itself answers one request at a time, so its answers must
// not wait.
type gated struct {
	*fake.Clientset
	gate *gate
}

type (
	gatedCore struct {
		typedcorev1.CoreV1Interface
		gate *gate
	}
	gatedClaims struct {
		typedcorev1.PersistentVolumeClaimInterface
		gate *gate
	}
	gatedResource struct {
		typedresourcev1.ResourceV1Interface
		gate *gate
	}
	gatedDevices struct {
		typedresourcev1.ResourceClaimInterface
		gate *gate
	}
)

func (c gated) CoreV1() typedcorev1.CoreV1Interface { return gatedCore{c.Clientset.CoreV1(), c.gate} }

func (c gated) ResourceV1() typedresourcev1.ResourceV1Interface {
	return gatedResource{c.Clientset.ResourceV1(), c.gate}
}

func (c gatedCore) PersistentVolumeClaims(namespace string) typedcorev1.PersistentVolumeClaimInterface {
	return gatedClaims{c.CoreV1Interface.PersistentVolumeClaims(namespace), c.gate}
}

func (c gatedResource) ResourceClaims(namespace string) typedresourcev1.ResourceClaimInterface {
	return gatedDevices{c.ResourceV1Interface.ResourceClaims(namespace), c.gate}
}

func (c gatedClaims) Patch(ctx context.Context, name string, t types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (*corev1.PersistentVolumeClaim, error) {
	if err := c.gate.pass(ctx); err != nil {
		return nil, err
	}
	return c.PersistentVolumeClaimInterface.Patch(ctx, name, t, data, o, sub...)
}

func (c gatedDevices) UpdateStatus(ctx context.Context, claim *resourcev1.ResourceClaim, o metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	if err := c.gate.pass(ctx); err != nil {
		return nil, err
	}
	return c.ResourceClaimInterface.UpdateStatus(ctx, claim, o)
}

// Pods whose claims are written keep no other pod from being bound, however many they are and however
// long that takes. Their writes take turns; for a pod that has gone meanwhile nothing is written.
func TestWritesKeepNoPlaces(t *testing.T) {
	const bindings, slow, gone, fast = 8, 12, 3, 6
	for _, test := range []struct {
		name string
		pod  func(i int) (*corev1.Pod, []kruntime.Object) // with its claims
	}{
		{"volumes", func(i int) (p *corev1.Pod, claims []kruntime.Object) {
			p = pod(fmt.Sprint("slow", i), "1")
			for j := range 2 {
				name := fmt.Sprintf("data-%d-%d", i, j)
				p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
				}})
				claims = append(claims, claim(name, "csi"))
			}
			return p, claims
		}},
		{"devices", func(i int) (*corev1.Pod, []kruntime.Object) {
			c, p := gpuClaim(fmt.Sprint("gpu", i), pod(fmt.Sprint("slow", i), "1"))
			return p, []kruntime.Object{c}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.com", NodeName: new("a"), Pool: resourcev1.ResourcePool{Name: "a", ResourceSliceCount: 1},
			}}
			objects := []kruntime.Object{node("a", "100"), class("csi", "csi.example.com"), slice, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
			var pods []*corev1.Pod
			for i := range slow {
				p, claims := test.pod(i)
				pods, objects = append(pods, p), append(objects, claims...)
				slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("gpu-", i)})
			}
			w := newWorld(t, objects...)
			w.volumeController(func(*corev1.PersistentVolumeClaim, string) bool { return true })
			g := &gate{open: make(chan struct{})}
			s := w.start(kube.Config{Client: gated{w.client, g}, Bindings: bindings})
			w.create(pods...)
			w.eventually("the claims of all pods are to be written", func() bool { return podsOn(t, s, "a") == slow && g.holds.Load() == bindings/8 })
			for i := range fast {
				w.create(pod(fmt.Sprint("fast", i), "1"))
			}
			w.eventually("all other pods are bound", func() bool { return len(w.bindings()) == fast })
			for _, b := range w.bindings() {
				if !strings.HasPrefix(b, "fast") {
					t.Errorf("binding %q, and the claims are not written", b)
				}
			}
			for _, p := range pods[:gone] {
				w.delete(p.Name)
			}
			w.create(pod("fast", "1"))
			w.eventually("the watch has told that they are gone", func() bool { return len(w.bindings()) == fast+1 })
			close(g.open)
			w.eventually("the pods with claims are bound", func() bool { return len(w.bindings()) == fast+1+slow-gone })
			w.eventually("the others no longer count", func() bool { return podsOn(t, s, "a") == fast+1+slow-gone })
			if n := w.writtenFor(gone); n > 1 { // one may have had the turn
				t.Errorf("%d claims of pods that were gone were written", n)
			}
			if most := g.most.Load(); most > bindings/8 {
				t.Errorf("%d claims were written at once, want at most %d", most, bindings/8)
			}
		})
	}
}

// writtenFor counts the written claims of the first pods.
func (w *world) writtenFor(pods int) (n int) {
	for i := range pods {
		for _, name := range []string{fmt.Sprintf("data-%d-0", i), fmt.Sprintf("data-%d-1", i)} {
			c, err := w.client.CoreV1().PersistentVolumeClaims("default").Get(context.Background(), name, metav1.GetOptions{})
			if err == nil && c.Annotations["volume.kubernetes.io/selected-node"] != "" {
				n++
			}
		}
		c, err := w.client.ResourceV1().ResourceClaims("default").Get(context.Background(), fmt.Sprint("gpu", i), metav1.GetOptions{})
		if err == nil && c.Status.Allocation != nil {
			n++
		}
	}
	return n
}

package kube_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube"
)

func class(name, provisioner string) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
}

func volume(name, class, node string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("pv-" + name), Labels: map[string]string{"keep": "me"}}}
	v.Spec.StorageClassName = class
	v.Spec.Capacity = corev1.ResourceList{"storage": resource.MustParse("5Gi")}
	v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain // a field that scheduling does not read
	v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "kubernetes.io/hostname", Operator: "In", Values: []string{node}}},
	}}}}
	v.Status.Phase = corev1.VolumeAvailable
	return v
}

func claim(name, class string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("pvc-" + name)}}
	c.Spec.StorageClassName = &class
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Spec.Resources.Requests = corev1.ResourceList{"storage": resource.MustParse("1Gi")}
	return c
}

func mounting(name, claim string) *corev1.Pod {
	p := pod(name, "1")
	p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}}
	return p
}

// volumeController binds claims as the volume controller does, until the test ends.
// provision makes a volume for a claim with a selected node, or refuses.
func (w *world) volumeController(provision func(c *corev1.PersistentVolumeClaim, node string) bool) {
	ctx, cancel := context.WithCancel(context.Background())
	core := w.client.CoreV1()
	volumes, err := core.PersistentVolumes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	claims, err := core.PersistentVolumeClaims("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	finish := func(c *corev1.PersistentVolumeClaim, volume string) {
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes", "volume.kubernetes.io/selected-node": c.Annotations["volume.kubernetes.io/selected-node"]}
		c.Spec.VolumeName = volume
		if _, err := core.PersistentVolumeClaims(c.Namespace).Update(ctx, c, metav1.UpdateOptions{}); err != nil {
			w.t.Error(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			var e watch.Event
			select {
			case e = <-volumes.ResultChan():
			case e = <-claims.ResultChan():
			case <-ctx.Done():
				return
			}
			switch o := e.Object.(type) {
			case *corev1.PersistentVolume:
				if r := o.Spec.ClaimRef; r != nil {
					if c, err := core.PersistentVolumeClaims(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{}); err == nil && c.Spec.VolumeName == "" {
						finish(c, o.Name)
					}
				}
			case *corev1.PersistentVolumeClaim:
				node := o.Annotations["volume.kubernetes.io/selected-node"]
				if node == "" || o.Spec.VolumeName != "" || *o.Spec.StorageClassName != "csi" {
					continue
				}
				if !provision(o, node) {
					delete(o.Annotations, "volume.kubernetes.io/selected-node")
					if _, err := core.PersistentVolumeClaims(o.Namespace).Update(ctx, o, metav1.UpdateOptions{}); err != nil {
						w.t.Error(err)
					}
					continue
				}
				v := volume("made-for-"+o.Name, "csi", node)
				if _, err := core.PersistentVolumes().Create(ctx, v, metav1.CreateOptions{}); err != nil {
					w.t.Error(err)
				}
				finish(o, v.Name)
			}
		}
	}()
	w.t.Cleanup(func() {
		cancel()
		volumes.Stop()
		claims.Stop()
		<-done
	})
}

// Two pods, two claims, one volume: one pod gets it. The volume keeps the fields that
// scheduling does not read.
func TestVolumes(t *testing.T) {
	w := newWorld(t, node("a", "4"), node("b", "4"), class("local", "kubernetes.io/no-provisioner"), volume("v", "local", "b"), claim("one", "local"), claim("two", "local"))
	w.volumeController(nil)
	w.start(kube.Config{})
	w.create(mounting("p", "one"), mounting("q", "two"))
	w.eventually("one pod is bound, the other is not", func() bool {
		return len(w.bindings()) == 1 && len(w.pod("p").Status.Conditions)+len(w.pod("q").Status.Conditions) == 1
	})
	v, err := w.client.CoreV1().PersistentVolumes().Get(context.Background(), "v", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := v.Spec.ClaimRef; r == nil || r.Kind != "PersistentVolumeClaim" || r.UID == "" || v.Annotations["pv.kubernetes.io/bound-by-controller"] != "yes" {
		t.Errorf("claimRef %+v, annotations %v", r, v.Annotations)
	}
	if v.Labels["keep"] != "me" || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain {
		t.Errorf("the volume has lost fields: %+v", v)
	}
	if got := w.bindings()[0]; !strings.HasSuffix(got, " b") {
		t.Errorf("binding %q, want node b", got)
	}
}

// A volume is reserved, the pod is deleted, and the watch has not told of the write. The volume
// counts as free then, as in kube-scheduler, but the next pod cannot take it: a patch names the
// version of the volume that it changes.
func TestReservedVolumeIsNotTaken(t *testing.T) {
	w := newWorld(t, node("a", "4"), class("local", "kubernetes.io/no-provisioner"), volume("v", "local", "a"), claim("one", "local"), claim("two", "local"))
	w.hold("persistentvolumes")
	var once sync.Once
	w.client.PrependReactor("patch", "persistentvolumes", func(clienttesting.Action) (bool, kruntime.Object, error) {
		once.Do(func() { _ = w.client.Tracker().Delete(podResource, "default", "p") })
		return false, nil, nil
	})
	s := w.start(kube.Config{})
	w.create(mounting("p", "one"))
	reserved := func() string {
		v, err := w.client.CoreV1().PersistentVolumes().Get(context.Background(), "v", metav1.GetOptions{})
		if err != nil || v.Spec.ClaimRef == nil {
			return ""
		}
		return v.Spec.ClaimRef.Name
	}
	w.eventually("the volume is reserved", func() bool { return reserved() == "one" })
	w.eventually("the binding has failed", func() bool { return podsOn(t, s, "a") == 0 })
	w.create(mounting("q", "two"))
	w.eventually("the second has failed", func() bool { return len(w.pod("q").Status.Conditions) > 0 })
	if got := w.pod("q").Status.Conditions[0].Message; !strings.Contains(got, "reserving volume v") {
		t.Errorf("condition %q", got)
	}
	if got := reserved(); got != "one" {
		t.Errorf("the volume is reserved for %s", got)
	}
}

// A volume is provisioned; if that fails, the pod is scheduled again.
func TestProvisioning(t *testing.T) {
	w := newWorld(t, node("a", "4"), class("csi", "csi.example.com"), claim("data", "csi"))
	asked := 0
	w.volumeController(func(*corev1.PersistentVolumeClaim, string) bool {
		asked++
		return asked > 1
	})
	w.start(kube.Config{})
	w.create(mounting("p", "data"))
	w.eventually("the pod is bound", func() bool { return len(w.bindings()) == 1 })
	if asked != 2 {
		t.Errorf("the provisioner was asked %d times, want 2", asked)
	}
	if got := w.events("p"); len(got) == 0 || !strings.Contains(got[0], `provisioning failed for PVC "data"`) {
		t.Errorf("events %q", got)
	}
}

// The pod is deleted while its volume is made: it is not bound, and nothing is left.
func TestDeletedWhileProvisioning(t *testing.T) {
	w := newWorld(t, node("a", "4"), class("csi", "csi.example.com"), claim("data", "csi"))
	s := w.start(kube.Config{})
	w.create(mounting("p", "data"))
	w.eventually("the node is noted", func() bool {
		c, err := w.client.CoreV1().PersistentVolumeClaims("default").Get(context.Background(), "data", metav1.GetOptions{})
		return err == nil && c.Annotations["volume.kubernetes.io/selected-node"] == "a"
	})
	w.delete("p")
	w.eventually("the pod no longer counts", func() bool { return podsOn(t, s, "a") == 0 })
	if got := w.bindings(); len(got) > 0 {
		t.Errorf("bindings %v", got)
	}
}

// gpuClaim returns a claim of a device, and the pod with the claim.
func gpuClaim(name string, p *corev1.Pod) (*resourcev1.ResourceClaim, *corev1.Pod) {
	p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
		}}}},
	}, p
}

// The pod is deleted while its device is prepared: it no longer counts on the node.
func TestDeletedWhileDeviceIsPrepared(t *testing.T) {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: new("a"), Pool: resourcev1.ResourcePool{Name: "a", ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "gpu-0", BindingConditions: []string{"ready"}, BindingFailureConditions: []string{"failed"}}},
	}}
	claim, p := gpuClaim("claim", pod("p", "4"))
	w := newWorld(t, node("a", "4"), slice, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}, claim)
	s := w.start(kube.Config{})
	w.create(p)
	w.eventually("the claim is allocated", func() bool {
		c, err := w.client.ResourceV1().ResourceClaims("default").Get(context.Background(), "claim", metav1.GetOptions{})
		return err == nil && c.Status.Allocation != nil
	})
	w.delete("p")
	w.eventually("the pod no longer counts", func() bool { return podsOn(t, s, "a") == 0 })
	if got := w.bindings(); len(got) > 0 {
		t.Errorf("bindings %v", got)
	}
}

// podsOn counts the pods of a node in the scheduler's snapshot.
func podsOn(t *testing.T, s *kube.Scheduler, node string) int {
	t.Helper()
	pods := -1
	if err := s.Do(context.Background(), func(snap *framework.Snapshot) { pods = len(snap.Node(node).Pods) }); err != nil {
		t.Fatal(err)
	}
	return pods
}

// Devices: the claim gets its allocation, the finalizer and its user; the second pod of a
// node with one device waits.
func TestResourceClaims(t *testing.T) {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: new("b"), Pool: resourcev1.ResourcePool{Name: "b", ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: new("x1")}}}},
	}}
	deviceClass := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}},
	}}
	objects := []kruntime.Object{node("a", "4"), node("b", "4"), slice, deviceClass}
	var pods []*corev1.Pod
	for i := range 2 {
		claim, p := gpuClaim(fmt.Sprint("claim", i), pod(fmt.Sprint("p", i), "1"))
		objects, pods = append(objects, claim), append(pods, p)
	}
	w := newWorld(t, objects...)
	w.start(kube.Config{})
	w.create(pods[0])
	w.eventually("the pod is bound", func() bool { return len(w.bindings()) == 1 })
	c, err := w.client.ResourceV1().ResourceClaims("default").Get(context.Background(), "claim0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a := c.Status.Allocation; a == nil || len(a.Devices.Results) != 1 || a.Devices.Results[0].Device != "gpu-0" || a.AllocationTimestamp == nil ||
		len(c.Finalizers) != 1 || len(c.Status.ReservedFor) != 1 || c.Status.ReservedFor[0].UID != "pod-p0" {
		t.Errorf("claim %+v", c)
	}
	if got := w.pod("p0").Spec.NodeName; got != "b" {
		t.Errorf("the pod is on %s, want b", got)
	}
	w.create(pods[1])
	w.eventually("the second has no device", func() bool { return len(w.pod("p1").Status.Conditions) == 1 })
	if got := w.pod("p1").Status.Conditions[0].Message; !strings.Contains(got, "cannot allocate all claims") {
		t.Errorf("condition %q", got)
	}
}

// A profile without DynamicResources refuses pods with claims.
func TestResourceClaimsUnknown(t *testing.T) {
	w := newWorld(t, node("a", "4"))
	w.start(kube.Config{Profiles: []scheduling.Profile{{Filter: []framework.Plugin{filter.NodeResourcesFit{}}}}})
	p := pod("p", "1")
	p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("gpu")}}
	w.create(p)
	w.eventually("the condition says why", func() bool {
		c := w.pod("p").Status.Conditions
		return len(c) == 1 && strings.Contains(c[0].Message, "resource claims, which this scheduler does not handle")
	})
}

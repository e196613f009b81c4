package kube_test

import (
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/scheduling/kube"
)

// The answer to a binding is lost, and the API server carries it out a moment later: the volume that one
// pod at a time may have, and the room of the node, go to no other pod.
func TestBindingIsCarriedOutLate(t *testing.T) {
	c := claim("once", "csi")
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	c.Spec.VolumeName = "v"
	c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	v := volume("v", "csi", "a")
	v.Spec.AccessModes = c.Spec.AccessModes
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "once", UID: c.UID}
	v.Status.Phase = corev1.VolumeBound
	w := newWorld(t, node("a", "1"), class("csi", "csi.example"), v, c)
	var first sync.Once
	carriedOut := make(chan struct{})
	w.refuse = func(pod, node string) (bool, error) {
		var err error
		first.Do(func() {
			err = apierrors.NewTimeoutError("the answer is lost", 0)
			go func() {
				defer close(carriedOut)
				time.Sleep(300 * time.Millisecond)
				b := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod}, Target: corev1.ObjectReference{Name: node}}
				if err := w.bind(b); err != nil {
					t.Log("late:", err) // it was sent again, and was carried out before
				}
			}()
		})
		return false, err
	}
	w.start(kube.Config{})
	w.create(mounting("p1", "once"), mounting("p2", "once"))
	<-carriedOut
	time.Sleep(time.Second)
	if list := w.bindings(); len(list) != 1 {
		t.Errorf("bindings are %v, want one", list)
	}
}

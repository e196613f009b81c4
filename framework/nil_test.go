package framework_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
)

// TestNil: what has an error to return does not panic on nil.
func TestNil(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	p := podInfo(t, s, plainPod("p"))
	wantError(t, framework.DefaultPod(nil, nil), "pod: is nil")
	wantError(t, framework.Put[framework.Namespace](s, nil), "object: is nil")
	wantError(t, s.AddNode(nil), "node: is nil")
	wantError(t, s.UpdateNode(nil), "node: is nil")
	for name, call := range map[string]func() error{
		"AddPod":      func() error { return s.AddPod(nil, "n") },
		"RemovePod":   func() error { return s.RemovePod(nil, "n") },
		"Assume":      func() error { return s.Assume(nil, s.Node("n")) },
		"Assume, to":  func() error { return s.Assume(p, nil) },
		"Forget":      func() error { return s.Forget(nil, s.Node("n")) },
		"Forget from": func() error { return s.Forget(p, nil) },
		"Nominate":    func() error { return s.Nominate(nil, "n", "") },
		"CheckPod":    func() error { return s.CheckPod(nil) },
		"zero pod":    func() error { return s.AddPod(new(framework.PodInfo), "n") },
	} {
		if err := call(); err == nil {
			t.Errorf("%s of nil succeeds", name)
		}
	}
	s.Touch(nil)
	s.Denominate(nil, "n")
	if key := framework.KeyOf[framework.Pod](nil); key != "" {
		t.Errorf("KeyOf(nil) = %q, want nothing", key)
	}
	if images, requests := framework.PodImages(nil), framework.PodRequests(nil, framework.RequestOptions{PodLevel: true, NonZero: true}); len(images)+len(requests) != 0 {
		t.Errorf("a nil pod uses %v and requests %v, want nothing", images, requests)
	}
}

// TestDefaultIgnoresNil: the others get their defaults all the same.
func TestDefaultIgnoresNil(t *testing.T) {
	pod := plainPod("p")
	o := &framework.Objects{
		Pods: []*framework.Pod{nil, pod}, PriorityClasses: []*framework.PriorityClass{nil}, Nodes: []*framework.Node{nil},
		Namespaces: []*framework.Namespace{nil}, ReplicationControllers: []*framework.ReplicationController{nil},
		StorageClasses: []*framework.StorageClass{nil}, PersistentVolumeClaims: []*framework.PersistentVolumeClaim{nil},
		PersistentVolumes: []*framework.PersistentVolume{nil},
	}
	if err := o.Default(); err != nil {
		t.Fatal(err)
	}
	if pod.Spec.SchedulerName != framework.DefaultSchedulerName || len(o.Pods) != 2 {
		t.Errorf("the pod beside a nil one has the scheduler %q, and there are %d", pod.Spec.SchedulerName, len(o.Pods))
	}
}

//go:build full

package framework_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestNil: what has an error to return does not panic on nil.
func TestNil(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	p := podInfo(t, s, plainPod("p"))
	wantError(t, api.DefaultPod(nil, nil), "pod: is nil")
	wantError(t, framework.Put[api.Namespace](s, nil), "object: is nil")
	wantError(t, s.AddNode(nil), "node: is nil")
	wantError(t, s.UpdateNode(nil), "node: is nil")
	for name, call := range map[string]func() error{
		"AddPod":      func() error { return s.AddPod(nil, "n") },
		"RemovePod":   func() error { return s.RemovePod(nil, "n") },
		"Assume":      func() error { return s.AddPodAt(nil, s.Node("n")) },
		"Assume, to":  func() error { return s.AddPodAt(p, nil) },
		"Forget":      func() error { return s.RemovePodAt(nil, s.Node("n")) },
		"Forget from": func() error { return s.RemovePodAt(p, nil) },
		"Nominate":    func() error { return s.Nominate(nil, "n", "") },
		"CheckPod":    func() error { return s.CheckPod(nil) },
		"zero pod":    func() error { return s.AddPod(new(framework.PodInfo), "n") },
	} {
		if err := call(); err == nil {
			t.Errorf("%s of nil succeeds", name)
		}
	}
	_, _, err := framework.SnapshotOf(nil, framework.Arrival)
	wantError(t, err, "objects: is nil")
	s.Touch(nil)
	s.ClearNomination(nil, "n")
	if key := api.KeyOf[api.Pod](nil); key != "" {
		t.Errorf("KeyOf(nil) = %q, want nothing", key)
	}
	if images, requests := api.PodImages(nil), api.PodRequests(nil, api.RequestOptions{PodLevel: true, NonZero: true}); len(images)+len(requests) != 0 {
		t.Errorf("a nil pod uses %v and requests %v, want nothing", images, requests)
	}
}

// TestDefaultIgnoresNil: the others get their defaults all the same.
func TestDefaultIgnoresNil(t *testing.T) {
	pod := plainPod("p")
	o := &api.Objects{
		Pods: []*api.Pod{nil, pod}, PriorityClasses: []*api.PriorityClass{nil}, Nodes: []*api.Node{nil},
		Namespaces: []*api.Namespace{nil}, ReplicationControllers: []*api.ReplicationController{nil},
		StorageClasses: []*api.StorageClass{nil}, PersistentVolumeClaims: []*api.PersistentVolumeClaim{nil},
		PersistentVolumes: []*api.PersistentVolume{nil},
	}
	if err := o.Default(); err != nil {
		t.Fatal(err)
	}
	if pod.Spec.SchedulerName != api.DefaultSchedulerName || len(o.Pods) != 2 {
		t.Errorf("the pod beside a nil one has the scheduler %q, and there are %d", pod.Spec.SchedulerName, len(o.Pods))
	}
}

package filter_test

import (
	"errors"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// netSlice is a device on the network, for all nodes.
func netSlice() *api.ResourceSlice {
	s := gpuSlice("x", 1)
	s.Name, s.Spec.NodeName, s.Spec.AllNodes = "net", nil, new(true)
	return s
}

func review19Cluster(t *testing.T) (*framework.Snapshot, *scheduling.Scheduler) {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	if err := errors.Join(
		s.AddNode(api.MakeNode("n1", "8", "32Gi").Obj()), s.AddNode(api.MakeNode("n2", "8", "32Gi").Obj()),
		framework.Put(s, gpuClass()), framework.Put(s, netSlice()), framework.Put(s, gpuTemplate(1)),
	); err != nil {
		t.Fatal(err)
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	return s, sched
}

// A pod goes with its node: RemoveNode, outside of any transaction of the caller. What it has
// in flight must go with it ("and so does the departure of the pod outside of a transaction").
func TestReview19NodeRemovedFreesDevices(t *testing.T) {
	s, sched := review19Cluster(t)
	pod, err := s.NewPodInfo(gpuPod("p", 1))
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Place(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveNode(d.Node); err != nil {
		t.Fatal(err)
	}
	if list := filter.DeviceClaimsOf(s, pod); len(list) > 0 {
		t.Errorf("the pod is gone, and still holds %d claims", len(list))
	}
	next, err := s.NewPodInfo(gpuPod("q", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sched.Place(s, next); err != nil {
		t.Errorf("the only device is free again, but: %v", err)
	}
}

// The same with RemovePod: it works.
func TestReview19PodRemovedFreesDevices(t *testing.T) {
	s, sched := review19Cluster(t)
	pod, err := s.NewPodInfo(gpuPod("p", 1))
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Place(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RemovePod(pod, d.Node); err != nil {
		t.Fatal(err)
	}
	next, err := s.NewPodInfo(gpuPod("q", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sched.Place(s, next); err != nil {
		t.Errorf("the only device is free again, but: %v", err)
	}
}

// A pod is removed in a transaction that is committed.
func TestReview19CommitFreesDevices(t *testing.T) {
	s, sched := review19Cluster(t)
	pod, err := s.NewPodInfo(gpuPod("p", 1))
	if err != nil {
		t.Fatal(err)
	}
	d, err := sched.Place(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	m := s.Begin()
	if err := s.RemovePod(pod, d.Node); err != nil {
		t.Fatal(err)
	}
	s.Commit(m)
	next, err := s.NewPodInfo(gpuPod("q", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sched.Place(s, next); err != nil {
		t.Errorf("the only device is free again, but: %v", err)
	}
}

// Two claims share a device and consume different capacities, as when the device's capacities
// have changed in between. One goes: Snapshot.Check then calls the state wrong.
func TestReview19CheckZero(t *testing.T) {
	s, _ := review19Cluster(t)
	claim := func(name string, capacity map[string]resource.Quantity) *api.ResourceClaim {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}}
		c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{
			{Request: "r", Driver: "gpu.example.com", Pool: "x", Device: "gpu-0", ShareID: new(api.UID(name)), ConsumedCapacity: capacity},
		}}}
		return c
	}
	one := resource.MustParse("1")
	filter.DeviceClaimsOf(s, nil19(t, s)) // the state is there
	if err := errors.Join(
		framework.Put(s, claim("a", map[string]resource.Quantity{"bandwidth": one, "slots": one})),
		framework.Put(s, claim("b", map[string]resource.Quantity{"slots": one})),
	); err != nil {
		t.Fatal(err)
	}
	framework.Delete[api.ResourceClaim](s, "default/a")
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func nil19(t *testing.T, s *framework.Snapshot) *framework.PodInfo {
	t.Helper()
	p, err := s.NewPodInfo(gpuPod("none", 1))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A class has a selector of a kind that is not known (no cel). The built-in compiler "refuses by
// name, never guesses": the device must not be given as if there were no selector.
func TestReview19ClassSelectorUnknown(t *testing.T) {
	s, sched := review19Cluster(t)
	class := gpuClass()
	class.Spec.Selectors = append(class.Spec.Selectors, api.DeviceSelector{})
	if err := framework.Put(s, class); err != nil {
		t.Fatal(err)
	}
	if d, err := sched.Place(s, nil19(t, s)); err == nil {
		t.Errorf("the selector without cel is taken as true: the pod is on %s", d.Node)
	}
}

// Two claims were made for a pod's extended resources in earlier cycles. The one whose event came
// last is deleted: the other one is still there, and must be found (its PostFilter deletes it).
func TestReview19TwoExtendedClaims(t *testing.T) {
	for _, early := range []bool{false, true} {
		s, sched := review19Cluster(t)
		object := api.MakePod("p").UID("p").Request("example.com/gpu", "1").Obj()
		pod, err := s.NewPodInfo(object)
		if err != nil {
			t.Fatal(err)
		}
		if early { // the state is made before the claims come
			if _, err := sched.Schedule(s, pod); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"a", "b"} {
			c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID(name)}}
			c.Annotations = map[string]string{api.AnnExtendedResourceClaim: "true"}
			c.OwnerReferences = []api.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "p", Controller: new(true)}}
			c.Spec.Devices.Requests = gpuRequest(1)
			if err := framework.Put(s, c); err != nil {
				t.Fatal(err)
			}
		}
		framework.Delete[api.ResourceClaim](s, "default/b")
		if _, err := sched.Schedule(s, pod); err == nil {
			t.Errorf("state made early: %v: claim a, which an earlier cycle left, is not seen", early)
		}
	}
}

// The doc comment of framework/api/devicejson.go: "If a value has both, the fields of v1 win".
func TestReview19BothShapes(t *testing.T) {
	o, err := api.Decode([]byte(`{"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice", "metadata": {"name": "s"},
		"spec": {"driver": "d", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
		"devices": [{"name": "x", "attributes": {"a": {"int": 1}}, "basic": {"attributes": {"b": {"int": 2}}}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := o.ResourceSlices[0].Spec.Devices[0]; d.Attributes["a"].IntValue == nil {
		t.Errorf("the attributes of v1 are gone: %v", d.Attributes)
	}
}

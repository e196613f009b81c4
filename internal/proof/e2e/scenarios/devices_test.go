package scenarios

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// driver is the driver of the devices.
const driver = "gpu.e2e.example"

// TestDevices binds pods that claim devices, which a selector in CEL chooses. Every device
// goes to one claim; claims are reserved for their pods; and pods for which no device is
// left wait until a claim is deleted.
func TestDevices(t *testing.T) {
	s := begin(t)
	const nodes, perNode, large = 4, 4, 2 // every second device is large
	numbers := []int{1, 2, 3, 4}
	s.ok(objects.CreateNodesOf(s.ctx, s.client, numbers))
	for _, i := range numbers {
		s.slice(objects.NodeName(i), perNode)
	}
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{cel(fmt.Sprintf("device.driver == %q", driver))},
	}}
	_, err := s.client.ResourceV1().DeviceClasses().Create(s.ctx, class, metav1.CreateOptions{})
	s.ok(err)
	s.start()
	const fits = nodes * large
	s.pods(fits+1, func(i int) *v1.Pod {
		name := fmt.Sprintf("device-%02d", i)
		s.deviceClaim(name, fmt.Sprintf(`device.attributes[%q].size == "large"`, driver))
		pod := objects.Pod(name, "100m", "100Mi")
		pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
		return pod
	})
	s.someBound(fits)
	var waiting string
	s.eventually("one pod finds no device", func() bool {
		for name, node := range s.guard.Placements() {
			if node == "" && condition(s.get(name), v1.PodScheduled).Reason == v1.PodReasonUnschedulable {
				waiting = name
			}
		}
		return waiting != ""
	})

	owners := map[string]string{}
	placements := s.guard.Placements()
	var freed string
	for name, node := range placements {
		claim, err := s.client.ResourceV1().ResourceClaims(objects.Namespace).Get(s.ctx, name, metav1.GetOptions{})
		s.ok(err)
		if name == waiting {
			if claim.Status.Allocation != nil {
				t.Errorf("claim %s of a pod that waits is allocated", name)
			}
			continue
		}
		freed = name
		if claim.Status.Allocation == nil || len(claim.Status.Allocation.Devices.Results) != 1 {
			t.Fatalf("claim %s: the allocation is %+v, want one device", name, claim.Status.Allocation)
		}
		device := claim.Status.Allocation.Devices.Results[0]
		if device.Pool != node || device.Driver != driver {
			t.Errorf("claim %s has a device of pool %s and driver %s; its pod is on %s", name, device.Pool, device.Driver, node)
		}
		key := device.Pool + "/" + device.Device
		if other, ok := owners[key]; ok {
			t.Errorf("device %s belongs to %s and to %s", key, name, other)
		}
		owners[key] = name
		if len(claim.Status.ReservedFor) != 1 || claim.Status.ReservedFor[0].Name != name || claim.Status.ReservedFor[0].UID != s.get(name).UID {
			t.Errorf("claim %s is reserved for %+v, want its pod", name, claim.Status.ReservedFor)
		}
	}

	// What the claims' controller does when a pod is gone.
	s.ok(objects.Delete(s.ctx, s.client, freed))
	claim, err := s.client.ResourceV1().ResourceClaims(objects.Namespace).Get(s.ctx, freed, metav1.GetOptions{})
	s.ok(err)
	claim.Status = resourcev1.ResourceClaimStatus{}
	claim, err = s.client.ResourceV1().ResourceClaims(objects.Namespace).UpdateStatus(s.ctx, claim, metav1.UpdateOptions{})
	s.ok(err)
	claim.Finalizers = nil
	_, err = s.client.ResourceV1().ResourceClaims(objects.Namespace).Update(s.ctx, claim, metav1.UpdateOptions{})
	s.ok(err)
	s.ok(s.client.ResourceV1().ResourceClaims(objects.Namespace).Delete(s.ctx, freed, metav1.DeleteOptions{}))
	s.bound(fits)
	if got, want := s.get(waiting).Spec.NodeName, placements[freed]; got != want {
		t.Errorf("pod %s waited for a device and is on %s; it became free on %s", waiting, got, want)
	}
}

func cel(expression string) resourcev1.DeviceSelector {
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
}

// slice makes the devices of a node, small and large in turn.
func (s *scenario) slice(node string, n int) {
	s.Helper()
	slice := &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		},
	}
	for i := range n {
		size := []string{"small", "large"}[i%2]
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
			Name:       fmt.Sprintf("gpu-%d", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"size": {StringValue: &size}},
		})
	}
	_, err := s.client.ResourceV1().ResourceSlices().Create(s.ctx, slice, metav1.CreateOptions{})
	s.ok(err)
}

// deviceClaim claims a device of class gpu.
func (s *scenario) deviceClaim(name, selector string) {
	claim := &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: objects.Namespace},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: "gpu", Selectors: []resourcev1.DeviceSelector{cel(selector)},
				AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
			},
		}}}},
	}
	if _, err := s.client.ResourceV1().ResourceClaims(objects.Namespace).Create(s.ctx, claim, metav1.CreateOptions{}); err != nil {
		s.Errorf("create claim %s: %v", name, err)
	}
}

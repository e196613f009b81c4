//go:build full

package work

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// claimsOfOthers are n pods with a volume each, on n nodes that take a bounded number of them. Somebody
// changes a claim, and then another, for each of n pods that come with a volume of their own. Neither
// makes the volumes of all nodes be read again.
func claimsOfOthers(t *testing.T, n int) {
	const each = 4
	w := newWorld(t)
	put(w, &api.StorageClass{
		ObjectMeta: api.ObjectMeta{Name: "csi"}, Provisioner: "csi", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer),
	})
	claim := func(name, volume string) {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
		if c.Spec.StorageClassName = new("csi"); volume != "" {
			c.Spec.VolumeName, c.Annotations = volume, map[string]string{api.AnnBindCompleted: "yes"}
			v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: volume}}
			v.Spec.StorageClassName, v.Spec.CSI = "csi", &api.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: volume}
			v.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: name}
			put(w, v)
		}
		put(w, c)
	}
	for i := range n {
		node := fmt.Sprint("n", i)
		if err := w.snap.AddNode(api.MakeNode(node, "64", "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		limits := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: node}}
		limits.Spec.Drivers = []api.CSINodeDriver{{Name: "csi", Allocatable: &api.VolumeNodeResources{Count: new(int32(each + 4))}}}
		put(w, limits)
		for k := range each {
			name := fmt.Sprint("there-", i, "-", k)
			claim(name, "pv-"+name)
			w.add(w.derive(api.MakePod(name).Claim(name).Obj()), node)
		}
	}
	for i := range n {
		claim("theirs", "")
		name := fmt.Sprint("there-", i%n, "-0")
		claim(name, "pv-"+name) // as it was
		mine := fmt.Sprint("mine-", i)
		claim(mine, "")
		if _, err := w.sched.Place(w.snap, w.derive(api.MakePod(mine).Claim(mine).Obj())); err != nil {
			t.Fatal(err)
		}
		claim(mine, "pv-"+mine)
	}
}

// claimsOfOneVolume are n claims of one pod that are all bound to a volume that n nodes can use. Where it can be
// used is asked once, not for each claim.
func claimsOfOneVolume(t *testing.T, n int) {
	w := newWorld(t)
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "shared"}}
	var hosts []string
	for i := range n {
		hosts = append(hosts, fmt.Sprint("n", i))
	}
	v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
		MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelHostname, Operator: api.NodeSelectorOpIn, Values: hosts}},
	}}}}
	put(w, v)
	for _, host := range hosts[:min(4, n)] {
		if err := w.snap.AddNode(api.MakeNode(host, "64", "64Gi").Labels(api.LabelHostname, host).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	pod := api.MakePod("pod")
	for i := range n {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{
			Namespace: "default", Name: fmt.Sprint("c", i), Annotations: map[string]string{api.AnnBindCompleted: "yes"},
		}}
		c.Spec.VolumeName = v.Name
		put(w, c)
		pod = pod.Claim(c.Name)
	}
	if d, err := w.sched.Place(w.snap, w.derive(pod.Obj())); err != nil || d.Node == "" {
		t.Fatal(d, err)
	}
}

// mountsOfOneClaim are n mounts of a claim that waits for its pod and selects volumes by n labels. What it selects
// is looked at once, not for each mount.
func mountsOfOneClaim(t *testing.T, n int) {
	w := newWorld(t)
	put(w, &api.StorageClass{
		ObjectMeta: api.ObjectMeta{Name: "csi"}, Provisioner: "csi", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer),
	})
	if err := w.snap.AddNode(api.MakeNode("n", "64", "64Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c", Annotations: map[string]string{}}}
	c.Spec.StorageClassName, c.Spec.Selector = new("csi"), &api.LabelSelector{MatchLabels: map[string]string{}}
	c.Spec.Resources.Requests = resource.List{}
	pod := api.MakePod("pod")
	for i := range n {
		name := fmt.Sprint("example.com/", i)
		c.Annotations[name], c.Spec.Selector.MatchLabels[name], c.Spec.Resources.Requests[resource.Name(name)] = "", "", resource.New(1, resource.DecimalSI)
		pod = pod.Claim(c.Name)
	}
	put(w, c)
	if d, err := w.sched.Place(w.snap, w.derive(pod.Obj())); err != nil || d.Node == "" {
		t.Fatal(d, err)
	}
}

// reportsOfDevices are n devices of an allocated claim with a condition to wait for, and what the driver reports
// of each, the last one first. Neither is looked through for each of the other, nor for each node.
func reportsOfDevices(t *testing.T, n int) {
	w := newWorld(t)
	for i := range 8 {
		if err := w.snap.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "64Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c"}}
	c.Status.Allocation = new(api.AllocationResult)
	for i := range n {
		r := api.DeviceRequestAllocationResult{Request: fmt.Sprint("r", i, "/x"), Driver: "d", Pool: "p", Device: fmt.Sprint(i), BindingConditions: []string{"Ready"}}
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, r)
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, api.DeviceRequest{Name: fmt.Sprint("r", n-i), FirstAvailable: []api.DeviceSubRequest{{Name: "x"}}})
		c.Status.Devices = append(c.Status.Devices, api.AllocatedDeviceStatus{
			Driver: "d", Pool: "p", Device: fmt.Sprint(n - 1 - i), Conditions: []api.Condition{{Type: "Ready", Status: api.ConditionTrue}},
		})
	}
	put(w, c)
	pod := api.MakePod("pod").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: &c.Name}}
	if d, err := w.sched.Place(w.snap, w.derive(pod)); err != nil || d.Node == "" {
		t.Fatal(d, err)
	}
}

// rulesForAllDevices are n rules that taint each of the n devices of a node. They are not copied to each.
func rulesForAllDevices(t *testing.T, n int) {
	w := newDeviceWorld(t, n)
	for i := range n {
		r := &api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("r", i)}}
		r.Spec.DeviceSelector, r.Spec.Taint = new(api.DeviceTaintSelector), api.DeviceTaint{Key: fmt.Sprint("k", i), Effect: api.DeviceTaintEffectNoSchedule}
		put(w, r)
	}
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c"}}
	c.Spec.Devices.Requests = []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}
	put(w, c)
	if d, err := w.sched.Place(w.snap, w.derive(withClaim(c))); err == nil || d.Node != "" {
		t.Fatal(d, err)
	}
}

// nodesOfSlices are two slices that name their nodes by n requirements each, and a claim for a device of both. The
// requirements become those of the allocation, each once.
func nodesOfSlices(t *testing.T, n int) {
	w := newDeviceWorld(t, 1)
	c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c"}}
	for _, name := range []string{"x", "y"} {
		term := api.NodeSelectorTerm{}
		for i := range n {
			term.MatchExpressions = append(term.MatchExpressions, api.NodeSelectorRequirement{Key: fmt.Sprint(name, i), Operator: api.NodeSelectorOpDoesNotExist})
		}
		slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: name}}
		slice.Spec = api.ResourceSliceSpec{
			Driver: name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}, NodeSelector: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{term}},
			Devices: []api.Device{{Name: "d"}},
		}
		put(w, slice)
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, api.DeviceRequest{Name: name, Exactly: &api.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1, Selectors: selectors(fmt.Sprintf("device.driver == %q", name)),
		}})
	}
	put(w, c)
	if d, err := w.sched.Place(w.snap, w.derive(withClaim(c))); err != nil || d.Node == "" {
		t.Fatal(d, err)
	}
}

func withClaim(c *api.ResourceClaim) *api.Pod {
	pod := api.MakePod("pod").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: &c.Name}}
	return pod
}

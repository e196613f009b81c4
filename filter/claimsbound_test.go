package filter_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework/api"
)

// TestBound walks through what the volume controller and others may do to a volume that is
// reserved, and to a claim whose volume is provisioned.
func TestBound(t *testing.T) {
	type objects struct {
		volumes map[string]*api.PersistentVolume
		claims  map[string]*api.PersistentVolumeClaim
	}
	done := func() objects {
		disk := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "disk", ResourceVersion: "9"}}
		disk.Spec.ClaimRef = &api.ObjectReference{Namespace: "shop", Name: "data", UID: "1"}
		disk.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
			MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelHostname, Operator: "In", Values: []string{"n"}}},
			MatchFields:      []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"any"}}}, // every node meets these
		}}}}
		bound := map[string]string{api.AnnBindCompleted: "yes", api.AnnSelectedNode: "n"}
		data := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "shop", Name: "data", Annotations: bound}}
		data.Spec.VolumeName = "disk"
		made := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "shop", Name: "made", ResourceVersion: "9", Annotations: bound}}
		made.Spec.VolumeName = "new"
		fresh := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "new"}}
		fresh.Spec.NodeAffinity = disk.Spec.NodeAffinity
		return objects{
			map[string]*api.PersistentVolume{"disk": disk, "new": fresh},
			map[string]*api.PersistentVolumeClaim{"shop/data": data, "shop/made": made},
		}
	}
	pending := func(c *api.PersistentVolumeClaim) { c.Annotations = map[string]string{api.AnnSelectedNode: "n"} }
	for _, tt := range []struct {
		name   string
		change func(o objects)
		node   string
		ok     bool
		err    string
	}{
		{"all bound", func(objects) {}, "n", true, ""},
		{"an older volume", func(o objects) { o.volumes["disk"].ResourceVersion = "4" }, "n", false, ""},
		{"no volume", func(o objects) { delete(o.volumes, "disk") }, "n", false, "volume disk does not exist any more"},
		{"another node", func(objects) {}, "m", false, `pv "disk" node affinity doesn't match node "m": no matching NodeSelectorTerms`},
		{"released", func(o objects) { o.volumes["disk"].Spec.ClaimRef = nil }, "n", false, `ClaimRef got reset for pv "disk"`},
		{"reset", func(o objects) { o.volumes["disk"].Spec.ClaimRef.UID = "" }, "n", false, `ClaimRef got reset for pv "disk"`},
		{"given to another", func(o objects) {
			o.volumes["disk"].Spec.ClaimRef = &api.ObjectReference{Namespace: "shop", Name: "made", UID: "2"}
			pending(o.claims["shop/data"])
		}, "n", false, ""},
		{"no claim", func(o objects) { delete(o.claims, "shop/data") }, "n", false, "claim shop/data does not exist any more"},
		{"a pending claim", func(o objects) { pending(o.claims["shop/data"]) }, "n", false, ""},
		{"a claim without a volume", func(o objects) { o.claims["shop/data"].Spec.VolumeName = "" }, "n", false, ""},
		{"no provisioned claim", func(o objects) { delete(o.claims, "shop/made") }, "n", false, "claim shop/made does not exist any more"},
		{"an older claim", func(o objects) { o.claims["shop/made"].ResourceVersion = "4" }, "n", false, ""},
		{"refused", func(o objects) { o.claims["shop/made"].Annotations = nil }, "n", false, `provisioning failed for PVC "made"`},
		{"not provisioned", func(o objects) { pending(o.claims["shop/made"]); o.claims["shop/made"].Spec.VolumeName = "" }, "n", false, ""},
		{"its volume is unknown", func(o objects) { delete(o.volumes, "new") }, "n", false, ""},
		{
			"provisioned elsewhere", func(o objects) {
				o.volumes["new"].Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{}}
			}, "n", false, `pv "new" node affinity doesn't match node "n": no matching NodeSelectorTerms`,
		},
		{"not completed", func(o objects) { pending(o.claims["shop/made"]) }, "n", false, ""},
	} {
		o := done()
		tt.change(o)
		b := filter.ClaimBindings{
			Volumes: []filter.VolumeReservation{{Volume: "disk", ResourceVersion: "5", Claim: api.ObjectReference{Namespace: "shop", Name: "data", UID: "1"}}},
			Claims:  []filter.NodeSelection{{Namespace: "shop", Name: "made", ResourceVersion: "5", Node: "n"}},
		}
		ok, err := b.Bound(filter.ClaimLookup{
			Volume: func(name string) *api.PersistentVolume { return o.volumes[name] },
			Claim:  func(key string) *api.PersistentVolumeClaim { return o.claims[key] },
		}, api.MakeNode(tt.node, "1", "1Gi").Labels(api.LabelHostname, tt.node).Obj())
		if text := fmt.Sprint(err); ok != tt.ok || err == nil && tt.err != "" || err != nil && text != tt.err {
			t.Errorf("%s: Bound() = %v, %v, want %v, %q", tt.name, ok, err, tt.ok, tt.err)
		}
	}
}

// A driver that took over an in-tree volume says where it can be used, as for the filter.
func TestBoundOfMigratedVolume(t *testing.T) {
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "disk"}}
	v.Spec.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}
	v.Spec.ClaimRef = &api.ObjectReference{Namespace: "shop", Name: "data", UID: "1"}
	v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
		MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelTopologyZone, Operator: "In", Values: []string{"a"}}},
	}}}}
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "shop", Name: "data", Annotations: map[string]string{api.AnnBindCompleted: "yes"}}}
	c.Spec.VolumeName = "disk"
	node := api.MakeNode("n", "1", "1Gi").Labels("topology.ebs.csi.aws.com/zone", "a").Obj()
	b := filter.ClaimBindings{Volumes: []filter.VolumeReservation{{Volume: "disk"}}}
	newest := filter.ClaimLookup{
		Volume: func(string) *api.PersistentVolume { return v }, Claim: func(string) *api.PersistentVolumeClaim { return c },
	}
	if ok, err := b.Bound(newest, node); ok || err == nil {
		t.Errorf("without the driver: %v, %v, want that the node has no such label", ok, err)
	}
	newest.CSINode = func(string) *api.CSINode {
		return &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "n", Annotations: map[string]string{api.AnnMigratedPlugins: "kubernetes.io/aws-ebs"}}}
	}
	if ok, err := b.Bound(newest, node); !ok || err != nil {
		t.Errorf("with the driver: %v, %v", ok, err)
	}
}

func ExampleClaimBindings_Bound() {
	claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "shop", Name: "data"}}
	claim.Annotations = map[string]string{api.AnnSelectedNode: "n7"}
	newest := filter.ClaimLookup{
		Volume: func(string) *api.PersistentVolume { return nil },
		Claim:  func(string) *api.PersistentVolumeClaim { return claim },
	}
	written := filter.ClaimBindings{Claims: []filter.NodeSelection{{Namespace: "shop", Name: "data", Node: "n7"}}}
	node := api.MakeNode("n7", "4", "8Gi").Obj()
	fmt.Println(written.Bound(newest, node)) // the volume is being provisioned
	claim.Annotations = nil
	fmt.Println(written.Bound(newest, node)) // the provisioner has given up
	// Output:
	// false <nil>
	// false provisioning failed for PVC "data"
}

func TestDevicesReady(t *testing.T) {
	result := func(name string) api.DeviceRequestAllocationResult {
		return api.DeviceRequestAllocationResult{Driver: "d", Pool: "p", Device: name}
	}
	gated := result("a")
	gated.BindingConditions, gated.BindingFailureConditions = []string{"Attached", "Warm"}, []string{"Broken"}
	status := func(device string, conditions ...api.Condition) api.AllocatedDeviceStatus {
		return api.AllocatedDeviceStatus{Driver: "d", Pool: "p", Device: device, Conditions: conditions}
	}
	is := func(name string, s api.ConditionStatus) api.Condition { return api.Condition{Type: name, Status: s} }
	yes, no := api.ConditionTrue, api.ConditionFalse
	for _, tt := range []struct {
		name    string
		results []api.DeviceRequestAllocationResult
		devices []api.AllocatedDeviceStatus
		ok      bool
		err     string
	}{
		{"no allocation", nil, nil, false, ""},
		{"no conditions", []api.DeviceRequestAllocationResult{result("a")}, nil, true, ""},
		{"no status", []api.DeviceRequestAllocationResult{gated}, nil, false, ""},
		{"status of another", []api.DeviceRequestAllocationResult{gated}, []api.AllocatedDeviceStatus{status("b", is("Attached", yes), is("Warm", yes))}, false, ""},
		{"one is true", []api.DeviceRequestAllocationResult{gated}, []api.AllocatedDeviceStatus{status("a", is("Attached", yes), is("Warm", no))}, false, ""},
		{"all are true", []api.DeviceRequestAllocationResult{result("b"), gated}, []api.AllocatedDeviceStatus{status("a", is("Attached", yes), is("Warm", yes), is("Broken", no))}, true, ""},
		{
			"a failure",
			[]api.DeviceRequestAllocationResult{gated},
			[]api.AllocatedDeviceStatus{status("a", is("Attached", yes), is("Warm", yes), is("Broken", yes))},
			false, "device binding failed: claim=c, condition=Broken",
		},
	} {
		c := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "c"}}
		if tt.results != nil {
			c.Status.Allocation = &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: tt.results}}
		}
		c.Status.Devices = tt.devices
		ok, err := filter.DevicesReady(c)
		if ok != tt.ok || err == nil && tt.err != "" || err != nil && err.Error() != tt.err {
			t.Errorf("%s: DevicesReady() = %v, %v, want %v, %q", tt.name, ok, err, tt.ok, tt.err)
		}
	}
}

func ExampleDeviceClaims() {
	d := filter.DeviceClaims{Mappings: []filter.ExtendedResourceMapping{{Container: "train", Resource: "example.com/gpu", Request: "container-0-request-0"}}}
	pod := api.MakePod("p").Obj()
	pod.UID = "u"
	patch, err := d.StatusPatch(pod, "p-extended-resources-x7k")
	fmt.Println(string(patch), err)
	// Output: {"metadata":{"uid":"u"},"status":{"extendedResourceClaimStatus":{"requestMappings":[{"containerName":"train","resourceName":"example.com/gpu","requestName":"container-0-request-0"}],"resourceClaimName":"p-extended-resources-x7k"}}} <nil>
}

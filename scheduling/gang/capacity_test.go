package gang_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// If the rules ignore levels, so do Capacity and sets.
func TestLevelsAreIgnored(t *testing.T) {
	s := racks(1, 1)
	g := &gang.Group{Name: "g", Pods: workers(s, 6, "1"), Topology: []gang.Level{{Key: rack}}}
	set := &gang.Set{Name: "s", Topology: rack, Children: []gang.Child{g}}
	for _, ignored := range []bool{false, true} {
		p := placer(gang.Rules{NoTopology: ignored})
		want := 0
		if ignored {
			want = 1
		}
		c, err := p.Capacity(s, g, 0)
		if err != nil || c.Fits != want || c.Anywhere != 1 || !c.Exact {
			t.Errorf("ignored %t: Capacity = %+v, %v, want %d", ignored, c, err, want)
		}
		out, err := p.Try(s, g)
		if err != nil || (out.Status == gang.Placed) != ignored {
			t.Errorf("ignored %t: Try = %v, %v", ignored, out.Status, err)
		}
		all, err := p.PlaceSet(s.Fork(), set)
		if err != nil || (all.Status == gang.Placed) != ignored {
			t.Errorf("ignored %t: PlaceSet = %v, %v", ignored, all.Status, err)
		}
	}
}

// A number of nodes that is not enough is 0, however it is looked for.
func TestNodesForTooFew(t *testing.T) {
	s := racks(1)
	near := info(s, api.MakePod("w").Labels("a", "b").Requests("8", "1Gi").PodAffinity(api.LabelHostname, "a=b").Obj())
	plain := info(s, api.MakePod("w").Requests("8", "1Gi").Obj())
	for _, pod := range []*framework.PodInfo{near, plain} {
		n, ok, err := placer(gang.Rules{Choice: gang.BestFit}).NodesFor(s, &gang.Group{Name: "g", Pods: []*framework.PodInfo{pod}}, 1, api.MakeNode("new", "4", "16Gi").Obj(), 3)
		if n != 0 || ok || err != nil {
			t.Errorf("NodesFor = %d, %t, %v, want 0, false", n, ok, err)
		}
	}
}

// Without filters that count, nothing bounds the number of gangs: counting stops, and says
// that more may fit.
func TestCapacityWithoutBound(t *testing.T) {
	without := scheduling.Kubernetes137()
	if err := without.Remove("NodeResourcesFit"); err != nil {
		t.Fatal(err)
	}
	none := scheduling.Kubernetes137()
	none.Filter = nil
	s := racks(1)
	plain := info(s, api.MakePod("w").Requests("1", "1Gi").Obj())
	near := info(s, api.MakePod("w").Labels("a", "b").Requests("1", "1Gi").PodAffinity(api.LabelHostname, "a=b").Obj())
	for _, tt := range []struct {
		name    string
		profile scheduling.Profile
		pod     *framework.PodInfo
		levels  []gang.Level
	}{
		{"placed one by one", without, near, nil},
		{"counted", none, plain, nil},
		{"counted in racks", none, plain, []gang.Level{{Key: rack}}},
	}[effort.Of(1, 0):] { // the first takes long
		p := placerOf(tt.profile, gang.Rules{Choice: gang.BestFit})
		shape := &gang.Group{Name: "g", Pods: []*framework.PodInfo{tt.pod}, Topology: tt.levels}
		c, err := p.Capacity(s, shape, 0)
		if err != nil || c.Fits != 1<<16 || c.Exact || !c.Stopped || c.AtMost <= c.Fits {
			t.Errorf("%s: Capacity = %+v, %v, want 65536, stopped, and not exact", tt.name, c, err)
		}
		if c, err = p.Capacity(s, shape, 3); err != nil || c.Fits != 3 || !c.Stopped {
			t.Errorf("%s: Capacity to 3 = %+v, %v", tt.name, c, err)
		}
	}
}

// Gangs that share a claim are bound one after the other: the first gets the devices, or the volume, for all.
func TestCapacityOfSharedClaims(t *testing.T) {
	for _, kind := range []string{"none", "volume", "device"} {
		s := racks(3)
		put := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		put(framework.Put(s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "shared"}, Provisioner: "nfs.example.com", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer)}))
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: "data", Namespace: "default", UID: "c"}}
		c.Spec.StorageClassName, c.Spec.AccessModes = new("shared"), []api.PersistentVolumeAccessMode{api.ReadWriteMany}
		put(framework.Put(s, c))
		put(framework.Put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}))
		slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "s"}}
		slice.Spec = api.ResourceSliceSpec{Driver: "d.io", AllNodes: new(true), Pool: api.ResourcePool{Name: "all", Generation: 1, ResourceSliceCount: 1}, Devices: []api.Device{{Name: "a"}}}
		put(framework.Put(s, slice))
		device := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "shared", Namespace: "default", UID: "shared"}}
		device.Spec.Devices = api.DeviceClaim{Requests: []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}}
		put(framework.Put(s, device))
		o := api.MakePod("web").Requests("2", "1Gi").Obj()
		switch kind {
		case "volume":
			o.Spec.Volumes = []api.Volume{{Name: "data", VolumeSource: api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		case "device":
			o.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimName: new("shared")}}
		}
		shape := &gang.Group{Name: "g", Pods: []*framework.PodInfo{info(s, o)}}
		for _, rules := range []gang.Rules{{Choice: gang.BestFit}, {Choice: gang.Kubernetes137}} {
			p := placer(rules)
			for range 2 {
				if n, err := p.Capacity(s, shape, 0); err != nil || n.Fits != 6 || !n.Exact {
					t.Errorf("%s: %+v, %v; want 6", kind, n, err)
				}
				node := api.MakeNode("new", "4", "16Gi").Labels(rack, "r0").Obj()
				if n, ok, err := p.NodesFor(s, shape, 9, node, 10); err != nil || !ok || n != 2 {
					t.Errorf("%s: %d nodes, %t, %v; want 2", kind, n, ok, err)
				}
			}
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if c := framework.Lookup[api.PersistentVolumeClaim](s, "default/data"); c.Spec.VolumeName != "" {
			t.Error("the question left a trace")
		}
	}
}

//go:build full

package whatif_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// Pods share a claim that waits for the first of them. Its volume is made when that is placed, so the others go
// where it can be reached, and not only to the node of the first.
func TestSharedClaimThatWaits(t *testing.T) {
	for _, x := range []struct {
		name     string
		mode     api.PersistentVolumeAccessMode
		driver   []string // keys; nil: the nodes have none
		allowed  string   // key of the class
		unzoned  bool
		byHand   bool
		fits     int
		newNodes int // for four more than fit
		unplaced int
	}{
		{name: "the driver reaches a zone", mode: api.ReadWriteMany, driver: []string{api.LabelTopologyZone}, fits: 4, newNodes: 2},
		{name: "the driver reaches all", mode: api.ReadWriteOnce, driver: []string{}, fits: 6, newNodes: 2},
		{name: "the class names racks", mode: api.ReadWriteMany, allowed: "rack", fits: 2, unplaced: 4},
		{name: "for many, nothing known", mode: api.ReadWriteMany, fits: 6, newNodes: 2},
		{name: "for one, nothing known", mode: api.ReadWriteOnce, fits: 4, newNodes: 2},
		{name: "for one, no zones", mode: api.ReadWriteOnce, unzoned: true, fits: 2, unplaced: 4},
		{name: "volumes made by hand", mode: api.ReadWriteMany, byHand: true, fits: 0, unplaced: 4},
	} {
		t.Run(x.name, func(t *testing.T) {
			var nodes []api.NodeBuilder
			for i := range 3 { // a and b are in one zone, c in another
				name := string(rune('a' + i))
				n := api.MakeNode(name, "2", "64Gi").Labels("rack", name, api.LabelHostname, name)
				if !x.unzoned {
					n = n.Zone(fmt.Sprint("z", i/2))
				}
				nodes = append(nodes, n)
			}
			s := cluster(nodes)
			class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "shared"}, Provisioner: "nfs.example.com", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer)}
			if x.byHand {
				class.Provisioner = "kubernetes.io/no-provisioner"
			}
			if x.allowed != "" {
				class.AllowedTopologies = []api.TopologySelectorTerm{{MatchLabelExpressions: []api.TopologySelectorLabelRequirement{{Key: x.allowed, Values: []string{"a", "b", "c"}}}}}
			}
			put(s, class)
			for _, n := range []string{"a", "b", "c"} {
				if x.driver != nil {
					c := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: n}}
					c.Spec.Drivers = []api.CSINodeDriver{{Name: "nfs.example.com", TopologyKeys: x.driver}}
					put(s, c)
				}
			}
			c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: "data", Namespace: "default", UID: "c"}}
			c.Spec.StorageClassName, c.Spec.AccessModes = new("shared"), []api.PersistentVolumeAccessMode{x.mode}
			put(s, c)
			web := api.MakePod("web").Requests("1", "1Gi").Obj()
			web.Spec.Volumes = []api.Volume{{Name: "data", VolumeSource: api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
			p, before := planner(s), content(s)
			for range 2 {
				if h, err := p.Headroom(pod(s, web), 0); err != nil || h.Total != x.fits {
					t.Errorf("headroom %+v, %v; want %d", h, err, x.fits)
				}
				list, err := whatif.Replicas(pod(s, web), x.fits+4)
				if err != nil {
					t.Fatal(err)
				}
				if at, err := p.Place(list); err != nil || len(at.Placed) != x.fits {
					t.Errorf("%d are placed, %v; want %d", len(at.Placed), err, x.fits)
				}
				kind := whatif.NodeType{Name: "t", Node: api.MakeNode("t", "2", "64Gi").Zone("z0").Obj()}
				n, err := p.NodesNeeded(list, kind)
				if err != nil || n.Counts[0].Nodes != x.newNodes || len(n.Placement.Unplaced) != x.unplaced {
					t.Errorf("%+v nodes, %d left, %v; want %d and %d", n.Counts, len(n.Placement.Unplaced), err, x.newNodes, x.unplaced)
				}
			}
			if content(s) != before {
				t.Error("the questions left a trace")
			}
			if err := s.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Pods share a claim whose class has a provisioner. A free volume is where the first of them goes, so its binding
// binds claim and volume, and nothing is provisioned for the others elsewhere.
func TestSharedClaimTakesFreeVolume(t *testing.T) {
	for _, provisioner := range []string{"ebs.csi.aws.com", "kubernetes.io/no-provisioner"} {
		s := cluster([]api.NodeBuilder{
			api.MakeNode("a", "4", "64Gi").Zone("z0").Labels("pool", "first"),
			api.MakeNode("b", "5", "64Gi").Zone("z1"),
		})
		put(s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "disks"}, Provisioner: provisioner, VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer)})
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: "data", Namespace: "default", UID: "c"}}
		c.Spec.StorageClassName, c.Spec.AccessModes = new("disks"), []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
		put(s, c)
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "restored"}}
		v.Spec.StorageClassName, v.Spec.AccessModes = "disks", c.Spec.AccessModes
		v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-1"}
		v.Status.Phase = api.VolumeAvailable
		v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{
			{MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{"z0"}}}},
		}}}
		put(s, v)
		web := api.MakePod("web").Requests("1", "1Gi").PreferNodes(100, "pool in (first)").Obj()
		web.Spec.Volumes = []api.Volume{{Name: "data", VolumeSource: api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		p, before := planner(s), content(s)
		for range 2 {
			if h, err := p.Headroom(pod(s, web), 0); err != nil || h.Total != 4 || h.Nodes[0].Node != "a" {
				t.Errorf("%s: headroom %+v, %v; want 4, on a", provisioner, h, err)
			}
			list, err := whatif.Replicas(pod(s, web), 8)
			if err != nil {
				t.Fatal(err)
			}
			if at, err := p.Place(list); err != nil || len(at.Placed) != 4 || len(at.Unplaced) != 4 {
				t.Errorf("%s: %+v, %v; want 4 of 8", provisioner, at, err)
			}
			kind := whatif.NodeType{Name: "t", Node: api.MakeNode("t", "2", "64Gi").Zone("z0").Obj()}
			if n, err := p.NodesNeeded(list, kind); err != nil || n.Counts[0].Nodes != 2 || len(n.Placement.Unplaced) != 0 {
				t.Errorf("%s: %+v nodes, %v; want 2", provisioner, n, err)
			}
		}
		if content(s) != before {
			t.Errorf("%s: the questions left a trace", provisioner)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
}

// Pods share a claim for a device: the first of them chooses it for all.
func TestSharedDevice(t *testing.T) {
	for _, runs := range []bool{false, true} {
		s, demand := gpus("a", "b") // of two nodes, n and m, that reach both
		shared := holding("shared", "a", demand, "web-0", "web-1")
		if !runs {
			shared.Status = api.ResourceClaimStatus{}
		}
		put(s, shared)
		var web *framework.PodInfo
		for i := range 2 {
			o := running(fmt.Sprint("web-", i), "n")
			o.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimName: new("shared")}}
			web = pod(s, o)
			if err := s.AddPod(web, "n"); runs && err != nil {
				t.Fatal(err)
			} else if !runs {
				if err := s.RemovePod(web, "n"); err != nil {
					t.Fatal(err)
				}
				web = web.Pending()
			}
		}
		p, before := planner(s), content(s)
		for range 2 {
			if h, err := p.Headroom(web, 0); err != nil || h.Total != map[bool]int{false: 16, true: 14}[runs] {
				t.Errorf("runs %t: headroom %+v, %v", runs, h, err)
			}
			list, err := whatif.Replicas(web, 4)
			if err != nil {
				t.Fatal(err)
			}
			if at, err := p.Place(list); err != nil || len(at.Placed) != 4 {
				t.Errorf("runs %t: placed %+v, %v; want 4", runs, at, err)
			}
			if !runs {
				continue
			}
			if d, err := p.Drain("n"); err != nil || len(d.Moves) != 2 || len(d.Stuck) != 0 {
				t.Errorf("drain %+v, %v; want two moves", d, err)
			}
			if r, err := p.Removable("n"); err != nil || !r[0].Removable {
				t.Errorf("removable %+v, %v", r, err)
			}
		}
		if content(s) != before {
			t.Errorf("runs %t: the questions left a trace", runs)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestMadeVolumesHaveLimits: a volume that is made for an in-tree class is one of the driver that has taken over.
func TestMadeVolumesHaveLimits(t *testing.T) {
	for _, provisioner := range []string{"kubernetes.io/aws-ebs", "ebs.csi.aws.com"} {
		for _, mode := range []api.VolumeBindingMode{api.VolumeBindingImmediate, api.VolumeBindingWaitForFirstConsumer} {
			s := cluster([]api.NodeBuilder{api.MakeNode("a", "8", "64Gi").Zone("z1")})
			put(s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "fast"}, Provisioner: provisioner, VolumeBindingMode: &mode})
			c := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "a", Annotations: map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}}}
			c.Spec.Drivers = []api.CSINodeDriver{{Name: "ebs.csi.aws.com", Allocatable: &api.VolumeNodeResources{Count: new(int32(2))}}}
			put(s, c)
			list, err := whatif.Replicas(pod(s, withScratch("web", "fast")), 4)
			if err != nil {
				t.Fatal(err)
			}
			if at, err := planner(s).Place(list); err != nil || len(at.Placed) != 2 {
				t.Errorf("%s, %s: %d are placed, %v; want 2", provisioner, mode, len(at.Placed), err)
			}
		}
	}
}

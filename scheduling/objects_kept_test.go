package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// A countedFilter is a filter that counts how often it is asked, and reads what it is told to.
type countedFilter struct {
	reads framework.Reads
	asked *int
}

func (countedFilter) Name() string { return "Counted" }

func (f countedFilter) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: f.reads}
}

func (f countedFilter) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	*f.asked++
	return framework.Status{}
}

// Answers are kept while objects change that the plugin does not read.
func TestAnswersBesideOtherObjects(t *testing.T) {
	const nodes, rounds = 50, 20
	meta := api.ObjectMeta{Namespace: "default", Name: "x"}
	put := map[string]func(s *framework.Snapshot) error{
		"service": func(s *framework.Snapshot) error { return framework.Put(s, &api.Service{ObjectMeta: meta}) },
		"claim": func(s *framework.Snapshot) error {
			return framework.Put(s, &api.PersistentVolumeClaim{ObjectMeta: meta})
		},
		"device": func(s *framework.Snapshot) error { return framework.Put(s, &api.ResourceClaim{ObjectMeta: meta}) },
	}
	for _, tt := range []struct {
		reads   framework.Reads
		changes string
		anew    bool
	}{
		{framework.ReadsVolumes, "service", false},
		{framework.ReadsVolumes, "device", false},
		{framework.ReadsVolumes, "claim", true},
		{framework.ReadsDevices, "service", false},
		{framework.ReadsDevices, "claim", false},
		{framework.ReadsDevices, "device", true},
		{framework.ReadsObjects, "service", true},
		{framework.ReadsObjects, "claim", true},
		{framework.ReadsObjects, "device", true},
	} {
		s, asked := lateCluster(t, nodes), 0
		sched := build(t, scheduling.Profile{
			Filter: []framework.Plugin{countedFilter{framework.ReadsNode | tt.reads, &asked}},
			Score:  []scheduling.Weighted{{Plugin: scoring.NodeResourcesFit{}}}, Percentage: scheduling.AllNodes,
		})
		for round := range rounds {
			if err := put[tt.changes](s); err != nil {
				t.Fatal(err)
			}
			if d, err := sched.Schedule(s, info(t, s, api.MakePod(fmt.Sprint("p", round)).Obj())); err != nil || d.Feasible == 0 {
				t.Fatal(d, err)
			}
		}
		if anew := asked > nodes*rounds/2; anew != tt.anew {
			t.Errorf("reads %b, and each time another %s: asked %d times in %d rounds on %d nodes; all anew: want %t", tt.reads, tt.changes, asked, rounds, nodes, tt.anew)
		}
	}
}

// Pods whose claims allow the same are of one class, whatever the claims are called, and while claims and
// volumes of others change. A claim that pods use already has a class of its own.
func TestClaimsOfOneClass(t *testing.T) {
	const nodes, rounds = 50, 60
	s := lateCluster(t, nodes)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(framework.Put(s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "csi"}, Provisioner: "csi", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer)}))
	for _, n := range s.All() {
		limits := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: n.Name()}}
		limits.Spec.Drivers = []api.CSINodeDriver{{Name: "csi", Allocatable: &api.VolumeNodeResources{Count: new(int32(3))}}}
		must(framework.Put(s, limits))
	}
	claim := func(name, volume string) {
		t.Helper()
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
		if c.Spec.StorageClassName = new("csi"); volume != "" {
			c.Spec.VolumeName, c.Annotations = volume, map[string]string{api.AnnBindCompleted: "yes"}
			v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: volume}}
			v.Spec.StorageClassName, v.Spec.CSI = "csi", &api.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: volume}
			v.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: name}
			must(framework.Put(s, v))
		}
		must(framework.Put(s, c))
	}
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := build(t, p)
	for round := range rounds {
		mine := fmt.Sprint("waits-", round)
		claim(mine, "")
		claim("theirs", "")
		pod := info(t, s, api.MakePod(mine).Claim(mine).Obj())
		d, err := sched.Place(s, pod)
		must(err)
		claim(mine, "pv-"+mine) // the controller has made the volume
		bound := fmt.Sprint("bound-", round)
		claim(bound, "pv-"+bound)
		_, err = sched.Place(s, info(t, s, api.MakePod(bound).Claim(bound).Obj()))
		must(err)
		if d.Feasible == 0 {
			t.Fatalf("%s: %+v", mine, d)
		}
	}
	if x := sched.Stats(); x.Classes > 4 || x.Hits < rounds {
		t.Errorf("%+v of %d pods with claims that allow the same: want few classes, and most pods to hit", x, 2*rounds)
	}
	must(s.Check())
}

// A pod waits with a disk of its own, another with the disk of a pod that comes with a new node. They are of one
// class until then, and not any more.
func TestDiskOfNewNode(t *testing.T) {
	const driver = "disk.csi.azure.com"
	s := framework.NewSnapshot(framework.Arrival)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for node, count := range map[string]int32{"full": 0, "new": 1} {
		limits := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: node}}
		limits.Spec.Drivers = []api.CSINodeDriver{{Name: driver, Allocatable: &api.VolumeNodeResources{Count: &count}}}
		must(framework.Put(s, limits))
	}
	must(s.AddNode(api.MakeNode("full", "4", "16Gi").Obj()))
	mounts := func(name, disk string) *framework.PodInfo {
		p := api.MakePod(name).Obj()
		p.Spec.Volumes = []api.Volume{{Name: "d", VolumeSource: api.VolumeSource{AzureDisk: &api.AzureDiskVolumeSource{DiskName: disk, DataDiskURI: "/" + disk}}}}
		return info(t, s, p)
	}
	p := scheduling.Kubernetes137()
	p.Cache.Verify = true
	sched := build(t, p)
	shares, other := mounts("shares", "a"), mounts("other", "b")
	for range 3 {
		for _, pod := range []*framework.PodInfo{shares, other} {
			if d, err := sched.Schedule(s, pod); d.Node != "" {
				t.Fatal(d, err)
			}
		}
	}
	must(s.AddNode(api.MakeNode("new", "4", "16Gi").Obj()))
	must(s.AddPod(mounts("there", "a"), "new"))
	if d, err := sched.Schedule(s, shares); d.Node != "new" {
		t.Errorf("a pod that shares the disk: %q, %v, want the new node", d.Node, err)
	}
	if d, err := sched.Schedule(s, other); d.Node != "" {
		t.Errorf("a pod with another disk: %q, %v, want none: the node takes one", d.Node, err)
	}
}

// What is found in a transaction that changes a claim is not taken for what holds after its rollback, whichever
// extensions were made inside.
func TestClaimChangedInTransaction(t *testing.T) {
	for name, filters := range map[string][]framework.Plugin{
		"binding":  {filter.VolumeBinding{}},
		"zone":     {filter.VolumeZone{}},
		"limits":   {filter.NodeVolumeLimits{}, filter.VolumeBinding{}},
		"together": {filter.VolumeRestrictions{}, filter.NodeVolumeLimits{}, filter.VolumeBinding{}, filter.VolumeZone{}},
	} {
		for _, early := range []bool{false, true} {
			s := framework.NewSnapshot(framework.Arrival)
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			claim := func(volume string) {
				t.Helper()
				c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "c", Annotations: map[string]string{api.AnnBindCompleted: "yes"}}}
				c.Spec.VolumeName = volume
				must(framework.Put(s, c))
			}
			for _, zone := range []string{"a", "b"} {
				must(s.AddNode(api.MakeNode("n"+zone, "4", "16Gi").Zone(zone).Obj()))
				v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "pv-" + zone, Labels: map[string]string{api.LabelTopologyZone: zone}}}
				v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: zone}
				v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
					MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{zone}}},
				}}}}
				must(framework.Put(s, v))
			}
			claim("pv-b")
			sched := build(t, scheduling.Profile{Filter: filters, Cache: scheduling.CacheConfig{Verify: true}})
			pod := info(t, s, api.MakePod("p").Claim("c").Obj())
			if early {
				_, err := build(t, scheduling.Kubernetes137()).Schedule(s, pod)
				must(err)
			}
			mark := s.Begin()
			claim("pv-a")
			for range 3 {
				if d, err := sched.Schedule(s, pod); d.Node != "na" {
					t.Errorf("%s, early %t, inside: %q, %v", name, early, d.Node, err)
				}
			}
			s.Rollback(mark)
			for range 3 {
				if d, err := sched.Schedule(s, pod); d.Node != "nb" {
					t.Errorf("%s, early %t, after the rollback: %q, %v", name, early, d.Node, err)
				}
			}
		}
	}
}

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scoring"
)

func balancedOf(p scheduling.Profile) scoring.NodeResourcesBalancedAllocation {
	for _, w := range p.Score {
		if b, ok := w.Plugin.(scoring.NodeResourcesBalancedAllocation); ok {
			return b
		}
	}
	return scoring.NodeResourcesBalancedAllocation{}
}

func TestBalanceAttachedVolumes(t *testing.T) {
	p := scheduling.Kubernetes118()
	p.Filter = append(p.Filter, filter.CinderLimits{MaxVolumes: 3})
	before := p
	scheduling.BalanceAttachedVolumes(&p)
	want := []scoring.VolumeLimit{{Filter: "EBSLimits"}, {Filter: "GCEPDLimits"}, {Filter: "AzureDiskLimits"}, {Filter: "CinderLimits", MaxVolumes: 3}}
	if diff := cmp.Diff(want, balancedOf(p).AttachedVolumes); diff != "" {
		t.Errorf("AttachedVolumes (-want +got):\n%s", diff)
	}
	if got := balancedOf(before).AttachedVolumes; got != nil {
		t.Errorf("a copy of the profile has %v", got)
	}
	if _, err := scheduling.New(p); err != nil {
		t.Error(err)
	}
	b := balancedOf(before)
	p = scheduling.Profile{
		Filter: []framework.Plugin{&filter.EBSLimits{MaxVolumes: 1}, &filter.GCEPDLimits{}, &filter.AzureDiskLimits{MaxVolumes: 2}, &filter.CinderLimits{}, (*filter.EBSLimits)(nil)},
		Score:  []scheduling.Weighted{{Plugin: &b, Weight: 1}},
	}
	scheduling.BalanceAttachedVolumes(&p)
	want = []scoring.VolumeLimit{{Filter: "EBSLimits", MaxVolumes: 1}, {Filter: "GCEPDLimits"}, {Filter: "AzureDiskLimits", MaxVolumes: 2}, {Filter: "CinderLimits"}}
	if diff := cmp.Diff(want, balancedOf(p).AttachedVolumes); diff != "" {
		t.Errorf("AttachedVolumes of pointers (-want +got):\n%s", diff)
	}
	if b.AttachedVolumes != nil {
		t.Errorf("the plugin pointed to has %v", b.AttachedVolumes)
	}
	p = scheduling.Kubernetes137()
	scheduling.BalanceAttachedVolumes(&p)
	if got := balancedOf(p).AttachedVolumes; got != nil {
		t.Errorf("version 1.37 has %v", got)
	}
}

// A profile from a configuration file can be changed like a preset.
func TestBalanceAttachedVolumesOfFile(t *testing.T) {
	c, err := config.Load([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"), config.LoadConfig{Registry: scheduling.Kubernetes118Registry()})
	if err != nil {
		t.Fatal(err)
	}
	built, err := c.Build(config.BuildConfig{})
	if err != nil {
		t.Fatal(err)
	}
	scheduling.BalanceAttachedVolumes(&built.Profiles[0])
	if got := len(balancedOf(built.Profiles[0]).AttachedVolumes); got != 3 {
		t.Errorf("%d filters limit disks, want 3", got)
	}
}

// TestAttachedVolumesFollow: kept scores follow claims, the disks of other pods, and
// migration to a CSI driver, even if no filter reads them.
func TestAttachedVolumesFollow(t *testing.T) {
	limits := []scoring.VolumeLimit{{Filter: "EBSLimits", MaxVolumes: 4}}
	sched, err := scheduling.New(scheduling.Profile{
		Score: []scheduling.Weighted{{Plugin: scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118, AttachedVolumes: limits}, Weight: 1}},
		Cache: scheduling.CacheConfig{Verify: true}, TieRule: scheduling.First,
	})
	if err != nil {
		t.Fatal(err)
	}
	snap := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"a", "b"} {
		if err := snap.AddNode(api.MakeNode(name, "8", "32Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	claim := func(name, volume string) {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
		c.Spec.VolumeName = volume
		if err := framework.Put(snap, c); err != nil {
			t.Fatal(err)
		}
	}
	pod := func(claim string) *framework.PodInfo {
		p, err := snap.NewPodInfo(api.MakePod("p").Requests("1", "1Gi").Claim(claim).Obj())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	decide := func(what string) int64 {
		t.Helper()
		d, err := sched.Schedule(snap, pod("data"))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return d.Score
	}
	disk := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "disk"}}
	disk.Spec.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: "1"}
	before := decide("before there is a claim")
	claim("data", "disk")
	if got := decide("a claim without its volume"); got != before {
		t.Errorf("score %d, want %d as before", got, before)
	}
	if err := framework.Put(snap, disk); err != nil {
		t.Fatal(err)
	}
	with := decide("a disk")
	if with == before {
		t.Errorf("score %d with a disk and without", with)
	}
	for _, name := range []string{"a", "b"} {
		csi := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: name, Annotations: map[string]string{api.AnnMigratedPlugins: "kubernetes.io/aws-ebs"}}}
		if err := framework.Put(snap, csi); err != nil {
			t.Fatal(err)
		}
	}
	if got := decide("a driver takes over"); got != before {
		t.Errorf("score %d where a driver has taken disks over, want %d", got, before)
	}
}

func ExampleBalanceAttachedVolumes() {
	snapshot := framework.NewSnapshot(framework.Arrival)
	for _, n := range [][2]string{{"few", "2"}, {"many", "16"}} {
		node := api.MakeNode(n[0], "8", "32Gi").Resource("attachable-volumes-aws-ebs", n[1]).Obj()
		if err := snapshot.AddNode(node); err != nil {
			panic(err)
		}
	}
	pod, err := snapshot.NewPodInfo(api.MakePod("db").Requests("1", "1Gi").Volume(api.Volume{
		Name: "data", VolumeSource: api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}},
	}).Obj())
	if err != nil {
		panic(err)
	}
	profile := scheduling.Kubernetes118()
	scheduling.BalanceAttachedVolumes(&profile)
	sched, err := scheduling.New(profile)
	if err != nil {
		panic(err)
	}
	decision, err := sched.Schedule(snapshot, pod)
	if err != nil {
		panic(err)
	}
	fmt.Println(decision.Node)
	// Output: many
}

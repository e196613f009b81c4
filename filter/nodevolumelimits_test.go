package filter_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// withDriver makes a CSINode with a driver and its limit; a negative limit means no
// limit.
func withDriver(node, driver string, limit int32) *api.CSINode {
	n := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: node}}
	d := api.CSINodeDriver{Name: driver, NodeID: node}
	if limit >= 0 {
		d.Allocatable = &api.VolumeNodeResources{Count: &limit}
	}
	n.Spec.Drivers = []api.CSINodeDriver{d}
	return n
}

func csiVolume(handle string) func(*api.PersistentVolume) {
	return func(v *api.PersistentVolume) {
		v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: handle}
	}
}

// using makes a pod on a node that mounts claims.
func using(node string, claims ...string) *api.Pod {
	p := podMounting(claims...)
	p.Name, p.UID, p.Spec.NodeName = "on-"+node, api.UID("on-"+node), node
	return p
}

func TestNodeVolumeLimits(t *testing.T) {
	const pass, tooMany = "Success", "Unschedulable: node(s) exceed max volume count"
	attached := func(name, volume, node string) *api.VolumeAttachment {
		a := &api.VolumeAttachment{ObjectMeta: api.ObjectMeta{Name: name}}
		a.Spec.Attacher, a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = "csi", node, &volume
		return a
	}
	required := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "csi"}}
	required.Spec.PreventPodSchedulingIfMissing = new(true)
	ebs := withVolume("p", api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://z/vol-1"}})
	malformed := withVolume("malformed", api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://x"}})
	thief := api.MakePod("thief").Obj()
	thief.Spec.Volumes = []api.Volume{{Name: "data", VolumeSource: api.VolumeSource{Ephemeral: &api.EphemeralVolumeSource{}}}}
	common := []any{
		classOf("csi", "csi", late), classOf("ebs", "kubernetes.io/aws-ebs", late), classOf("file", "kubernetes.io/azure-file", late),
		claimOf("c1", "csi", boundTo("v1")), claimOf("c2", "csi", boundTo("v2")), claimOf("c3", "csi", boundTo("v3")),
		volumeOf("v1", "csi", "1Gi", csiVolume("h1")), volumeOf("v2", "csi", "1Gi", csiVolume("h2")), volumeOf("v3", "csi", "1Gi", csiVolume("h3")),
		claimOf("same", "csi", boundTo("again")), volumeOf("again", "csi", "1Gi", csiVolume("h1")),
		claimOf("new", "csi"), claimOf("dangling", "csi", boundTo("gone")), claimOf("migrated", "ebs"), claimOf("file", "file"),
		claimOf("nfs", "csi", boundTo("nfs")), volumeOf("nfs", "csi", "1Gi"),
	}
	tests := []struct {
		name    string
		pod     *api.Pod
		on      *api.Pod
		objects []any
		want    string // on node a
	}{
		{"nothing is known of the node", podMounting("c1"), nil, nil, pass},
		{"no limit", podMounting("c1"), nil, []any{withDriver("a", "csi", -1)}, pass},
		{"another driver is limited", podMounting("c1"), nil, []any{withDriver("a", "other", 0)}, pass},
		{"one of one", podMounting("c1"), nil, []any{withDriver("a", "csi", 1)}, pass},
		{"two of one", podMounting("c1", "c2"), nil, []any{withDriver("a", "csi", 1)}, tooMany},
		{"of none", podMounting("c1"), nil, []any{withDriver("a", "csi", 0)}, tooMany},
		{"full, but it is there", podMounting("c1"), using("a", "c1"), []any{withDriver("a", "csi", 0)}, pass},
		{"the same volume by another claim", podMounting("same"), using("a", "c1"), []any{withDriver("a", "csi", 1)}, pass},
		{"full", podMounting("c1"), using("a", "c2"), []any{withDriver("a", "csi", 1)}, tooMany},
		{"full of what is to be made", podMounting("c1"), using("a", "new"), []any{withDriver("a", "csi", 1)}, tooMany},
		{"its own is to be made", podMounting("new"), using("a", "c1"), []any{withDriver("a", "csi", 1)}, tooMany},
		{"its volume is gone", podMounting("dangling"), using("a", "c1"), []any{withDriver("a", "csi", 1)}, tooMany},
		{"no CSI volume", podMounting("nfs"), using("a", "c1"), []any{withDriver("a", "csi", 0)}, pass},
		{"a claim of a pod there is gone", podMounting("c1"), using("a", "none"), []any{withDriver("a", "csi", 1)}, pass},
		{"attached, unused", podMounting("c1"), nil, []any{withDriver("a", "csi", 1), attached("x", "v2", "a")}, tooMany},
		{"attached and used", podMounting("c1"), using("a", "c2"), []any{withDriver("a", "csi", 2), attached("x", "v2", "a")}, pass},
		{"attached elsewhere", podMounting("c1"), nil, []any{withDriver("a", "csi", 1), attached("x", "v2", "b")}, pass},
		{"attached, its own, and not used yet counts twice", podMounting("c1"), nil, []any{withDriver("a", "csi", 1), attached("x", "v1", "a")}, tooMany},
		{"attached, volume gone", podMounting("c1"), nil, []any{withDriver("a", "csi", 1), attached("x", "gone", "a")}, pass},
		{"in-tree class", podMounting("migrated"), nil, []any{withDriver("a", "ebs.csi.aws.com", 0)}, tooMany},
		{"in-tree class without a driver that counts", podMounting("file"), nil, []any{withDriver("a", "file.csi.azure.com", 0)}, pass},
		{"in-tree disk", ebs, nil, []any{withDriver("a", "ebs.csi.aws.com", 0)}, tooMany},
		{"in-tree disk, nothing is known of the node", ebs, nil, nil, pass},
		{"driver missing", podMounting("c1"), nil, []any{required, withDriver("a", "other", -1)}, "Unschedulable: csi CSI driver is not installed on the node"},
		{"driver missing, no CSINode", podMounting("c1"), nil, []any{required}, "Unschedulable: csi CSI driver is not installed on the node"},
		{"driver there", podMounting("c1"), nil, []any{required, withDriver("a", "csi", -1)}, pass},
		{"claim missing", podMounting("c1", "none"), nil, nil, `UnschedulableAndUnresolvable: looking up PVC default/none: persistentvolumeclaim "none" not found`},
		{"claim without a name", podMounting(""), nil, nil, "Error: PersistentVolumeClaim had no name"},
		{"claim without a name of a pod there", podMounting("c1"), using("a", "", "c2"), []any{withDriver("a", "csi", 2)}, pass},
		{"claim without a name of a pod there, others count", podMounting("c1"), using("a", "", "c2"), []any{withDriver("a", "csi", 1)}, tooMany},
		{"malformed disk of a pod there", podMounting("c1"), malformed, []any{withDriver("a", "csi", 1)}, pass},
		{"malformed disk of a pod there, the same driver", ebs, malformed, []any{withDriver("a", "ebs.csi.aws.com", 1)}, pass},
		{"malformed disk of its own", malformed, nil, []any{withDriver("a", "csi", 9)}, "Error: converting volume(v) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://x)"},
		{"ephemeral volume of a pod there with the claim of another", podMounting("c1"), thief, []any{withDriver("a", "csi", 1), claimOf("thief-data", "csi")}, pass},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var pods []*api.Pod
			if test.on != nil {
				on := *test.on
				on.Spec.NodeName = "a"
				pods = append(pods, &on)
			}
			s := snapshotOf(t, twoZones()[:1], pods...)
			put(t, s, common...)
			put(t, s, test.objects...)
			wantVerdicts(t, s, filter.NodeVolumeLimits{}, test.pod, test.want)
		})
	}
	t.Run("no volumes", func(t *testing.T) {
		wantPreFilter(t, snapshotOf(t, twoZones()), filter.NodeVolumeLimits{}, podMounting(), "Skip", false)
	})
	t.Run("several missing", func(t *testing.T) {
		s := snapshotOf(t, twoZones()[:1])
		also := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "aaa"}}
		also.Spec.PreventPodSchedulingIfMissing = new(true)
		put(t, s, required, also, classOf("csi", "csi", late), classOf("aaa", "aaa", late), claimOf("c", "csi"), claimOf("d", "aaa"))
		wantVerdicts(t, s, filter.NodeVolumeLimits{}, podMounting("c", "d"), "Unschedulable: aaa CSI driver is not installed on the node")
	})
}

// TestNodeVolumeLimitsWhatIf calls a bound filter while pods are removed, as
// preemption does.
func TestNodeVolumeLimitsWhatIf(t *testing.T) {
	there := using("a", "c1")
	s := snapshotOf(t, twoZones()[:1], there)
	put(t, s, classOf("csi", "csi", late), claimOf("c1", "csi"), claimOf("c2", "csi"), withDriver("a", "csi", 1))
	var c framework.Cycle
	c.Reset(podInfo(t, s, podMounting("c2")), s, 0, 0)
	bound, status := filter.NodeVolumeLimits{}.PreFilter(&c)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	ask := func(want framework.Code) {
		t.Helper()
		if got := bound.Filter.Filter(c.Pod, s.Node("a")).Code(); got != want {
			t.Errorf("verdict = %v, want %v", got, want)
		}
	}
	ask(framework.Unschedulable)
	m := s.Begin()
	if err := s.RemovePod(podInfo(t, s, there), "a"); err != nil {
		t.Fatal(err)
	}
	ask(framework.Success)
	s.Rollback(m)
	ask(framework.Unschedulable)
}

func BenchmarkNodeVolumeLimits(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) {
			s := framework.NewSnapshot(framework.Arrival)
			put(b, s, classOf("csi", "csi", late))
			for i := range nodes {
				name := fmt.Sprint("node-", i)
				if err := s.AddNode(api.MakeNode(name, "4", "4Gi").Obj()); err != nil {
					b.Fatal(err)
				}
				put(b, s, withDriver(name, "csi", 25))
				for k := range 10 {
					claim := fmt.Sprint("claim-", i, "-", k)
					put(b, s, claimOf(claim, "csi", boundTo(claim)), volumeOf(claim, "csi", "5Gi", csiVolume(claim)))
					p := using(name, claim)
					p.UID += api.UID(claim)
					if err := s.AddPod(podInfo(b, s, p), name); err != nil {
						b.Fatal(err)
					}
				}
			}
			put(b, s, claimOf("new", "csi"))
			var c framework.Cycle
			c.Reset(podInfo(b, s, podMounting("new")), s, 0, 0)
			filter.NodeVolumeLimits{}.PreFilter(&c) // reads all nodes once
			b.ReportAllocs()
			for b.Loop() {
				bound, _ := filter.NodeVolumeLimits{}.PreFilter(&c)
				for _, n := range s.All() {
					if status := bound.Filter.Filter(c.Pod, n); !status.IsSuccess() {
						b.Fatal(status)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nodes), "ns/node")
		})
	}
}

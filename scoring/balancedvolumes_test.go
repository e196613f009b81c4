package scoring_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

func TestBalancedVolumesScoreV118(t *testing.T) {
	tests := []struct{ cpu, cpus, memory, memories, more, room, want int64 }{
		{2, 4, 2, 4, 1, 2, 100}, // all equal
		// .75, .5 and 0: mean .41667, squares .11111 + .00694 + .17361, a third of that .09722
		{3, 4, 5, 10, 0, 3, 90},
		// 0, 0 and .5: mean .16667, squares 2*.02778 + .11111, a third .05556
		{0, 4, 0, 4, 1, 2, 94},
		{0, 4, 0, 4, 2, 2, 0}, // used up
		{4, 4, 0, 4, 1, 2, 0},
		{0, 4, 5, 4, 1, 2, 0},
		{0, 0, 0, 4, 1, 2, 0}, // missing
		{3, 4, 5, 10, 1, 0, 75},
		{3, 4, 5, 10, 1, -3, 75},
		{2, 4, 2, 4, -1, 2, 94}, // .5, .5 and 0: mean .33333, squares 2*.02778 + .11111
	}
	for _, test := range tests {
		got := scoring.BalancedVolumesScoreKubernetes118(test.cpu, test.cpus, test.memory, test.memories, test.more, test.room)
		if got != test.want {
			t.Errorf("BalancedVolumesScoreV118(%d, %d, %d, %d, %d, %d) = %d, want %d",
				test.cpu, test.cpus, test.memory, test.memories, test.more, test.room, got, test.want)
		}
	}
}

func TestBalancedVolumesAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.Int64Range(1, 50)
		cpus, memories, room := whole.Draw(t, "cpus"), whole.Draw(t, "memories"), whole.Draw(t, "room")
		part := rapid.Int64Range(0, 50)
		cpu, memory, more := part.Draw(t, "cpu"), part.Draw(t, "memory"), part.Draw(t, "more")
		got := scoring.BalancedVolumesScoreKubernetes118(cpu, cpus, memory, memories, more, room)
		want := oracle.BalancedVolumesV118(float64(cpu)/float64(cpus), float64(memory)/float64(memories), float64(more)/float64(room))
		if diff := want - float64(got); diff < -1e-9 || diff > 1+1e-9 {
			t.Errorf("BalancedVolumesScoreV118(%d, %d, %d, %d, %d, %d) = %d, want %v without the fraction", cpu, cpus, memory, memories, more, room, got, want)
		}
		if got < 0 || got > 100 {
			t.Errorf("BalancedVolumesScoreV118 = %d, want from 0 to 100", got)
		}
	})
	const large = math.MaxInt64
	if got := scoring.BalancedVolumesScoreKubernetes118(large-1, large, 0, large, 1, large); got < 0 || got > 100 {
		t.Errorf("BalancedVolumesScoreV118 of large numbers = %d, want from 0 to 100", got)
	}
}

// disks mounts disks such as "ebs:1", of the types ebs, gce, azd and cin, and claims
// such as "pvc:data".
func disks(p *api.Pod, list ...string) *api.Pod {
	for i, text := range list {
		v := api.Volume{Name: fmt.Sprint("v", i)}
		switch kind, name, _ := strings.Cut(text, ":"); kind {
		case "ebs":
			v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: name}
		case "gce":
			v.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: name}
		case "azd":
			v.AzureDisk = &api.AzureDiskVolumeSource{DiskName: name}
		case "cin":
			v.Cinder = &api.CinderVolumeSource{VolumeID: name}
		case "pvc":
			v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: name}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	return p
}

// diskObjects adds four claims: of an existing disk, of one not yet provisioned, of
// a lost one, and of none.
func diskObjects(t testing.TB, s *framework.Snapshot) {
	t.Helper()
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"ebs", "gce", "csi"} {
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
		switch name {
		case "ebs":
			v.Spec.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: "1"}
		case "gce":
			v.Spec.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: "1"}
		case "csi":
			v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "1"}
		}
		put(framework.Put(s, v))
	}
	for _, c := range [][3]string{
		{"ebs", "ebs", ""}, {"gce", "gce", "aws"}, {"csi", "csi", ""}, {"unmade", "", "aws"}, {"lost", "gone", "aws"}, {"bare", "", ""}, {"other", "", "other"},
	} {
		claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: c[0]}}
		claim.Spec.VolumeName = c[1]
		if c[2] != "" {
			claim.Spec.StorageClassName = &c[2]
		}
		put(framework.Put(s, claim))
	}
	for name, provisioner := range map[string]string{"aws": "kubernetes.io/aws-ebs", "other": "example.com/x"} {
		put(framework.Put(s, &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: name}, Provisioner: provisioner}))
	}
}

// of118 are the filters of the default profile of 1.18 that limit disks.
var of118 = []scoring.VolumeLimit{{Filter: "EBSLimits"}, {Filter: "GCEPDLimits"}, {Filter: "AzureDiskLimits"}}

// A pod of 1 of 4 cpu and 1 of 4 GiB, on a node whose allocatable limits it to 4
// Amazon disks.
func TestAttachedVolumes(t *testing.T) {
	const even = 100
	tests := []struct {
		name     string
		there    []string
		pod      []string
		limits   []scoring.VolumeLimit
		migrated string
		want     int64
	}{
		{"off", nil, []string{"ebs:1", "ebs:2"}, nil, "", even},
		{"no disks", []string{"ebs:1"}, nil, of118, "", even},
		// .25, .25 and .5: mean .33333, squares 2*.00694 + .02778, a third .01389
		{"two of four", nil, []string{"ebs:1", "ebs:2"}, of118, "", 98},
		// two of two
		{"all that are left", []string{"ebs:3", "ebs:4"}, []string{"ebs:1", "ebs:2"}, of118, "", 0},
		// one of three: .25, .25 and .33333: mean .27778, squares 2*.00077 + .00309, a third .00154
		{"one is there", []string{"ebs:1"}, []string{"ebs:1", "ebs:2"}, of118, "", 99},
		// none of three: .25, .25 and 0: mean .16667, squares 2*.00694 + .02778, a third .01389
		{"all are there", []string{"ebs:1"}, []string{"ebs:1"}, of118, "", 98},
		{"no room, none needed", []string{"ebs:1", "ebs:2", "ebs:3", "ebs:4"}, []string{"ebs:1"}, of118, "", even},
		{"too many, as no filter runs", []string{"ebs:1", "ebs:2", "ebs:3", "ebs:4"}, []string{"ebs:5"}, of118, "", even},
		{"once each", nil, []string{"ebs:1", "pvc:ebs", "ebs:2"}, of118, "", 98},
		// two of four: the unprovisioned one, and the possible one
		{"unmade", nil, []string{"pvc:unmade", "pvc:lost"}, of118, "", 98},
		{"claims of other volumes", nil, []string{"pvc:csi", "pvc:bare", "pvc:other", "pvc:absent"}, of118, "", even},
		// one of 16 of Google: .25, .25 and .0625: mean .1875, squares 2*.00391 + .01563, a third .00781
		{"the last kind counts", nil, []string{"gce:1", "ebs:1", "ebs:2"}, of118, "", 99},
		{"in the order of the profile", nil, []string{"gce:1", "ebs:1", "ebs:2"}, []scoring.VolumeLimit{of118[1], of118[0]}, "", 98},
		{"a kind of no filter", nil, []string{"cin:1", "ebs:1", "ebs:2"}, of118, "", 98},
		{"no room of the last kind", []string{"gce:7"}, []string{"gce:7", "ebs:1"}, []scoring.VolumeLimit{of118[0], {Filter: "GCEPDLimits", MaxVolumes: 1}}, "", even},
		{"left to a driver", nil, []string{"ebs:1", "ebs:2"}, of118, "kubernetes.io/aws-ebs", even},
		{"the last kind is left to a driver", nil, []string{"gce:1", "ebs:1", "ebs:2"}, of118, "kubernetes.io/gce-pd", 98},
		// the node's own limit wins over the filter's: two of four
		{"a maximum", nil, []string{"ebs:1", "ebs:2"}, []scoring.VolumeLimit{{Filter: "EBSLimits", MaxVolumes: 2}}, "", 98},
		// .25, .25 and .5 of Cinder
		{"a maximum where the node tells none", nil, []string{"cin:1"}, []scoring.VolumeLimit{{Filter: "CinderLimits", MaxVolumes: 2}}, "", 98},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, []*api.Node{api.MakeNode("n", "4", "4Gi").Resource("attachable-volumes-aws-ebs", "4").Obj()},
				disks(api.MakePod("there").Requests("0", "0").Node("n").Obj(), test.there...))
			diskObjects(t, s)
			if test.migrated != "" {
				csi := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "n", Annotations: map[string]string{api.AnnMigratedPlugins: test.migrated}}}
				if err := framework.Put(s, csi); err != nil {
					t.Fatal(err)
				}
			}
			plugin := scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118, AttachedVolumes: test.limits}
			wantScores(t, s, plugin, disks(api.MakePod("p").Requests("1", "1Gi").Obj(), test.pod...), []int64{test.want}, nil)
		})
	}
}

func TestAttachedVolumesRefused(t *testing.T) {
	for want, plugin := range map[string]scoring.NodeResourcesBalancedAllocation{
		"NodeResourcesBalancedAllocation: attachedVolumes: only the rules 1.18 count them": {AttachedVolumes: of118},
		`NodeResourcesBalancedAllocation: attachedVolumes[1]: unknown filter "NodeVolumeLimits": want EBSLimits, GCEPDLimits, AzureDiskLimits or CinderLimits`: {
			Rules: scoring.Kubernetes118, AttachedVolumes: []scoring.VolumeLimit{of118[0], {Filter: "NodeVolumeLimits"}},
		},
	} {
		if err := plugin.Validate(); err == nil || err.Error() != want {
			t.Errorf("Validate = %v, want %s", err, want)
		}
	}
	s := snapshotOf(t, []*api.Node{api.MakeNode("n", "4", "4Gi").Obj()})
	plugin := scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118, AttachedVolumes: of118}
	pod := disks(api.MakePod("p").Obj(), "pvc:")
	if _, status := scoresOf(t, s, plugin, pod); status.Code() != framework.Error || status.Message() != "PersistentVolumeClaim had no name" {
		t.Errorf("PreScore of a pod with a claim without a name = %v, want an error", status)
	}
}

// TestAttachedVolumesAnswers compares with scores recorded from the plugin and the
// filters of kube-scheduler 1.18.20, with the feature gate on.
func TestAttachedVolumesAnswers(t *testing.T) {
	type podCase struct {
		CPU, Memory int64
		Disks       []string
	}
	file, err := os.Open("testdata/attachedvolumes118.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, counted := 0, 0
	for d := json.NewDecoder(file); d.More(); {
		var c struct {
			CPU, Memory    int64
			Told           map[resource.Name]int64
			Type, Migrated string
			Pods           []podCase
			Pod            podCase
			Filters        []string
			Score          int64
		}
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		pod := func(name string, p podCase) api.PodBuilder {
			return api.MakePod(name).Requests(fmt.Sprintf("%dm", p.CPU), fmt.Sprint(p.Memory))
		}
		node := api.MakeNode("n", fmt.Sprintf("%dm", c.CPU), fmt.Sprint(c.Memory))
		if c.Type != "" {
			node = node.Labels("node.kubernetes.io/instance-type", c.Type)
		}
		for name, limit := range c.Told {
			node = node.Resource(name, fmt.Sprint(limit))
		}
		var pods []*api.Pod
		for i, p := range c.Pods {
			pods = append(pods, disks(pod(fmt.Sprint("there-", i), p).Node("n").Obj(), p.Disks...))
		}
		s := snapshotOf(t, []*api.Node{node.Obj()}, pods...)
		diskObjects(t, s)
		if c.Migrated != "" {
			csi := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "n", Annotations: map[string]string{api.AnnMigratedPlugins: c.Migrated}}}
			if err := framework.Put(s, csi); err != nil {
				t.Fatal(err)
			}
		}
		plugin := scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118}
		p := disks(pod("p", c.Pod).Obj(), c.Pod.Disks...)
		if off, _ := scoresOf(t, s, plugin, p); off[0] != c.Score {
			counted++
		} else {
			plain++
		}
		for _, name := range c.Filters {
			plugin.AttachedVolumes = append(plugin.AttachedVolumes, scoring.VolumeLimit{Filter: name})
		}
		if got, status := scoresOf(t, s, plugin, p); !status.IsSuccess() || got[0] != c.Score {
			t.Errorf("scores of %+v = %d, %v; want %d", c, got, status, c.Score)
		}
	}
	if counted < 100 || plain < 20 {
		t.Errorf("disks change %d scores, and %d not: the cases test too little", counted, plain)
	}
}

// diskCluster is a random cluster in which pods mount disks and claims.
func diskCluster(seed uint64) *api.Objects {
	o := frameworktest.Cluster(seed)
	r := rand.New(rand.NewPCG(seed, 118))
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "aws"}, Provisioner: "kubernetes.io/aws-ebs"}
	volume := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "pv"}}
	volume.Spec.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: "1"}
	o.StorageClasses, o.PersistentVolumes = append(o.StorageClasses, class), append(o.PersistentVolumes, volume)
	for _, n := range o.Nodes {
		if r.IntN(3) == 0 {
			o.CSINodes = append(o.CSINodes, &api.CSINode{ObjectMeta: api.ObjectMeta{
				Name: n.Name, Annotations: map[string]string{api.AnnMigratedPlugins: "kubernetes.io/aws-ebs"},
			}})
		}
	}
	for i, p := range o.Pods {
		switch r.IntN(4) {
		case 0:
			disks(p, one("ebs:1", "ebs:2", "gce:1", "azd:1", "cin:1"))
		case 1:
			disks(p, one("ebs:1", "ebs:3"), one("cin:1", "cin:2"))
		case 2:
			c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: p.Namespace, Name: fmt.Sprint("claim-", i)}}
			c.Spec.VolumeName, c.Spec.StorageClassName = one("", "pv", "gone"), &class.Name
			o.PersistentVolumeClaims = append(o.PersistentVolumeClaims, c)
			disks(p, "pvc:"+c.Name)
		}
	}
	return o
}

// TestAttachedVolumesConformance runs the kit on clusters with disks and claims.
func TestAttachedVolumesConformance(t *testing.T) {
	p := scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118, AttachedVolumes: append(of118, scoring.VolumeLimit{Filter: "CinderLimits", MaxVolumes: 2})}
	frameworktest.Run(t, p, frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Generate: diskCluster})
}

func ExampleBalancedVolumesScoreKubernetes118() {
	// Half of the cpu and the memory would be in use; one disk more, where the node
	// can still take two or eight.
	fmt.Println(scoring.BalancedVolumesScoreKubernetes118(2, 4, 8, 16, 1, 2), scoring.BalancedVolumesScoreKubernetes118(2, 4, 8, 16, 1, 8))
	// Output: 100 96
}

func ExampleVolumeLimit() {
	plugin := scoring.NodeResourcesBalancedAllocation{
		Rules:           scoring.Kubernetes118,
		AttachedVolumes: []scoring.VolumeLimit{{Filter: "EBSLimits", MaxVolumes: 4}},
	}
	s := snapshotOf(panics{}, []*api.Node{api.MakeNode("n", "4", "16Gi").Obj()})
	for _, list := range [][]string{nil, {"ebs:1"}, {"ebs:1", "ebs:2", "ebs:3"}} {
		raw, _ := scoreAll(panics{}, plugin, s, disks(api.MakePod("db").Requests("1", "4Gi").Obj(), list...))
		fmt.Println(len(list), raw)
	}
	// Output:
	// 0 [100]
	// 1 [100]
	// 3 [94]
}

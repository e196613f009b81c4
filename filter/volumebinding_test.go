package filter_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/resource"
)

// claimOf makes a claim of 5Gi in the namespace default.
func claimOf(name, class string, change ...func(*api.PersistentVolumeClaim)) *api.PersistentVolumeClaim {
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, UID: api.UID("uid-" + name)}}
	c.Spec.StorageClassName, c.Spec.Resources.Requests = &class, list("storage", "5Gi")
	for _, f := range change {
		f(c)
	}
	return c
}

func boundTo(volume string) func(*api.PersistentVolumeClaim) {
	return func(c *api.PersistentVolumeClaim) {
		c.Spec.VolumeName, c.Annotations = volume, map[string]string{api.AnnBindCompleted: "yes"}
	}
}

func selecting(node string) func(*api.PersistentVolumeClaim) {
	return func(c *api.PersistentVolumeClaim) {
		c.Annotations = map[string]string{api.AnnSelectedNode: node}
	}
}

// volumeOf makes an available volume.
func volumeOf(name, class, size string, change ...func(*api.PersistentVolume)) *api.PersistentVolume {
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: name}}
	v.Spec.StorageClassName, v.Spec.Capacity = class, list("storage", size)
	v.Status.Phase = api.VolumeAvailable
	for _, f := range change {
		f(v)
	}
	return v
}

// onlyFrom limits a volume to the nodes with a label.
func onlyFrom(label, value string) func(*api.PersistentVolume) {
	return func(v *api.PersistentVolume) {
		v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{
			NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{
				{Key: label, Operator: api.NodeSelectorOpIn, Values: []string{value}},
			}}},
		}}
	}
}

func classOf(name, provisioner string, mode api.VolumeBindingMode) *api.StorageClass {
	return &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
}

// podMounting makes a pod that mounts claims.
func podMounting(claims ...string) *api.Pod {
	p := api.MakePod("p").UID("uid-p").Obj()
	for i, name := range claims {
		v := api.Volume{Name: fmt.Sprint("v", i)}
		v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: name}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	return p
}

// put adds objects to the snapshot.
func put(tb failer, s *framework.Snapshot, objects ...any) {
	tb.Helper()
	for _, o := range objects {
		var err error
		switch o := o.(type) {
		case *api.PersistentVolumeClaim:
			err = framework.Put(s, o)
		case *api.PersistentVolume:
			err = framework.Put(s, o)
		case *api.StorageClass:
			err = framework.Put(s, o)
		case *api.CSINode:
			err = framework.Put(s, o)
		case *api.CSIDriver:
			err = framework.Put(s, o)
		case *api.CSIStorageCapacity:
			err = framework.Put(s, o)
		case *api.VolumeAttachment:
			err = framework.Put(s, o)
		default:
			tb.Fatal(fmt.Sprintf("no kind for %T", o))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

const late, now = api.VolumeBindingWaitForFirstConsumer, api.VolumeBindingImmediate

// twoZones are nodes a and b, each in the zone of its name.
func twoZones() []*api.Node {
	return []*api.Node{
		api.MakeNode("a", "4", "4Gi").Zone("a").Obj(),
		api.MakeNode("b", "4", "4Gi").Zone("b").Obj(),
	}
}

func TestVolumeBindingPreFilter(t *testing.T) {
	owned := claimOf("p-own", "late", func(c *api.PersistentVolumeClaim) {
		c.OwnerReferences = []api.OwnerReference{{UID: "uid-p", Controller: new(true)}}
	})
	ephemeral := podMounting()
	ephemeral.Spec.Volumes = []api.Volume{{Name: "own"}}
	ephemeral.Spec.Volumes[0].Ephemeral = &api.EphemeralVolumeSource{}
	objects := []any{
		classOf("late", "csi", late), classOf("now", "csi", now),
		&api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "unset"}},
		claimOf("late", "late"), claimOf("now", "now"), claimOf("unset", "unset"), claimOf("no-such-class", "gone"), claimOf("classless", ""),
		claimOf("named", "late", func(c *api.PersistentVolumeClaim) { c.Spec.VolumeName = "pv" }),
		claimOf("bound", "now", boundTo("pv")),
		claimOf("lost", "now", boundTo("pv-1"), func(c *api.PersistentVolumeClaim) { c.Status.Phase = api.ClaimLost }),
		claimOf("deleted", "late", func(c *api.PersistentVolumeClaim) { c.DeletionTimestamp = new(time.Unix(0, 0)) }),
		claimOf("annotated", "now", func(c *api.PersistentVolumeClaim) {
			c.Annotations = map[string]string{"volume.beta.kubernetes.io/storage-class": "late"}
		}),
	}
	const unbound = "UnschedulableAndUnresolvable: pod has unbound immediate PersistentVolumeClaims"
	tests := []struct {
		name  string
		pod   *api.Pod
		owned *api.PersistentVolumeClaim
		want  string
	}{
		{"no claims", podMounting(), nil, "Skip"},
		{"late", podMounting("late"), nil, "Success"},
		{"bound", podMounting("bound"), nil, "Success"},
		{"class by annotation", podMounting("annotated"), nil, "Success"},
		{"immediate", podMounting("late", "now"), nil, unbound},
		{"class missing", podMounting("no-such-class"), nil, unbound},
		{"no class", podMounting("classless"), nil, unbound},
		{"waits for a volume by name", podMounting("named"), nil, unbound},
		{"claim missing", podMounting("none"), nil, `UnschedulableAndUnresolvable: persistentvolumeclaim "none" not found`},
		{"claim without a name", podMounting(""), nil, `UnschedulableAndUnresolvable: persistentvolumeclaim "" not found`},
		{"lost", podMounting("lost"), nil, `UnschedulableAndUnresolvable: persistentvolumeclaim "lost" bound to non-existent persistentvolume "pv-1"`},
		{"deleted", podMounting("deleted"), nil, `UnschedulableAndUnresolvable: persistentvolumeclaim "deleted" is being deleted`},
		{"mode unset", podMounting("unset"), nil, `Error: VolumeBindingMode not set for StorageClass "unset"`},
		{"ephemeral, not made yet", ephemeral, nil, `UnschedulableAndUnresolvable: waiting for ephemeral volume controller to create the persistentvolumeclaim "p-own"`},
		{"ephemeral", ephemeral, owned, "Success"},
		{"ephemeral of another", ephemeral, claimOf("p-own", "late"), "UnschedulableAndUnresolvable: PVC default/p-own was not created for pod default/p (pod is not owner)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, twoZones())
			put(t, s, objects...)
			if test.owned != nil {
				put(t, s, test.owned)
			}
			wantPreFilter(t, s, filter.VolumeBinding{}, test.pod, test.want, false)
		})
	}
}

func TestVolumeBinding(t *testing.T) {
	const (
		pass     = "Success"
		affinity = "UnschedulableAndUnresolvable: node(s) didn't match PersistentVolume's node affinity"
		none     = "UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to bind"
		noSpace  = "UnschedulableAndUnresolvable: node(s) did not have enough free storage"
		gone     = "UnschedulableAndUnresolvable: node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
	)
	zone := api.LabelTopologyZone
	reservedFor := func(name string) func(*api.PersistentVolume) {
		return func(v *api.PersistentVolume) {
			v.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: name}
		}
	}
	restricted := classOf("zonal", "csi", late)
	restricted.AllowedTopologies = []api.TopologySelectorTerm{
		{}, // selects nothing
		{MatchLabelExpressions: []api.TopologySelectorLabelRequirement{{Key: zone, Values: []string{"b"}}}},
	}
	counting := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "csi"}}
	counting.Spec.StorageCapacity = new(true)
	room := func(name, class, size string, topology *api.LabelSelector) *api.CSIStorageCapacity {
		c := &api.CSIStorageCapacity{ObjectMeta: api.ObjectMeta{Name: name}, StorageClassName: class, NodeTopology: topology}
		c.Capacity = new(resource.MustParse(size))
		return c
	}
	inZone := func(z string) *api.LabelSelector {
		return &api.LabelSelector{MatchLabels: map[string]string{zone: z}}
	}
	tests := []struct {
		name    string
		pod     *api.Pod
		objects []any
		want    [2]string // on a and b
	}{
		{"bound volume of a zone", podMounting("c"), []any{claimOf("c", "local", boundTo("v")), volumeOf("v", "local", "5Gi", onlyFrom(zone, "a"))}, [2]string{pass, affinity}},
		{"bound volume without affinity", podMounting("c"), []any{claimOf("c", "local", boundTo("v")), volumeOf("v", "local", "5Gi")}, [2]string{pass, pass}},
		{"bound volume is gone", podMounting("c"), []any{claimOf("c", "local", boundTo("v"))}, [2]string{gone, gone}},
		{
			"an affinity to a node by name is met everywhere", podMounting("c"),
			[]any{claimOf("c", "local", boundTo("v")), volumeOf("v", "local", "5Gi", func(v *api.PersistentVolume) {
				v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
					MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{"a"}}},
				}}}}
			})},
			[2]string{pass, pass},
		},
		{
			"an affinity without terms excludes all", podMounting("c"),
			[]any{claimOf("c", "local", boundTo("v")), volumeOf("v", "local", "5Gi", func(v *api.PersistentVolume) {
				v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{}}
			})},
			[2]string{affinity, affinity},
		},
		{"one volume in a", podMounting("c"), []any{claimOf("c", "local"), volumeOf("v", "local", "5Gi", onlyFrom(zone, "a"))}, [2]string{pass, none}},
		{"too small", podMounting("c"), []any{claimOf("c", "local"), volumeOf("v", "local", "4Gi")}, [2]string{none, none}},
		{"another class", podMounting("c"), []any{claimOf("c", "local"), volumeOf("v", "other", "5Gi")}, [2]string{none, none}},
		{"released", podMounting("c"), []any{claimOf("c", "local"), volumeOf("v", "local", "5Gi", func(v *api.PersistentVolume) { v.Status.Phase = api.VolumeReleased })}, [2]string{none, none}},
		{"reserved for another", podMounting("c"), []any{claimOf("c", "local"), volumeOf("v", "local", "5Gi", reservedFor("d"))}, [2]string{none, none}},
		{
			"reserved for it, whatever its phase and however small another", podMounting("c"),
			[]any{
				claimOf("c", "local"), volumeOf("other", "local", "5Gi", onlyFrom(zone, "b")),
				volumeOf("v", "local", "9Gi", reservedFor("c"), onlyFrom(zone, "a"), func(v *api.PersistentVolume) { v.Status.Phase = api.VolumePending }),
			},
			[2]string{pass, none},
		},
		{"one volume for two claims", podMounting("c", "d"), []any{claimOf("c", "local"), claimOf("d", "local"), volumeOf("v", "local", "5Gi")}, [2]string{none, none}},
		{"as many as claims", podMounting("c", "d"), []any{claimOf("c", "local"), claimOf("d", "local"), volumeOf("v", "local", "5Gi"), volumeOf("w", "local", "50Gi")}, [2]string{pass, pass}},
		{
			"labels that the claim selects", podMounting("c"),
			[]any{
				claimOf("c", "local", func(c *api.PersistentVolumeClaim) {
					c.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
				}),
				volumeOf("v", "local", "5Gi", onlyFrom(zone, "a")),
				volumeOf("w", "local", "5Gi", onlyFrom(zone, "b"), func(v *api.PersistentVolume) { v.Labels = map[string]string{"tier": "gold"} }),
			},
			[2]string{none, pass},
		},
		{"access modes", podMounting("c"), []any{claimOf("c", "local", func(c *api.PersistentVolumeClaim) {
			c.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteMany}
		}), volumeOf("v", "local", "5Gi")}, [2]string{none, none}},
		{"volume modes", podMounting("c"), []any{claimOf("c", "local", func(c *api.PersistentVolumeClaim) {
			c.Spec.VolumeMode = new(api.PersistentVolumeBlock)
		}), volumeOf("v", "local", "5Gi")}, [2]string{none, none}},
		{"attributes class", podMounting("c"), []any{claimOf("c", "local", func(c *api.PersistentVolumeClaim) {
			c.Spec.VolumeAttributesClassName = new("fast")
		}), volumeOf("v", "local", "5Gi")}, [2]string{none, none}},
		{"deleted volume", podMounting("c"), []any{claimOf("c", "local"), volumeOf("v", "local", "5Gi", func(v *api.PersistentVolume) {
			v.DeletionTimestamp = new(time.Unix(0, 0))
		})}, [2]string{none, none}},
		{"can be made", podMounting("c"), []any{claimOf("c", "csi")}, [2]string{pass, pass}},
		{"can be made in b", podMounting("c"), []any{claimOf("c", "zonal")}, [2]string{none, pass}},
		{"a node was selected", podMounting("c"), []any{claimOf("c", "csi", selecting("b"))}, [2]string{none, pass}},
		{"a node was selected, nobody makes volumes", podMounting("c"), []any{claimOf("c", "local", selecting("b"))}, [2]string{none, none}},
		{"room in a", podMounting("c"), []any{counting, claimOf("c", "csi"), room("r", "csi", "5Gi", inZone("a"))}, [2]string{pass, noSpace}},
		{"room of another class", podMounting("c"), []any{counting, claimOf("c", "csi"), room("r", "zonal", "5Gi", inZone("a"))}, [2]string{noSpace, noSpace}},
		{"not enough room", podMounting("c"), []any{counting, claimOf("c", "csi"), room("r", "csi", "4Gi", &api.LabelSelector{})}, [2]string{noSpace, noSpace}},
		{"room nowhere", podMounting("c"), []any{counting, claimOf("c", "csi"), room("r", "csi", "5Gi", nil)}, [2]string{noSpace, noSpace}},
		{"room asked by nobody", podMounting("c"), []any{counting, claimOf("c", "csi", func(c *api.PersistentVolumeClaim) { c.Spec.Resources.Requests = nil })}, [2]string{pass, pass}},
		{
			"the largest volume counts, not the sum", podMounting("c"),
			[]any{counting, claimOf("c", "csi"), func() *api.CSIStorageCapacity {
				c := room("r", "csi", "50Gi", &api.LabelSelector{})
				c.MaximumVolumeSize = new(resource.MustParse("1Gi"))
				return c
			}()},
			[2]string{noSpace, noSpace},
		},
		{
			"two reasons", podMounting("bound", "c"),
			[]any{claimOf("bound", "local", boundTo("v")), volumeOf("v", "local", "5Gi", onlyFrom(zone, "a")), claimOf("c", "zonal", selecting("b"))},
			[2]string{none, "UnschedulableAndUnresolvable: node(s) didn't match PersistentVolume's node affinity"},
		},
		{
			"affinity and space", podMounting("bound", "c"),
			[]any{counting, claimOf("bound", "local", boundTo("v")), volumeOf("v", "local", "5Gi", onlyFrom(zone, "a")), claimOf("c", "csi")},
			[2]string{noSpace, affinity + ", node(s) did not have enough free storage"},
		},
		{
			"a malformed selector of a claim", podMounting("c"),
			[]any{claimOf("c", "local", func(c *api.PersistentVolumeClaim) {
				c.Spec.Selector = &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
			})},
			[2]string{
				`Error: error creating internal label selector for claim: default/c: "Near" is not a valid label selector operator`,
				`Error: error creating internal label selector for claim: default/c: "Near" is not a valid label selector operator`,
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, twoZones())
			put(t, s, classOf("local", "kubernetes.io/no-provisioner", late), classOf("csi", "csi", late), restricted)
			put(t, s, test.objects...)
			wantVerdicts(t, s, filter.VolumeBinding{}, test.pod, test.want[:]...)
		})
	}
}

// TestVolumeBindingMigrated uses volumes of in-tree plugins on nodes where a CSI
// driver has taken them over: the zone is in the driver's label.
func TestVolumeBindingMigrated(t *testing.T) {
	const driverZone = "topology.ebs.csi.aws.com/zone"
	ebs := func(id string) func(*api.PersistentVolume) {
		return func(v *api.PersistentVolume) {
			v.Spec.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: id}
		}
	}
	labelled := func(label, value string) func(*api.PersistentVolume) {
		return func(v *api.PersistentVolume) { v.Labels = map[string]string{label: value} }
	}
	const affinity = "UnschedulableAndUnresolvable: node(s) didn't match PersistentVolume's node affinity"
	tests := []struct {
		name   string
		change []func(*api.PersistentVolume)
		want   string
	}{
		{"affinity to the zone", []func(*api.PersistentVolume){ebs("vol-1"), onlyFrom(api.LabelTopologyZone, "z1")}, "Success"},
		{"affinity to the old zone", []func(*api.PersistentVolume){ebs("vol-1"), onlyFrom(api.LabelFailureDomainZone, "z1")}, "Success"},
		{"affinity to another zone", []func(*api.PersistentVolume){ebs("vol-1"), onlyFrom(api.LabelTopologyZone, "z2")}, affinity},
		{"label of the zone", []func(*api.PersistentVolume){ebs("vol-1"), labelled(api.LabelTopologyZone, "z2__z1")}, "Success"},
		{"label of another zone", []func(*api.PersistentVolume){ebs("vol-1"), labelled(api.LabelFailureDomainZone, "z2")}, affinity},
		{"no volume of EBS", []func(*api.PersistentVolume){ebs("aws://z1/disk")}, "Error: could not translate pv: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z1/disk)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := api.MakeNode("n", "1", "1Gi").Labels(driverZone, "z1").Obj()
			s := snapshotOf(t, []*api.Node{n})
			put(t, s, claimOf("c", "ebs", boundTo("v")), volumeOf("v", "ebs", "5Gi", test.change...))
			migrated := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: "n"}}
			migrated.Annotations = map[string]string{api.AnnMigratedPlugins: "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"}
			put(t, s, migrated)
			wantVerdicts(t, s, filter.VolumeBinding{}, podMounting("c"), test.want)
		})
	}
}

// drawStorage draws storage for a pod whose claims are bound or wait.
func drawStorage(t *rapid.T) (o oracle.Storage, pod *api.Pod, objects []any) {
	local, csi := classOf("local", "kubernetes.io/no-provisioner", late), classOf("csi", "csi", late)
	if rapid.Bool().Draw(t, "zonal") {
		csi.AllowedTopologies = []api.TopologySelectorTerm{{MatchLabelExpressions: []api.TopologySelectorLabelRequirement{
			{Key: api.LabelTopologyZone, Values: []string{"a"}},
		}}}
	}
	o.Classes = []*api.StorageClass{csi, local}
	driver := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "csi"}}
	driver.Spec.StorageCapacity = new(rapid.Bool().Draw(t, "counting"))
	o.Drivers = []*api.CSIDriver{driver}
	size := rapid.SampledFrom([]string{"1Gi", "2Gi", "2Gi", "3Gi", "1500Mi"})
	class := rapid.SampledFrom([]string{"local", "csi"})
	names := []string{"c0", "c1", "c2"}
	for i := range rapid.IntRange(0, 5).Draw(t, "volumes") {
		v := volumeOf(fmt.Sprint("v", i), class.Draw(t, "class"), size.Draw(t, "size"))
		if zone := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "zone"); zone != "" {
			onlyFrom(api.LabelTopologyZone, zone)(v)
		}
		if ref := rapid.SampledFrom([]string{"", "", "", "c0", "c1", "x"}).Draw(t, "reserved for"); ref != "" {
			v.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: ref}
		}
		v.Status.Phase = rapid.SampledFrom([]api.PersistentVolumePhase{api.VolumeAvailable, api.VolumeAvailable, api.VolumeBound}).Draw(t, "phase")
		o.Volumes = append(o.Volumes, v)
	}
	for _, name := range names {
		c := claimOf(name, class.Draw(t, "class"))
		c.Spec.Resources.Requests = list("storage", size.Draw(t, "request"))
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			boundTo(fmt.Sprint("v", rapid.IntRange(0, 5).Draw(t, "volume")))(c)
		case 1:
			selecting(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "selected"))(c)
		}
		o.Claims = append(o.Claims, c)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "capacities") {
		c := &api.CSIStorageCapacity{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("r", i)}, StorageClassName: "csi"}
		c.Capacity, c.NodeTopology = new(resource.MustParse(size.Draw(t, "capacity"))), &api.LabelSelector{}
		if zone := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "of zone"); zone != "" {
			c.NodeTopology.MatchLabels = map[string]string{api.LabelTopologyZone: zone}
		}
		o.Capacities = append(o.Capacities, c)
	}
	for _, x := range o.Classes {
		objects = append(objects, x)
	}
	for _, x := range o.Volumes {
		objects = append(objects, x)
	}
	for _, x := range o.Claims {
		objects = append(objects, x)
	}
	for _, x := range o.Capacities {
		objects = append(objects, x)
	}
	return o, podMounting(names[:rapid.IntRange(1, 3).Draw(t, "claims")]...), append(objects, driver)
}

// TestVolumeBindingOracle compares verdicts, and what Reserve assigns, with a direct
// transcription.
func TestVolumeBindingOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, pod, objects := drawStorage(t)
		s := snapshotOf(t, twoZones())
		put(t, s, objects...)
		info := podInfo(t, s, pod)
		var c framework.Cycle
		c.Reset(info, s, 0, 0)
		plugin := filter.VolumeBinding{}
		bound, status := plugin.PreFilter(&c)
		if !status.IsSuccess() {
			t.Fatalf("PreFilter = %v", status)
		}
		for _, n := range s.All() {
			want := o.PlaceVolumes(pod, n.Node)
			got := bound.Filter.Filter(info, n)
			if diff := cmp.Diff(want.Reasons, got.Reasons()); diff != "" {
				t.Fatalf("reasons of %s (-want +got):\n%s", n.Name(), diff)
			}
			if !got.IsSuccess() {
				continue
			}
			mark := s.Begin()
			if status := plugin.Reserve(&c, n); !status.IsSuccess() {
				t.Fatalf("Reserve = %v", status)
			}
			given, _ := filter.ClaimBindingsKey.Get(&c)
			volumes := map[string]string{}
			for _, v := range given.Volumes {
				volumes[v.Claim.Name] = v.Volume
			}
			if diff := cmp.Diff(want.Bound, volumes); diff != "" {
				t.Fatalf("volumes on %s (-want +got):\n%s", n.Name(), diff)
			}
			var made, wanted []string
			for _, c := range given.Claims {
				if made = append(made, c.Name); c.Node != n.Name() {
					t.Fatalf("claim %s goes to node %s, want %s", c.Name, c.Node, n.Name())
				}
			}
			for name := range want.Created {
				wanted = append(wanted, name)
			}
			slices.Sort(made)
			slices.Sort(wanted)
			if !slices.Equal(made, wanted) {
				t.Fatalf("claims on %s = %v, want %v", n.Name(), made, wanted)
			}
			s.Rollback(mark)
		}
	})
}

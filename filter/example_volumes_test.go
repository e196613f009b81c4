package filter_test

import (
	"fmt"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// exampleStorage returns a snapshot with the nodes and objects.
func exampleStorage(nodes []*api.Node, objects ...any) *framework.Snapshot {
	s := snapshotOf(exampleFailer{}, nodes)
	put(exampleFailer{}, s, objects...)
	return s
}

// showIn prints a plugin's verdicts on a pod for the nodes of a snapshot.
func showIn(s *framework.Snapshot, p framework.Plugin, pod *api.Pod) {
	var c framework.Cycle
	c.Reset(podInfo(exampleFailer{}, s, pod), s, 0, 0)
	list, _, status := verdicts(&c, p)
	if !status.IsSuccess() {
		fmt.Println(status)
	}
	for i, verdict := range list {
		fmt.Printf("%s: %v\n", s.At(i).Name(), verdict)
	}
}

// A claim that waits for its first pod takes a local volume, and so decides the
// node. After the reservation, a driver writes what Reserve found.
func ExampleVolumeBinding() {
	mode := api.VolumeBindingWaitForFirstConsumer
	disk := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "disk-of-n2"}}
	disk.Spec.StorageClassName, disk.Status.Phase = "local", api.VolumeAvailable
	disk.Spec.Capacity = resource.List{resource.Storage: resource.MustParse("100Gi")}
	disk.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{
		NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{
			{Key: api.LabelHostname, Operator: api.NodeSelectorOpIn, Values: []string{"n2"}},
		}}},
	}}
	claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "data"}}
	claim.Spec.StorageClassName = new("local")
	claim.Spec.Resources.Requests = resource.List{resource.Storage: resource.MustParse("50Gi")}
	s := exampleStorage([]*api.Node{
		api.MakeNode("n1", "4", "8Gi").Labels(api.LabelHostname, "n1").Obj(),
		api.MakeNode("n2", "4", "8Gi").Labels(api.LabelHostname, "n2").Obj(),
	}, disk, claim, &api.StorageClass{
		ObjectMeta: api.ObjectMeta{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &mode,
	})
	db := api.MakePod("db").Obj()
	db.Spec.Volumes = []api.Volume{{Name: "data"}}
	db.Spec.Volumes[0].PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: "data"}
	showIn(s, filter.VolumeBinding{}, db)

	var c framework.Cycle
	c.Reset(podInfo(exampleFailer{}, s, db), s, 0, 0)
	fmt.Println("reserve:", filter.VolumeBinding{}.Reserve(&c, s.Node("n2")))
	todo, _ := filter.ClaimBindingsKey.Get(&c)
	fmt.Println(todo.Volumes[0].Volume, "is for", todo.Volumes[0].Claim.Name)
	// Output:
	// n1: UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to bind
	// n2: Success
	// reserve: Success
	// disk-of-n2 is for data
}

// ClaimBindings is plain data, so tools can read it, too: it lists the changes to write,
// each as a patch.
func ExampleClaimBindings() {
	todo := filter.ClaimBindings{Claims: []filter.NodeSelection{{Namespace: "shop", Name: "data", ResourceVersion: "12", Node: "n7"}}}
	for _, c := range todo.Claims {
		patch, err := c.MergePatch()
		fmt.Println(c.Name, string(patch), err)
	}
	// Output: data {"metadata":{"resourceVersion":"12","annotations":{"volume.kubernetes.io/selected-node":"n7"}}} <nil>
}

func ExampleNodeSelection() {
	patch, err := filter.NodeSelection{Namespace: "shop", Name: "data", Node: "n7"}.MergePatch()
	fmt.Println(string(patch), err)
	// Output: {"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"n7"}}} <nil>
}

func ExampleVolumeReservation() {
	claim := api.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}
	patch, err := filter.VolumeReservation{Volume: "disk", ResourceVersion: "7", Claim: claim, ByController: true}.MergePatch()
	fmt.Println(string(patch), err)
	// Output: {"metadata":{"resourceVersion":"7","annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},"spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"shop","name":"data"}}} <nil>
}

func ExampleNoResourceClaims() {
	pod := api.MakePod("trainer").Obj()
	pod.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu"}}
	showIn(snapshotOf(exampleFailer{}, twoZones()[:1]), filter.NoResourceClaims{}, pod)
	showIn(snapshotOf(exampleFailer{}, twoZones()[:1]), filter.NoResourceClaims{}, api.MakePod("web").Obj())
	// Output:
	// a: UnschedulableAndUnresolvable: the pod has resource claims, which this scheduler does not handle
	// a: Success
}

func ExampleVolumeRestrictions() {
	mount := func(name string) *api.Pod {
		return withVolume(name, api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}})
	}
	there := mount("there")
	there.Spec.NodeName = "a"
	showIn(snapshotOf(exampleFailer{}, twoZones(), there), filter.VolumeRestrictions{}, mount("new"))
	// Output:
	// a: Unschedulable: node(s) had no available disk
	// b: Success
}

func ExampleVolumeZone() {
	s := exampleStorage(twoZones(), claimOf("data", "csi", boundTo("v")), volumeOf("v", "csi", "5Gi", func(v *api.PersistentVolume) {
		v.Labels = map[string]string{api.LabelTopologyZone: "b"}
	}))
	showIn(s, filter.VolumeZone{}, podMounting("data"))
	// Output:
	// a: UnschedulableAndUnresolvable: node(s) had no available volume zone
	// b: Success
}

func ExampleNodeVolumeLimits() {
	s := exampleStorage(twoZones(), withDriver("a", "ebs.csi.aws.com", 1), withDriver("b", "ebs.csi.aws.com", 25),
		classOf("gp3", "ebs.csi.aws.com", api.VolumeBindingWaitForFirstConsumer), claimOf("data", "gp3"), claimOf("logs", "gp3"))
	showIn(s, filter.NodeVolumeLimits{}, podMounting("data", "logs"))
	// Output:
	// a: Unschedulable: node(s) exceed max volume count
	// b: Success
}

// exampleDisks shows a plugin that gets one disk on a node with one.
func exampleDisks(p framework.Plugin, there, added api.VolumeSource) {
	pod := withVolume("there", there)
	pod.Spec.NodeName = "a"
	showIn(snapshotOf(exampleFailer{}, twoZones()[:1], pod), p, withVolume("new", added))
}

func ExampleEBSLimits() {
	ebs := func(id string) api.VolumeSource {
		return api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: id}}
	}
	exampleDisks(filter.EBSLimits{MaxVolumes: 1}, ebs("vol-1"), ebs("vol-2"))
	// Output: a: Unschedulable: node(s) exceed max volume count
}

func ExampleGCEPDLimits() {
	disk := func(name string) api.VolumeSource {
		return api.VolumeSource{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: true}}
	}
	exampleDisks(filter.GCEPDLimits{MaxVolumes: 1}, disk("one"), disk("one")) // the same disk counts once
	// Output: a: Success
}

func ExampleAzureDiskLimits() {
	disk := func(name string) api.VolumeSource {
		return api.VolumeSource{AzureDisk: &api.AzureDiskVolumeSource{DiskName: name}}
	}
	exampleDisks(filter.AzureDiskLimits{MaxVolumes: 1}, disk("one"), disk("two"))
	// Output: a: Unschedulable: node(s) exceed max volume count
}

func ExampleCinderLimits() {
	disk := func(id string) api.VolumeSource {
		return api.VolumeSource{Cinder: &api.CinderVolumeSource{VolumeID: id}}
	}
	exampleDisks(filter.CinderLimits{MaxVolumes: 2}, disk("one"), disk("two"))
	// Output: a: Success
}

// A pod that combines user namespaces with its node's network needs a kubelet that
// supports it.
func ExampleNodeDeclaredFeatures() {
	able := api.MakeNode("able", "4", "8Gi").Obj()
	able.Status.DeclaredFeatures = []string{"UserNamespacesHostNetworkSupport"}
	agent := api.MakePod("agent").Obj()
	agent.Spec.HostNetwork, agent.Spec.HostUsers = true, new(false)
	show(filter.NodeDeclaredFeatures{}, agent, able, api.MakeNode("old", "4", "8Gi").Obj())
	// Output:
	// able: Success
	// old: UnschedulableAndUnresolvable: node(s) didn't match Pod's required features
}

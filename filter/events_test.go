//go:build full

package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
)

// wakes reports what a queue would do with an event: if the plugin registered for
// it, whether it may help a pod that the plugin rejected.
func wakes(t *testing.T, p queueing.EnqueueExtensions, s *framework.Snapshot, pod *api.Pod, r queueing.EventResource, a queueing.ActionType, before, after any) bool {
	t.Helper()
	info := func(x any) any {
		if p, ok := x.(*api.Pod); ok {
			return podInfo(t, s, p)
		}
		return x
	}
	for _, e := range p.EventsToRegister() {
		if !e.Event.Matches(queueing.ClusterEvent{Resource: r, Action: a}) {
			continue
		}
		if e.Hint == nil {
			return true
		}
		hint, err := e.Hint(podInfo(t, s, pod), info(before), info(after))
		if err != nil {
			t.Errorf("%s: %s %v: %v", p.Name(), r, a, err)
		}
		if hint == queueing.Queue {
			return true
		}
	}
	return false
}

const (
	added     = queueing.ActionAdd
	deleted   = queueing.ActionDelete
	label     = queueing.ActionUpdateNodeLabel
	taint     = queueing.ActionUpdateNodeTaint
	given     = queueing.ActionUpdateNodeAllocatable
	updated   = queueing.ActionUpdate
	onNode    = queueing.ResourceNode
	onPod     = queueing.ResourceAssignedPod
	self      = queueing.ResourceTargetPod
	onClaim   = queueing.ResourcePersistentVolumeClaim
	onDevices = queueing.ResourceResourceClaim
)

// TestHints checks that events that help wake the pod, and others do not.
func TestHints(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	node := func(name string) api.NodeBuilder { return api.MakeNode(name, "4", "8Gi") }
	pod := api.MakePod("waiting").Requests("2", "1Gi")
	other := api.MakePod("other").Requests("1", "1Gi").Node("n")
	claim := func(namespace, name string) *api.PersistentVolumeClaim {
		return &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: namespace, Name: name}}
	}
	ownedClaim := func(namespace, name string) *api.PersistentVolumeClaim {
		c := claim(namespace, name)
		c.OwnerReferences = []api.OwnerReference{{UID: "p", Controller: new(true)}}
		return c
	}
	devices := func(name string, a *api.AllocationResult) *api.ResourceClaim {
		return &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}, Status: api.ResourceClaimStatus{Allocation: a}}
	}
	twoDevices := &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{{Device: "a"}, {Device: "b"}}}}
	otherDevice := &api.AllocationResult{Devices: api.DeviceAllocationResult{Results: []api.DeviceRequestAllocationResult{{Device: "c"}}}}
	another, owned := devices("gpu", nil), devices("gpu", nil)
	another.UID = "another"
	owned.OwnerReferences = []api.OwnerReference{{UID: "p", Controller: new(true)}}
	withDevices := pod.Obj()
	withDevices.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("gpu")}}
	withVolume := func(b api.PodBuilder, v api.VolumeSource) *api.Pod {
		p := b.Obj()
		p.Spec.Volumes = []api.Volume{{Name: "v", VolumeSource: v}}
		return p
	}
	data := api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}
	disk := api.VolumeSource{AWSElasticBlockStore: &api.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}
	spread := func(b api.PodBuilder, policy *api.NodeInclusionPolicy) *api.Pod {
		p := b.Obj()
		p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
			TopologyKey: "zone", MaxSkew: 1, WhenUnsatisfiable: api.DoNotSchedule, NodeTaintsPolicy: policy,
			LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		}}
		return p
	}
	spreadAll := spread(pod, nil)
	spreadAll.Spec.TopologySpreadConstraints[0].LabelSelector = &api.LabelSelector{}
	term := []api.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	attracted, repelled := pod.Obj(), pod.Obj()
	attracted.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
	repelled.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
	fenced := other.Obj()
	fenced.Spec.Affinity = repelled.Spec.Affinity
	less := other // than enough terms that it wakes any pod
	for range 64 {
		less = less.PodAntiAffinity("zone", "app=none")
	}
	wary := less.PodAntiAffinity("zone", "app=none")
	mounting := pod.Obj()
	mounting.Spec.Containers[0].VolumeMounts = []api.VolumeMount{{BindMountOptions: []string{"x"}}}
	declaring := node("n").Obj()
	declaring.Status.DeclaredFeatures = []string{"VolumeBindMountOptions"}
	driver := func(publishes bool) *api.CSIDriver {
		d := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "d"}}
		d.Spec.StorageCapacity = &publishes
		return d
	}
	logs := api.VolumeSource{PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: "logs"}}
	keptFor := func(namespace, name string) *api.PersistentVolume {
		v := &api.PersistentVolume{}
		v.Spec.ClaimRef = &api.ObjectReference{Namespace: namespace, Name: name}
		return v
	}
	zoned, elsewhere := &api.PersistentVolume{}, &api.PersistentVolume{}
	zoned.Labels = map[string]string{api.LabelTopologyZone: "a"}
	elsewhere.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"}
	csiNode := func(driver string, most int32) *api.CSINode {
		n := &api.CSINode{}
		n.Spec.Drivers = []api.CSINodeDriver{{Name: driver, Allocatable: &api.VolumeNodeResources{Count: &most}}}
		return n
	}
	migrated := &api.CSINode{ObjectMeta: api.ObjectMeta{Annotations: map[string]string{api.AnnMigratedPlugins: "kubernetes.io/aws-ebs"}}}
	capacity := func(size string) *api.CSIStorageCapacity {
		return &api.CSIStorageCapacity{StorageClassName: "late", Capacity: new(resource.MustParse(size))}
	}
	moved := capacity("2Gi")
	moved.NodeTopology = &api.LabelSelector{MatchLabels: map[string]string{"zone": "b"}}
	named := func(p *api.Pod) *api.Pod { p.Spec.NodeName = "n"; return p }
	type plugin = queueing.EnqueueExtensions
	for _, tt := range []struct {
		name          string
		plugin        plugin
		pod           *api.Pod
		resource      queueing.EventResource
		action        queueing.ActionType
		before, after any
		want          bool
	}{
		{"its node comes", filter.NodeName{}, named(pod.Obj()), onNode, added, nil, node("n").Obj(), true},
		{"another node comes", filter.NodeName{}, named(pod.Obj()), onNode, added, nil, node("m").Obj(), false},
		{"a pod leaves", filter.NodeName{}, named(pod.Obj()), onPod, deleted, other.Obj(), nil, false},

		{"an open node comes", filter.NodeUnschedulable{}, pod.Obj(), onNode, added, nil, node("n").Obj(), true},
		{"a cordoned node comes", filter.NodeUnschedulable{}, pod.Obj(), onNode, added, nil, node("n").Unschedulable().Obj(), false},
		{"a node is opened", filter.NodeUnschedulable{}, pod.Obj(), onNode, taint, node("n").Unschedulable().Obj(), node("n").Obj(), true},
		{"a taint of an open node", filter.NodeUnschedulable{}, pod.Obj(), onNode, taint, node("n").Taint("a:NoSchedule").Obj(), node("n").Obj(), false},
		{"new tolerations", filter.NodeUnschedulable{}, pod.Obj(), self, updated, pod.Obj(), pod.Tolerates("x:NoSchedule").Obj(), true},
		{"new labels", filter.NodeUnschedulable{}, pod.Obj(), self, queueing.ActionUpdatePodLabel, pod.Obj(), pod.Labels("a", "b").Obj(), false},

		{"a taint is taken off", filter.TaintToleration{}, pod.Obj(), onNode, taint, node("n").Taint("a:NoSchedule").Obj(), node("n").Obj(), true},
		{"one of two taints", filter.TaintToleration{}, pod.Obj(), onNode, taint, node("n").Taint("a:NoSchedule", "b:NoSchedule").Obj(), node("n").Taint("a:NoSchedule").Obj(), false},
		{"a preference", filter.TaintToleration{}, pod.Obj(), onNode, taint, node("n").Taint("a:PreferNoSchedule").Obj(), node("n").Obj(), false},
		{"a tainted node comes", filter.TaintToleration{}, pod.Obj(), onNode, added, nil, node("n").Taint("a:NoSchedule").Obj(), false},
		{"labels of a node", filter.TaintToleration{}, pod.Obj(), onNode, label, node("n").Obj(), node("n").Labels("a", "b").Obj(), false},

		{"a label that is asked for", filter.NodeAffinity{}, pod.NodeSelector("disk", "ssd").Obj(), onNode, label, node("n").Obj(), node("n").Labels("disk", "ssd").Obj(), true},
		{"another label", filter.NodeAffinity{}, pod.NodeSelector("disk", "ssd").Obj(), onNode, label, node("n").Labels("disk", "ssd").Obj(), node("n").Labels("disk", "ssd", "a", "b").Obj(), false},
		{"a node that is not asked for", filter.NodeAffinity{}, pod.NodeSelector("disk", "ssd").Obj(), onNode, added, nil, node("n").Labels("disk", "hdd").Obj(), false},

		{"a node with free ports", filter.NodePorts{}, pod.HostPort(80).Obj(), onNode, added, nil, node("n").Obj(), true},
		{"a pod gives up the port", filter.NodePorts{}, pod.HostPort(80).Obj(), onPod, deleted, other.HostPort(80).Obj(), nil, true},
		{"a pod gives up another port", filter.NodePorts{}, pod.HostPort(80).Obj(), onPod, deleted, other.HostPort(81).Obj(), nil, false},
		{"a pod is labelled", filter.NodePorts{}, pod.HostPort(80).Obj(), onPod, queueing.ActionUpdatePodLabel, other.HostPort(80).Obj(), other.HostPort(80).Labels("a", "b").Obj(), false},

		{"a pod leaves", filter.NodeResourcesFit{}, pod.Obj(), onPod, deleted, other.Obj(), nil, true},
		{"a pod comes", filter.NodeResourcesFit{}, pod.Obj(), onPod, added, nil, other.Obj(), false},
		{"a pod asks for less", filter.NodeResourcesFit{}, pod.Obj(), onPod, queueing.ActionUpdatePodScaleDown, other.Obj(), other.Requests("500m", "1Gi").Obj(), true},
		{"a pod asks for less of something else", filter.NodeResourcesFit{}, api.MakePod("p").Request(resource.CPU, "1").Obj(), onPod, queueing.ActionUpdatePodScaleDown, other.Obj(), other.Requests("1", "1Mi").Obj(), false},
		{"a large node comes", filter.NodeResourcesFit{}, pod.Obj(), onNode, added, nil, node("n").Obj(), true},
		{"a small node comes", filter.NodeResourcesFit{}, pod.Obj(), onNode, added, nil, api.MakeNode("n", "1", "8Gi").Obj(), false},
		{"a node grows", filter.NodeResourcesFit{}, pod.Obj(), onNode, given, api.MakeNode("n", "1", "8Gi").Obj(), node("n").Obj(), true},
		{"a node grows too little", filter.NodeResourcesFit{}, pod.Obj(), onNode, given, api.MakeNode("n", "1", "8Gi").Obj(), api.MakeNode("n", "1500m", "8Gi").Obj(), false},
		{"a node shrinks", filter.NodeResourcesFit{}, pod.Obj(), onNode, given, node("n").Obj(), api.MakeNode("n", "3", "8Gi").Obj(), false},
		{"a node loses a resource that devices may serve", filter.NodeResourcesFit{}, pod.Request("example.com/gpu", "1").Obj(), onNode, given, node("n").Resource("example.com/gpu", "1").Obj(), node("n").Obj(), true},
		{"a node loses a resource that devices cannot serve", filter.NodeResourcesFit{}, pod.Request("hugepages-2Mi", "2Mi").Obj(), onNode, given, node("n").Resource("hugepages-2Mi", "4Mi").Obj(), node("n").Obj(), false},
		{"a node grows in what nobody wants", filter.NodeResourcesFit{}, pod.Obj(), onNode, given, node("n").Obj(), node("n").Resource("example.com/gpu", "1").Obj(), false},
		{"the pod asks for less", filter.NodeResourcesFit{}, pod.Obj(), self, queueing.ActionUpdatePodScaleDown, pod.Obj(), pod.Requests("1", "1Gi").Obj(), true},
		{"the pod asks for more", filter.NodeResourcesFit{}, pod.Obj(), self, queueing.ActionUpdatePodScaleUp, pod.Obj(), pod.Requests("3", "1Gi").Obj(), false},
		{"taints of a node", filter.NodeResourcesFit{}, pod.Obj(), onNode, taint, node("n").Taint("a:NoSchedule").Obj(), node("n").Obj(), false},

		{"a pod of the domain leaves", filter.PodTopologySpread{}, spread(pod.Labels("app", "web"), nil), onPod, deleted, other.Labels("app", "web").Obj(), nil, true},
		{"a pod comes to the emptiest domain", filter.PodTopologySpread{}, spread(pod.Labels("app", "web"), nil), onPod, added, nil, other.Labels("app", "web").Obj(), true},
		{"an unselected pod leaves", filter.PodTopologySpread{}, spread(pod, nil), onPod, deleted, other.Labels("app", "db").Obj(), nil, false},
		{"a pod of another namespace leaves", filter.PodTopologySpread{}, spread(pod, nil), onPod, deleted, other.Namespace("x").Labels("app", "web").Obj(), nil, false},
		{"a pod comes, and the selector is empty", filter.PodTopologySpread{}, spreadAll, onPod, added, nil, other.Obj(), true},
		{"a pod begins to end", filter.PodTopologySpread{}, spread(pod, nil), onPod, updated, other.Labels("app", "web").Obj(), other.Labels("app", "web").Deleted(frameworktest.Noon()).Obj(), true},
		{"a pod that has begun to end leaves", filter.PodTopologySpread{}, spread(pod, nil), onPod, deleted, other.Labels("app", "web").Deleted(frameworktest.Noon()).Obj(), nil, true},
		{"another one that has begun to end leaves", filter.PodTopologySpread{}, spread(pod, nil), onPod, deleted, other.Labels("app", "other").Deleted(frameworktest.Noon()).Obj(), nil, false},
		{"a pod that has begun to end changes", filter.PodTopologySpread{}, spread(pod, nil), onPod, updated, other.Labels("app", "web").Deleted(frameworktest.Noon()).Obj(), other.Labels("app", "web").Deleted(frameworktest.Noon()).Obj(), false},
		{"a domain comes", filter.PodTopologySpread{}, spread(pod, nil), onNode, added, nil, node("n").Labels("zone", "a").Obj(), true},
		{"a node without a domain comes", filter.PodTopologySpread{}, spread(pod, nil), onNode, added, nil, node("n").Obj(), false},
		{"a node of a domain goes", filter.PodTopologySpread{}, spread(pod, nil), onNode, deleted, node("n").Labels("zone", "a").Obj(), nil, true},
		{"a node changes its domain", filter.PodTopologySpread{}, spread(pod, nil), onNode, label, node("n").Labels("zone", "a").Obj(), node("n").Labels("zone", "b").Obj(), true},
		{"a node is labelled otherwise", filter.PodTopologySpread{}, spread(pod, nil), onNode, label, node("n").Labels("zone", "a").Obj(), node("n").Labels("zone", "a", "x", "y").Obj(), false},
		{"taints, ignored", filter.PodTopologySpread{}, spread(pod, nil), onNode, taint, node("n").Labels("zone", "a").Taint("a:NoSchedule").Obj(), node("n").Labels("zone", "a").Obj(), false},
		{"taints, honoured", filter.PodTopologySpread{}, spread(pod, new(api.NodeInclusionPolicyHonor)), onNode, taint, node("n").Labels("zone", "a").Taint("a:NoSchedule").Obj(), node("n").Labels("zone", "a").Obj(), true},
		{"a service", filter.PodTopologySpread{}, spread(pod, nil), "Service", added, nil, &api.Service{}, false},

		{"a friend comes", filter.InterPodAffinity{}, attracted, onPod, added, nil, other.Labels("app", "web").Obj(), true},
		{"a stranger comes", filter.InterPodAffinity{}, attracted, onPod, added, nil, other.Labels("app", "db").Obj(), false},
		{"a friend of another namespace comes", filter.InterPodAffinity{}, attracted, onPod, added, nil, other.Namespace("x").Labels("app", "web").Obj(), false},
		{"a friend leaves", filter.InterPodAffinity{}, attracted, onPod, deleted, other.Labels("app", "web").Obj(), nil, false},
		{"a foe leaves", filter.InterPodAffinity{}, repelled, onPod, deleted, other.Labels("app", "web").Obj(), nil, true},
		{"a foe comes", filter.InterPodAffinity{}, repelled, onPod, added, nil, other.Labels("app", "web").Obj(), false},
		{"a pod with many terms is relabelled", filter.InterPodAffinity{}, repelled, onPod, queueing.ActionUpdatePodLabel, wary.Obj(), wary.Labels("app", "db").Obj(), true},
		{"a pod with some terms is relabelled", filter.InterPodAffinity{}, repelled, onPod, queueing.ActionUpdatePodLabel, less.Obj(), less.Labels("app", "db").Obj(), false},
		{"a foe is relabelled", filter.InterPodAffinity{}, repelled, onPod, queueing.ActionUpdatePodLabel, other.Labels("app", "web").Obj(), other.Labels("app", "db").Obj(), true},
		{"who wants to be alone leaves", filter.InterPodAffinity{}, pod.Labels("app", "web").Obj(), onPod, deleted, fenced, nil, true},
		{"who wants others to be away leaves", filter.InterPodAffinity{}, pod.Labels("app", "db").Obj(), onPod, deleted, fenced, nil, false},
		{"a node of a domain comes", filter.InterPodAffinity{}, attracted, onNode, added, nil, node("n").Labels("zone", "a").Obj(), true},
		{"a node of no domain comes", filter.InterPodAffinity{}, attracted, onNode, added, nil, node("n").Obj(), false},
		{"allocatable", filter.InterPodAffinity{}, repelled, onNode, given, node("n").Obj(), node("n").Obj(), false},

		{"a node declares", filter.NodeDeclaredFeatures{}, mounting, onNode, queueing.ActionUpdateNodeDeclaredFeature, node("n").Obj(), declaring, true},
		{"a node that declares nothing", filter.NodeDeclaredFeatures{}, mounting, onNode, added, nil, node("n").Obj(), false},

		{"its claim comes", filter.VolumeBinding{}, withVolume(pod, data), onClaim, added, nil, claim("default", "data"), true},
		{"another's claim comes", filter.VolumeBinding{}, withVolume(pod, data), onClaim, added, nil, claim("default", "logs"), false},
		{"a claim of another namespace", filter.VolumeBinding{}, withVolume(pod, data), onClaim, updated, claim("x", "data"), claim("x", "data"), false},
		{"a volume comes", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourcePersistentVolume, added, nil, &api.PersistentVolume{}, true},
		{"a volume goes", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourcePersistentVolume, deleted, &api.PersistentVolume{}, nil, false},
		{"a volume kept for its claim goes", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourcePersistentVolume, deleted, keptFor("default", "data"), nil, true},
		{"a volume kept for another's claim goes", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourcePersistentVolume, deleted, keptFor("x", "data"), nil, false},
		{"drivers come to a node", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSINode, added, nil, &api.CSINode{}, true},
		{"drivers on a node", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSINode, updated, &api.CSINode{}, csiNode("d", 1), false},
		{"drivers go", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSINode, deleted, csiNode("d", 1), nil, false},
		{"a driver takes over a plugin", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSINode, updated, &api.CSINode{}, migrated, true},
		{"a node with migrated plugins goes", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSINode, deleted, migrated, nil, true},
		{"a capacity comes", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSIStorageCapacity, added, nil, capacity("1Gi"), true},
		{"a capacity grows", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSIStorageCapacity, updated, capacity("1Gi"), capacity("2Gi"), true},
		{"a capacity shrinks", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSIStorageCapacity, updated, capacity("2Gi"), capacity("1Gi"), false},
		{"a capacity stays", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSIStorageCapacity, updated, capacity("2Gi"), capacity("2Gi"), false},
		{"a capacity moves", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSIStorageCapacity, updated, capacity("2Gi"), moved, true},
		{"capacities no longer matter", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSIDriver, updated, driver(true), driver(false), true},
		{"capacities matter now", filter.VolumeBinding{}, withVolume(pod, data), queueing.ResourceCSIDriver, updated, driver(false), driver(true), false},
		{"a pod with claims leaves", filter.VolumeBinding{}, withVolume(pod, data), onPod, deleted, withVolume(other, data), nil, true},
		{"a pod without claims leaves", filter.VolumeBinding{}, withVolume(pod, data), onPod, deleted, other.Obj(), nil, false},

		{"a zone changes", filter.VolumeZone{}, withVolume(pod, data), onNode, label, node("n").Zone("a").Obj(), node("n").Zone("b").Obj(), true},
		{"no zone changes", filter.VolumeZone{}, withVolume(pod, data), onNode, label, node("n").Zone("a").Obj(), node("n").Zone("a").Labels("x", "y").Obj(), false},
		{"a volume comes", filter.VolumeZone{}, withVolume(pod, data), queueing.ResourcePersistentVolume, added, nil, &api.PersistentVolume{}, true},
		{"a volume changes its zone", filter.VolumeZone{}, withVolume(pod, data), queueing.ResourcePersistentVolume, updated, &api.PersistentVolume{}, zoned, true},
		{"a volume is bound", filter.VolumeZone{}, withVolume(pod, data), queueing.ResourcePersistentVolume, updated, &api.PersistentVolume{}, keptFor("default", "data"), false},
		{"a pod leaves", filter.VolumeZone{}, withVolume(pod, data), onPod, deleted, withVolume(other, data), nil, false},

		{"a user of the claim leaves", filter.VolumeRestrictions{}, withVolume(pod, data), onPod, deleted, withVolume(other, data), nil, true},
		{"a user of the disk leaves", filter.VolumeRestrictions{}, withVolume(pod, disk), onPod, deleted, withVolume(other, disk), nil, true},
		{"another pod leaves", filter.VolumeRestrictions{}, withVolume(pod, disk), onPod, deleted, withVolume(other, data), nil, false},
		{"a node comes, disk", filter.VolumeRestrictions{}, withVolume(pod, disk), onNode, added, nil, node("n").Obj(), true},
		{"a node comes, claim", filter.VolumeRestrictions{}, withVolume(pod, data), onNode, added, nil, node("n").Obj(), false},
		{"a node goes, claim", filter.VolumeRestrictions{}, withVolume(pod, data), onNode, deleted, node("n").Obj(), nil, true},

		{"a pod with volumes leaves", filter.NodeVolumeLimits{}, withVolume(pod, data), onPod, deleted, withVolume(other, disk), nil, true},
		{"a pod without volumes leaves", filter.NodeVolumeLimits{}, withVolume(pod, data), onPod, deleted, other.Obj(), nil, false},
		{"a pod with its claim comes", filter.NodeVolumeLimits{}, withVolume(pod, data), onPod, added, nil, withVolume(other, data), true},
		{"a pod with another claim comes", filter.NodeVolumeLimits{}, withVolume(pod, data), onPod, added, nil, withVolume(other, logs), false},
		{"a pod with a disk comes", filter.NodeVolumeLimits{}, withVolume(pod, data), onPod, added, nil, withVolume(other, disk), true},
		{"a volume comes", filter.NodeVolumeLimits{}, withVolume(pod, data), queueing.ResourcePersistentVolume, added, nil, &api.PersistentVolume{}, true},
		{"a volume is bound", filter.NodeVolumeLimits{}, withVolume(pod, data), queueing.ResourcePersistentVolume, updated, &api.PersistentVolume{}, keptFor("default", "logs"), false},
		{"a volume is another disk", filter.NodeVolumeLimits{}, withVolume(pod, data), queueing.ResourcePersistentVolume, updated, &api.PersistentVolume{}, elsewhere, true},
		{"drivers on a node", filter.NodeVolumeLimits{}, withVolume(pod, data), queueing.ResourceCSINode, updated, csiNode("d", 1), csiNode("d", 2), true},
		{"drivers stay", filter.NodeVolumeLimits{}, withVolume(pod, data), queueing.ResourceCSINode, updated, csiNode("d", 1), csiNode("d", 1), false},
		{"an attachment comes", filter.NodeVolumeLimits{}, withVolume(pod, data), queueing.ResourceVolumeAttachment, added, nil, &api.VolumeAttachment{}, false},
		{"an attachment goes", filter.NodeVolumeLimits{}, withVolume(pod, data), queueing.ResourceVolumeAttachment, deleted, &api.VolumeAttachment{}, nil, true},
		{"another's claim is the same", filter.NodeVolumeLimits{}, withVolume(pod, data), onClaim, updated, claim("default", "logs"), claim("default", "logs"), false},
		{"another's claim gets its owner", filter.NodeVolumeLimits{}, withVolume(pod, data), onClaim, updated, claim("default", "logs"), ownedClaim("default", "logs"), true},
		{"another's claim goes", filter.NodeVolumeLimits{}, withVolume(pod, data), onClaim, deleted, claim("default", "logs"), nil, true},

		{"its claim for devices comes", filter.DynamicResources{}, withDevices, onDevices, added, nil, devices("gpu", nil), true},
		{"another's claim for devices comes", filter.DynamicResources{}, withDevices, onDevices, added, nil, devices("net", nil), false},
		{"its claim for devices gets some", filter.DynamicResources{}, withDevices, onDevices, updated, devices("gpu", nil), devices("gpu", twoDevices), true},
		{"its claim for devices stays", filter.DynamicResources{}, withDevices, onDevices, updated, devices("gpu", twoDevices), devices("gpu", twoDevices), false},
		{"its claim for devices is made anew", filter.DynamicResources{}, withDevices, onDevices, updated, devices("gpu", nil), another, true},
		{"its claim for devices gets an owner", filter.DynamicResources{}, withDevices, onDevices, updated, devices("gpu", nil), owned, true},
		{"another's claim gives devices back", filter.DynamicResources{}, withDevices, onDevices, updated, devices("net", twoDevices), devices("net", nil), true},
		{"another's claim has others", filter.DynamicResources{}, withDevices, onDevices, updated, devices("net", twoDevices), devices("net", otherDevice), true},
		{"another's claim has the same", filter.DynamicResources{}, withDevices, onDevices, updated, devices("net", twoDevices), devices("net", twoDevices), false},
		{"its claim that had none goes", filter.DynamicResources{}, withDevices, onDevices, deleted, devices("gpu", nil), nil, true},
		{"another's claim that had devices goes", filter.DynamicResources{}, withDevices, onDevices, deleted, devices("net", twoDevices), nil, true},
		{"another's claim that had none goes", filter.DynamicResources{}, withDevices, onDevices, deleted, devices("net", nil), nil, false},

		{"a metric", filter.LoadAware{}, pod.Obj(), "NodeMetric", updated, &api.NodeMetric{}, &api.NodeMetric{}, true},
		{"a pod leaves", filter.LoadAware{}, pod.Obj(), onPod, deleted, other.Obj(), nil, true},
		{"a pod comes", filter.LoadAware{}, pod.Obj(), onPod, added, nil, other.Obj(), false},
		{"taints of a node", filter.LoadAware{}, pod.Obj(), onNode, taint, node("n").Taint("a:NoSchedule").Obj(), node("n").Obj(), false},

		{"a label that must be", filter.NodeLabel{Present: []string{"a"}}, pod.Obj(), onNode, label, node("n").Obj(), node("n").Labels("a", "").Obj(), true},
		{"a label that must not be", filter.NodeLabel{Absent: []string{"a"}}, pod.Obj(), onNode, added, nil, node("n").Labels("a", "").Obj(), false},

		{"a pod with such disks leaves", filter.EBSLimits{}, withVolume(pod, disk), onPod, deleted, withVolume(other, disk), nil, true},
		{"a pod without disks leaves", filter.EBSLimits{}, withVolume(pod, disk), onPod, deleted, other.Obj(), nil, false},
		{"the limit of a node", filter.CinderLimits{}, withVolume(pod, disk), onNode, given, node("n").Obj(), node("n").Obj(), true},
		{"taints of a node", filter.GCEPDLimits{}, withVolume(pod, disk), onNode, taint, node("n").Taint("a:NoSchedule").Obj(), node("n").Obj(), false},
		{"annotations of a node", filter.AzureDiskLimits{}, withVolume(pod, disk), onNode, queueing.ActionUpdateNodeAnnotation, node("n").Obj(), node("n").Obj(), false},
	} {
		t.Run(tt.plugin.Name()+"/"+tt.name, func(t *testing.T) {
			if got := wakes(t, tt.plugin, s, tt.pod, tt.resource, tt.action, tt.before, tt.after); got != tt.want {
				t.Errorf("wakes the pod: %t, want %t", got, tt.want)
			}
		})
	}
}

// TestHintsOfStrangeEvents checks that events without objects, or with objects of
// another type, neither keep a pod waiting nor break anything.
func TestHintsOfStrangeEvents(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	pod := podInfo(t, s, api.MakePod("p").Obj())
	for _, p := range []queueing.EnqueueExtensions{
		filter.NodeName{},
		filter.NodeUnschedulable{},
		filter.TaintToleration{},
		filter.NodeAffinity{},
		filter.NodePorts{},
		filter.NodeResourcesFit{},
		filter.VolumeRestrictions{},
		filter.NodeVolumeLimits{},
		filter.VolumeBinding{},
		filter.VolumeZone{},
		filter.PodTopologySpread{},
		filter.InterPodAffinity{},
		filter.NodeDeclaredFeatures{},
		filter.LoadAware{},
		filter.NodeLabel{},
		filter.EBSLimits{},
		filter.GCEPDLimits{},
		filter.AzureDiskLimits{},
		filter.CinderLimits{},
	} {
		for _, e := range p.EventsToRegister() {
			if e.Hint == nil {
				continue
			}
			if hint, err := e.Hint(pod, nil, nil); hint != queueing.Queue || err != nil {
				t.Errorf("%s, %s without objects: %v, %v, want Queue", p.Name(), e.Event.Resource, hint, err)
			}
			if hint, err := e.Hint(pod, nil, "what"); hint != queueing.Queue || err == nil {
				t.Errorf("%s, %s with a string: %v, %v, want Queue and an error", p.Name(), e.Event.Resource, hint, err)
			}
		}
	}
}

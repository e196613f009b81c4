package shapes

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/resource"
)

// The shape claims: what a StatefulSet with volumeClaimTemplates makes of a cluster whose nodes take a
// bounded number of volumes.

const (
	storageDriver = "csi.example.com"
	storageClass  = "zonal"
	limitOfNode   = 39 // volumes of the driver
	claimsPresent = 2  // pods with claims on each node, from the beginning
)

func claims() Shape {
	return Shape{
		Name: "claims", About: "StatefulSets whose pods have a volume each, of nodes with a limit",
		Pod: func(i, _ int) *api.Pod {
			p := statefulSet().Pod(i, 0)
			return mount(p)
		},
		Cluster: storage,
		Leave: func(i, n int) []int { // the volumes of a node are as scarce as its CPU
			if i < atMost(20_000, n) {
				return nil
			}
			return []int{i - atMost(20_000, n)}
		},
		Come: comeWithClaim,
	}
}

// mount lets a pod mount a claim of its own.
func mount(p *api.Pod) *api.Pod {
	v := api.Volume{Name: "data"}
	v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + p.Name}
	p.Spec.Volumes = []api.Volume{v}
	return p
}

// storage is a cluster of n nodes with some pods that have volumes.
func storage(n int) *api.Objects {
	o := nodes(n)
	class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: storageClass}, Provisioner: storageDriver, VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer)}
	o.StorageClasses = append(o.StorageClasses, class)
	for i, node := range o.Nodes {
		limits := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: node.Name}}
		limits.Spec.Drivers = []api.CSINodeDriver{{Name: storageDriver, NodeID: node.Name, Allocatable: &api.VolumeNodeResources{Count: new(int32(limitOfNode))}}}
		o.CSINodes = append(o.CSINodes, limits)
		for k := range claimsPresent {
			p := mount(workload.InitPod(k*n+i, n))
			claim, volume := bound(claimOf(p), node.Labels[api.LabelTopologyZone])
			o.Pods, o.PersistentVolumeClaims, o.PersistentVolumes = append(o.Pods, p), append(o.PersistentVolumeClaims, claim), append(o.PersistentVolumes, volume)
		}
	}
	return o
}

// claimOf makes the claim that a pod mounts.
func claimOf(p *api.Pod) *api.PersistentVolumeClaim {
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: "data-" + p.Name, Namespace: p.Namespace, UID: api.UID("uid-data-" + p.Name)}}
	c.Spec.StorageClassName = new(storageClass)
	c.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce}
	c.Spec.Resources.Requests = resource.List{resource.Storage: resource.New(10<<30, resource.BinarySI)}
	return c
}

// bound returns a claim as it is once it has a volume in a zone, and the volume.
func bound(of *api.PersistentVolumeClaim, zone string) (*api.PersistentVolumeClaim, *api.PersistentVolume) {
	c := *of
	c.Annotations = map[string]string{api.AnnBindCompleted: "yes"}
	c.Spec.VolumeName = "pv-" + c.Name
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: c.Spec.VolumeName}}
	v.Spec.StorageClassName, v.Spec.AccessModes, v.Spec.Capacity = storageClass, c.Spec.AccessModes, c.Spec.Resources.Requests
	v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: storageDriver, VolumeHandle: "vol-" + c.Name}
	v.Spec.ClaimRef = &api.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID}
	v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
		MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelTopologyZone, Operator: api.NodeSelectorOpIn, Values: []string{zone}}},
	}}}}
	v.Status.Phase = api.VolumeBound
	return &c, v
}

// comeWithClaim lets a pod come with its claim. Once it is placed, its volume is made and bound.
func comeWithClaim(w *World, p *framework.PodInfo) error {
	claim := claimOf(p.Pod)
	if err := framework.Put(w.Snapshot, claim); err != nil {
		return err
	}
	if err := w.Place(p); err != nil {
		return err
	}
	at := w.Node(w.gone + len(w.placed) - 1)
	if at == "" {
		return fmt.Errorf("pod %s fits nowhere", p.Pod.Name)
	}
	claim, volume := bound(claim, w.Snapshot.Node(at).Node.Labels[api.LabelTopologyZone])
	if err := framework.Put(w.Snapshot, volume); err != nil {
		return err
	}
	return framework.Put(w.Snapshot, claim)
}

package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

const driver = "csi.example.com"

// The names of what pods may mount. Few of each make conflicts frequent.
const (
	claimNames  = 6
	volumeNames = 12
)

// mounts gives some pods volumes of kinds that scheduling reads.
func mounts(r *rand.Rand, p *framework.Pod) *framework.Pod {
	if !chance(r, 3) {
		return p
	}
	for i := range 1 + r.IntN(2) {
		v := framework.Volume{Name: fmt.Sprint("v", i)}
		switch r.IntN(10) {
		case 0:
			v.AWSElasticBlockStore = &framework.AWSElasticBlockStoreVolumeSource{VolumeID: pick(r, "vol-1", "vol-2", "vol-3")}
		case 1:
			v.GCEPersistentDisk = &framework.GCEPersistentDiskVolumeSource{PDName: "pd", ReadOnly: chance(r, 2)}
		case 2:
			v.Ephemeral = &framework.EphemeralVolumeSource{}
		case 3:
			v.EmptyDir = &framework.EmptyDirVolumeSource{}
		default:
			v.PersistentVolumeClaim = &framework.PersistentVolumeClaimVolumeSource{ClaimName: claimName(r)}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	return p
}

func claimName(r *rand.Rand) string { return fmt.Sprint("claim-", r.IntN(claimNames)) }

// storage puts the first classes, drivers, volumes and claims.
func (h *history) storage() error {
	classes := []struct {
		name, provisioner string
		mode              framework.VolumeBindingMode
		zones             []string
	}{
		{"local", "kubernetes.io/no-provisioner", framework.VolumeBindingWaitForFirstConsumer, nil},
		{"csi", driver, framework.VolumeBindingWaitForFirstConsumer, nil},
		{"zonal", driver, framework.VolumeBindingWaitForFirstConsumer, []string{"a", "b"}},
		{"now", driver, framework.VolumeBindingImmediate, nil},
		{"ebs", "kubernetes.io/aws-ebs", framework.VolumeBindingWaitForFirstConsumer, nil},
	}
	for _, c := range classes {
		class := &framework.StorageClass{ObjectMeta: framework.ObjectMeta{Name: c.name}, Provisioner: c.provisioner, VolumeBindingMode: &c.mode}
		if c.zones != nil {
			class.AllowedTopologies = []framework.TopologySelectorTerm{{
				MatchLabelExpressions: []framework.TopologySelectorLabelRequirement{{Key: framework.LabelTopologyZone, Values: c.zones}},
			}}
		}
		if err := framework.Put(h.snap, class); err != nil {
			return err
		}
	}
	d := &framework.CSIDriver{ObjectMeta: framework.ObjectMeta{Name: driver}}
	d.Spec.StorageCapacity, d.Spec.PreventPodSchedulingIfMissing = new(chance(h.r, 2)), new(chance(h.r, 3))
	if err := framework.Put(h.snap, d); err != nil {
		return err
	}
	for range 8 * claimNames { // most of each kind are there at first
		err := errors.Join(
			framework.Put(h.snap, claim(h.r)), framework.Put(h.snap, volume(h.r, h.someHost())), framework.Put(h.snap, capacity(h.r)),
			framework.Put(h.snap, csiNode(h.r, h.someHost())),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// changeStorage puts or deletes an object that volumes depend on.
func (h *history) changeStorage() error {
	switch h.r.IntN(16) {
	case 0, 1, 2, 3:
		return framework.Put(h.snap, volume(h.r, h.someHost()))
	case 4:
		framework.Delete[framework.PersistentVolume](h.snap, fmt.Sprint("pv-", h.r.IntN(volumeNames)))
	case 5:
		framework.Delete[framework.PersistentVolumeClaim](h.snap, "default/"+claimName(h.r))
	case 6:
		return framework.Put(h.snap, capacity(h.r))
	case 7, 8:
		return framework.Put(h.snap, attachment(h.r, h.someHost()))
	case 9, 10:
		return framework.Put(h.snap, csiNode(h.r, h.someHost()))
	default:
		return framework.Put(h.snap, claim(h.r))
	}
	return nil
}

// ephemeral puts the claims of the pod's own volumes, as their controller would.
func (h *history) ephemeral(p *framework.Pod) error {
	for _, v := range p.Spec.Volumes {
		if v.Ephemeral == nil || chance(h.r, 4) {
			continue
		}
		c := claim(h.r)
		c.Namespace, c.Name = p.Namespace, p.Name+"-"+v.Name
		c.OwnerReferences = []framework.OwnerReference{{Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
		if err := framework.Put(h.snap, c); err != nil {
			return err
		}
	}
	return nil
}

// someHost returns the name of a node, or of none while there is none.
func (h *history) someHost() string {
	if h.snap.Len() == 0 {
		return "node-0"
	}
	return h.someNode().Name()
}

func volume(r *rand.Rand, host string) *framework.PersistentVolume {
	v := &framework.PersistentVolume{ObjectMeta: framework.ObjectMeta{Name: fmt.Sprint("pv-", r.IntN(volumeNames))}}
	v.Spec.StorageClassName = pick(r, "local", "local", "csi", "zonal")
	v.Spec.Capacity = resource.List{resource.Storage: resource.MustParse(pick(r, "1Gi", "5Gi", "10Gi", "10Gi"))}
	v.Spec.AccessModes = []framework.PersistentVolumeAccessMode{framework.ReadWriteOnce, framework.ReadWriteOncePod}
	v.Status.Phase = pick(r, framework.VolumeAvailable, framework.VolumeAvailable, framework.VolumeReleased)
	v.Spec.CSI = &framework.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: v.Name}
	if chance(r, 4) {
		v.Spec.CSI, v.Spec.AWSElasticBlockStore = nil, &framework.AWSElasticBlockStoreVolumeSource{VolumeID: pick(r, "vol-1", "aws://a/vol-3")}
	}
	if chance(r, 3) {
		v.Labels = map[string]string{pick(r, framework.LabelTopologyZone, framework.LabelFailureDomainZone): pick(r, "a", "b", "a__b")}
	}
	if !chance(r, 4) {
		key, value := framework.LabelTopologyZone, pick(r, "a", "b", "c")
		if chance(r, 2) {
			key, value = framework.LabelHostname, host
		}
		v.Spec.NodeAffinity = &framework.VolumeNodeAffinity{Required: &framework.NodeSelector{NodeSelectorTerms: []framework.NodeSelectorTerm{{
			MatchExpressions: []framework.NodeSelectorRequirement{{Key: key, Operator: framework.NodeSelectorOpIn, Values: []string{value}}},
		}}}}
	}
	return v
}

func claim(r *rand.Rand) *framework.PersistentVolumeClaim {
	c := &framework.PersistentVolumeClaim{ObjectMeta: framework.ObjectMeta{Namespace: pick(r, "default", "default", "team"), Name: claimName(r)}}
	c.Spec.StorageClassName = new(pick(r, "local", "local", "local", "csi", "csi", "csi", "zonal", "zonal", "zonal", "ebs", "ebs", "now"))
	c.Spec.AccessModes = []framework.PersistentVolumeAccessMode{pick(r, framework.ReadWriteOnce, framework.ReadWriteOnce, framework.ReadWriteOnce, framework.ReadWriteOncePod)}
	c.Spec.Resources.Requests = resource.List{resource.Storage: resource.MustParse(pick(r, "1Gi", "4Gi", "8Gi"))}
	if chance(r, 3) {
		c.Spec.VolumeName = fmt.Sprint("pv-", r.IntN(volumeNames))
		c.Annotations = map[string]string{framework.AnnBindCompleted: "yes"}
	}
	return c
}

func capacity(r *rand.Rand) *framework.CSIStorageCapacity {
	c := &framework.CSIStorageCapacity{ObjectMeta: framework.ObjectMeta{Namespace: "kube-system", Name: fmt.Sprint("capacity-", r.IntN(6))}}
	c.StorageClassName = pick(r, "csi", "zonal")
	c.Capacity = new(resource.MustParse(pick(r, "2Gi", "20Gi", "100Gi")))
	c.NodeTopology = &framework.LabelSelector{}
	if !chance(r, 4) {
		c.NodeTopology.MatchLabels = map[string]string{framework.LabelTopologyZone: pick(r, "a", "b", "c")}
	}
	return c
}

func csiNode(r *rand.Rand, host string) *framework.CSINode {
	n := &framework.CSINode{ObjectMeta: framework.ObjectMeta{Name: host}}
	if chance(r, 3) {
		n.Annotations = map[string]string{framework.AnnMigratedPlugins: "kubernetes.io/aws-ebs"}
	}
	for _, name := range []string{driver, "ebs.csi.aws.com"} {
		if chance(r, 4) {
			continue
		}
		d := framework.CSINodeDriver{Name: name, NodeID: host}
		if !chance(r, 4) {
			d.Allocatable = &framework.VolumeNodeResources{Count: new(int32(r.IntN(3)))}
		}
		n.Spec.Drivers = append(n.Spec.Drivers, d)
	}
	return n
}

func attachment(r *rand.Rand, host string) *framework.VolumeAttachment {
	a := &framework.VolumeAttachment{ObjectMeta: framework.ObjectMeta{Name: fmt.Sprint("attachment-", r.IntN(8))}}
	a.Spec.Attacher, a.Spec.NodeName = driver, host
	a.Spec.Source.PersistentVolumeName = new(fmt.Sprint("pv-", r.IntN(volumeNames)))
	return a
}

package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

const driver = "csi.example.com"

// The names of what pods may mount. Few of each make conflicts frequent.
const (
	claimNames  = 6
	volumeNames = 12
)

// mounts gives some pods volumes of kinds that scheduling reads.
func mounts(r *rand.Rand, p *api.Pod) *api.Pod {
	if !chance(r, 3) {
		return p
	}
	for i := range 1 + r.IntN(2) {
		v := api.Volume{Name: fmt.Sprint("v", i)}
		switch r.IntN(10) {
		case 0:
			v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: pick(r, "vol-1", "vol-2", "vol-3")}
		case 1:
			v.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{PDName: "pd", ReadOnly: chance(r, 2)}
		case 2:
			v.Ephemeral = &api.EphemeralVolumeSource{}
		case 3:
			v.EmptyDir = &api.EmptyDirVolumeSource{}
		default:
			v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: claimName(r)}
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
		mode              api.VolumeBindingMode
		zones             []string
	}{
		{"local", "kubernetes.io/no-provisioner", api.VolumeBindingWaitForFirstConsumer, nil},
		{"csi", driver, api.VolumeBindingWaitForFirstConsumer, nil},
		{"zonal", driver, api.VolumeBindingWaitForFirstConsumer, []string{"a", "b"}},
		{"now", driver, api.VolumeBindingImmediate, nil},
		{"ebs", "kubernetes.io/aws-ebs", api.VolumeBindingWaitForFirstConsumer, nil},
	}
	for _, c := range classes {
		class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: c.name}, Provisioner: c.provisioner, VolumeBindingMode: &c.mode}
		if c.zones != nil {
			class.AllowedTopologies = []api.TopologySelectorTerm{{
				MatchLabelExpressions: []api.TopologySelectorLabelRequirement{{Key: api.LabelTopologyZone, Values: c.zones}},
			}}
		}
		if err := framework.Put(h.snap, class); err != nil {
			return err
		}
	}
	d := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: driver}}
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
		framework.Delete[api.PersistentVolume](h.snap, fmt.Sprint("pv-", h.r.IntN(volumeNames)))
	case 5:
		framework.Delete[api.PersistentVolumeClaim](h.snap, "default/"+claimName(h.r))
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
func (h *history) ephemeral(p *api.Pod) error {
	for _, v := range p.Spec.Volumes {
		if v.Ephemeral == nil || chance(h.r, 4) {
			continue
		}
		c := claim(h.r)
		c.Namespace, c.Name = p.Namespace, p.Name+"-"+v.Name
		c.OwnerReferences = []api.OwnerReference{{Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
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

func volume(r *rand.Rand, host string) *api.PersistentVolume {
	v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("pv-", r.IntN(volumeNames))}}
	v.Spec.StorageClassName = pick(r, "local", "local", "csi", "zonal")
	v.Spec.Capacity = resource.List{resource.Storage: resource.MustParse(pick(r, "1Gi", "5Gi", "10Gi", "10Gi"))}
	v.Spec.AccessModes = []api.PersistentVolumeAccessMode{api.ReadWriteOnce, api.ReadWriteOncePod}
	v.Status.Phase = pick(r, api.VolumeAvailable, api.VolumeAvailable, api.VolumeReleased)
	v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: v.Name}
	if chance(r, 4) {
		v.Spec.CSI, v.Spec.AWSElasticBlockStore = nil, &api.AWSElasticBlockStoreVolumeSource{VolumeID: pick(r, "vol-1", "aws://a/vol-3")}
	}
	if chance(r, 3) {
		v.Labels = map[string]string{pick(r, api.LabelTopologyZone, api.LabelFailureDomainZone): pick(r, "a", "b", "a__b")}
	}
	if !chance(r, 4) {
		key, value := api.LabelTopologyZone, pick(r, "a", "b", "c")
		if chance(r, 2) {
			key, value = api.LabelHostname, host
		}
		v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
			MatchExpressions: []api.NodeSelectorRequirement{{Key: key, Operator: api.NodeSelectorOpIn, Values: []string{value}}},
		}}}}
	}
	return v
}

func claim(r *rand.Rand) *api.PersistentVolumeClaim {
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: pick(r, "default", "default", "team"), Name: claimName(r)}}
	c.Spec.StorageClassName = new(pick(r, "local", "local", "local", "csi", "csi", "csi", "zonal", "zonal", "zonal", "ebs", "ebs", "now"))
	c.Spec.AccessModes = []api.PersistentVolumeAccessMode{pick(r, api.ReadWriteOnce, api.ReadWriteOnce, api.ReadWriteOnce, api.ReadWriteOncePod)}
	c.Spec.Resources.Requests = resource.List{resource.Storage: resource.MustParse(pick(r, "1Gi", "4Gi", "8Gi"))}
	if chance(r, 3) {
		c.Spec.VolumeName = fmt.Sprint("pv-", r.IntN(volumeNames))
		c.Annotations = map[string]string{api.AnnBindCompleted: "yes"}
	}
	return c
}

func capacity(r *rand.Rand) *api.CSIStorageCapacity {
	c := &api.CSIStorageCapacity{ObjectMeta: api.ObjectMeta{Namespace: "kube-system", Name: fmt.Sprint("capacity-", r.IntN(6))}}
	c.StorageClassName = pick(r, "csi", "zonal")
	c.Capacity = new(resource.MustParse(pick(r, "2Gi", "20Gi", "100Gi")))
	c.NodeTopology = &api.LabelSelector{}
	if !chance(r, 4) {
		c.NodeTopology.MatchLabels = map[string]string{api.LabelTopologyZone: pick(r, "a", "b", "c")}
	}
	return c
}

func csiNode(r *rand.Rand, host string) *api.CSINode {
	n := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: host}}
	if chance(r, 3) {
		n.Annotations = map[string]string{api.AnnMigratedPlugins: "kubernetes.io/aws-ebs"}
	}
	for _, name := range []string{driver, "ebs.csi.aws.com"} {
		if chance(r, 4) {
			continue
		}
		d := api.CSINodeDriver{Name: name, NodeID: host}
		if !chance(r, 4) {
			d.Allocatable = &api.VolumeNodeResources{Count: new(int32(r.IntN(3)))}
		}
		n.Spec.Drivers = append(n.Spec.Drivers, d)
	}
	return n
}

func attachment(r *rand.Rand, host string) *api.VolumeAttachment {
	a := &api.VolumeAttachment{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("attachment-", r.IntN(8))}}
	a.Spec.Attacher, a.Spec.NodeName = driver, host
	a.Spec.Source.PersistentVolumeName = new(fmt.Sprint("pv-", r.IntN(volumeNames)))
	return a
}

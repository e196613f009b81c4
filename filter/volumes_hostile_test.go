//go:build full

package filter_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// hostile draws objects that no API server would accept: negative sizes, empty
// names, references that form cycles or lead nowhere, nil fields.
type hostile struct{ *rapid.T }

func (h hostile) name() string {
	return rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(h.T, "name")
}

func (h hostile) size() resource.List {
	if rapid.Bool().Draw(h.T, "no size") {
		return nil
	}
	text := rapid.SampledFrom([]string{"0", "-5Gi", "1Gi", "1m", "9223372036854775807", "100E", "-100E"}).Draw(h.T, "size")
	return list("storage", text)
}

func (h hostile) text() *string {
	if rapid.Bool().Draw(h.T, "nil") {
		return nil
	}
	return new(h.name())
}

func (h hostile) labels() map[string]string {
	if rapid.Bool().Draw(h.T, "no labels") {
		return nil
	}
	return map[string]string{
		rapid.SampledFrom([]string{api.LabelTopologyZone, api.LabelFailureDomainZone, api.AnnBindCompleted, api.AnnSelectedNode, "volume.beta.kubernetes.io/storage-class", api.AnnMigratedPlugins, "!"}).Draw(h.T, "label"): rapid.SampledFrom([]string{"", "a", "a__b", "__", "kubernetes.io/gce-pd,,", "x-y-z__u-v-w"}).Draw(h.T, "value"),
	}
}

func (h hostile) meta() api.ObjectMeta {
	name := h.name()
	if name == "" {
		name = "a"
	}
	return api.ObjectMeta{Namespace: "default", Name: name, Labels: h.labels(), Annotations: h.labels()}
}

func (h hostile) selector() *api.LabelSelector {
	return rapid.SampledFrom([]*api.LabelSelector{
		nil,
		{},
		{MatchLabels: map[string]string{"": ""}},
		{MatchExpressions: []api.LabelSelectorRequirement{{Operator: "?"}}},
		{MatchLabels: map[string]string{api.LabelTopologyZone: "a"}},
	}).Draw(h.T, "selector")
}

func (h hostile) volume() *api.PersistentVolume {
	v := &api.PersistentVolume{ObjectMeta: h.meta()}
	v.Namespace = ""
	v.Spec.StorageClassName, v.Spec.Capacity = h.name(), h.size()
	v.Spec.VolumeAttributesClassName = h.text()
	switch rapid.IntRange(0, 6).Draw(h.T, "source") {
	case 0:
		v.Spec.GCEPersistentDisk = &api.GCEPersistentDiskVolumeSource{}
	case 1:
		v.Spec.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: rapid.SampledFrom([]string{"", "aws://", "aws:///vol-"}).Draw(h.T, "id")}
	case 2:
		v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: h.name(), VolumeHandle: h.name()}
	case 3:
		v.Spec.AzureDisk, v.Spec.VsphereVolume = &api.AzureDiskVolumeSource{}, &api.VsphereVirtualDiskVolumeSource{}
	}
	if rapid.Bool().Draw(h.T, "claimRef") {
		v.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: h.name(), UID: api.UID(h.name())}
	}
	v.Spec.NodeAffinity = rapid.SampledFrom([]*api.VolumeNodeAffinity{
		nil,
		{},
		{Required: &api.NodeSelector{}},
		{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{}}}},
		{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{{Operator: "Gt"}}}}}},
		{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelTopologyZone, Operator: "In", Values: []string{"a"}}}}}}},
	}).Draw(h.T, "affinity")
	v.Status.Phase = rapid.SampledFrom([]api.PersistentVolumePhase{"", api.VolumeAvailable, "?"}).Draw(h.T, "phase")
	return v
}

func (h hostile) claim() *api.PersistentVolumeClaim {
	c := &api.PersistentVolumeClaim{ObjectMeta: h.meta()}
	c.Spec.StorageClassName, c.Spec.VolumeName, c.Spec.Selector = h.text(), h.name(), h.selector()
	c.Spec.Resources.Requests, c.Spec.VolumeMode = h.size(), new(api.PersistentVolumeMode(h.name()))
	return c
}

func (h hostile) class() *api.StorageClass {
	c := &api.StorageClass{ObjectMeta: h.meta()}
	c.Namespace = ""
	c.Provisioner = rapid.SampledFrom([]string{"", "a", "kubernetes.io/gce-pd", "kubernetes.io/azure-file"}).Draw(h.T, "provisioner")
	c.VolumeBindingMode = rapid.SampledFrom([]*api.VolumeBindingMode{nil, new(late), new(late), new(api.VolumeBindingMode("?"))}).Draw(h.T, "mode")
	c.AllowedTopologies = rapid.SampledFrom([][]api.TopologySelectorTerm{
		nil, {{}}, {{MatchLabelExpressions: []api.TopologySelectorLabelRequirement{{}}}},
	}).Draw(h.T, "topologies")
	return c
}

func (h hostile) node(name string) *api.CSINode {
	n := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: name, Annotations: h.labels()}}
	for range rapid.IntRange(0, 2).Draw(h.T, "drivers") {
		n.Spec.Drivers = append(n.Spec.Drivers, api.CSINodeDriver{Name: h.name(), Allocatable: rapid.SampledFrom([]*api.VolumeNodeResources{
			nil, {}, {Count: new(int32(-1))}, {Count: new(int32(1))},
		}).Draw(h.T, "limit")})
	}
	return n
}

func (h hostile) pod(name string) *api.Pod {
	p := api.MakePod(name).Obj()
	for i := range rapid.IntRange(0, 3).Draw(h.T, "mounts") {
		v := api.Volume{Name: fmt.Sprint(i)}
		switch rapid.IntRange(0, 6).Draw(h.T, "kind") {
		case 0:
		case 1:
			v.Ephemeral = &api.EphemeralVolumeSource{}
		case 2:
			v.AWSElasticBlockStore = &api.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://x"}
		case 3:
			v.RBD, v.ISCSI, v.PortworxVolume = &api.RBDVolumeSource{}, &api.ISCSIVolumeSource{}, &api.PortworxVolumeSource{}
		default:
			v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: h.name()}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	return p
}

// TestVolumesHostile passes such objects to every plugin: it may reject or fail, but
// must not panic, and it can unreserve what it reserves.
func TestVolumesHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hostile{t}
		there := h.pod("there")
		there.Spec.NodeName = "a"
		s := snapshotOf(t, twoZones(), there)
		for range 3 {
			put(t, s, h.volume(), h.claim(), h.class(), h.node("a"))
		}
		driver := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: "a"}}
		driver.Spec.StorageCapacity = rapid.SampledFrom([]*bool{nil, new(true)}).Draw(t, "capacity counts")
		room := &api.CSIStorageCapacity{ObjectMeta: api.ObjectMeta{Name: "r"}, StorageClassName: h.name(), NodeTopology: h.selector()}
		if size := h.size(); size != nil {
			room.MaximumVolumeSize = new(size[resource.Storage])
		}
		attachment := &api.VolumeAttachment{ObjectMeta: api.ObjectMeta{Name: "x"}}
		attachment.Spec.Attacher, attachment.Spec.NodeName, attachment.Spec.Source.PersistentVolumeName = h.name(), "a", h.text()
		put(t, s, driver, room, attachment)

		pod := podInfo(t, s, h.pod("p"))
		var c framework.Cycle
		for i, p := range volumePlugins {
			c.Reset(pod, s, 0, 0)
			c.Runner().At = i
			verdicts(&c, p)
		}
		c.Reset(pod, s, 0, 0)
		claims, volumes := storageOf(s)
		(filter.VolumeBinding{}).Reserve(&c, s.Node("a"))
		(filter.VolumeBinding{}).Unreserve(&c, s.Node("a"))
		gotClaims, gotVolumes := storageOf(s)
		if fmt.Sprint(claims, volumes) != fmt.Sprint(gotClaims, gotVolumes) {
			t.Errorf("after Unreserve: %v %v, want %v %v", gotClaims, gotVolumes, claims, volumes)
		}
	})
}

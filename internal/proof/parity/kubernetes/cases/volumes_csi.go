package cases

import (
	"fmt"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The CSI drivers: two independent ones; the others took over from in-tree volumes.
var drivers = []string{
	"csi.example.com", "other.example.com", "ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org",
	"pxd.portworx.com", "file.csi.azure.com", "csi.vsphere.vmware.com",
}

// inTree lists the in-tree volume plugins that CSI drivers took over, and one that
// none did.
var inTree = []string{
	"kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk", "kubernetes.io/cinder", "kubernetes.io/portworx-volume",
	"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume", "kubernetes.io/rbd",
}

// zoneLabels lists the labels of nodes that tell drivers their zones.
var zoneLabels = []string{"topology.gke.io/zone", "topology.ebs.csi.aws.com/zone", "topology.cinder.csi.openstack.org/zone"}

// csi makes drivers, and the nodes' data about them.
func (g *generator) csi() {
	c := g.c
	one := false // must be on the node; if several are missing, kube-scheduler names any of them
	for _, name := range drivers {
		if !g.chance(60) {
			continue
		}
		d := &api.CSIDriver{ObjectMeta: api.ObjectMeta{Name: name}}
		if g.sound || g.chance(60) {
			d.Spec.StorageCapacity = new(g.chance(60))
		}
		if g.chance(30) {
			must := g.chance(60) && !one
			d.Spec.PreventPodSchedulingIfMissing = &must
			one = one || must
		}
		if g.chance(20) {
			d.Spec.AttachRequired = new(g.chance(50))
		}
		c.CSIDrivers = append(c.CSIDrivers, d)
	}
	for _, n := range c.Nodes {
		if g.chance(80) {
			c.CSINodes = append(c.CSINodes, g.csiNode(n))
		}
	}
}

// csiNode returns a node's data about drivers.
func (g *generator) csiNode(n *api.Node) *api.CSINode {
	node := &api.CSINode{ObjectMeta: api.ObjectMeta{Name: n.Name}, Spec: api.CSINodeSpec{Drivers: []api.CSINodeDriver{}}}
	for i, name := range drivers {
		share := 60
		if i > 3 {
			share = 30
		}
		if !g.chance(share) {
			continue
		}
		d := api.CSINodeDriver{Name: name, NodeID: n.Name, TopologyKeys: []string{api.LabelTopologyZone}}
		if g.chance(70) {
			d.Allocatable = &api.VolumeNodeResources{}
			if g.chance(85) {
				d.Allocatable.Count = new(int32(pick(g.dice, 0, 1, 1, 2, 3, 10)))
			}
		}
		node.Spec.Drivers = append(node.Spec.Drivers, d)
		if g.chance(3) {
			d.Allocatable = pick(g.dice, nil, &api.VolumeNodeResources{Count: new(int32(5))})
			node.Spec.Drivers = append(node.Spec.Drivers, d) // once more
		}
	}
	if g.chance(50) {
		annotate(&node.ObjectMeta, api.AnnMigratedPlugins, g.migrated())
	}
	return node
}

// migrated lists in-tree plugins, some of them oddly.
func (g *generator) migrated() string {
	list := some(g.dice, 5, inTree...)
	switch g.IntN(12) {
	case 0:
		list = append(list, "")
	case 1:
		list = append(list, " "+pick(g.dice, inTree...)+" ")
	case 2:
		list = append(list, "example.com/unknown", pick(g.dice, inTree...))
	case 3:
		return strings.ToUpper(strings.Join(list, ","))
	case 4:
		return strings.Join(list, ";")
	}
	return strings.Join(list, ",")
}

// capacities publishes free space.
func (g *generator) capacities() {
	number := g.IntN(6)
	if g.sound {
		number = g.between(1, 10)
	}
	for i := range number {
		s := &api.CSIStorageCapacity{
			ObjectMeta:       api.ObjectMeta{Name: fmt.Sprintf("cap%d", i), Namespace: pick(g.dice, "default", "default", "ns-a", "kube-system")},
			StorageClassName: pick(g.dice, append([]string{"missing"}, append(g.classes, g.classes...)...)...),
		}
		if g.chance(90) {
			s.NodeTopology = g.capacityTopology()
		}
		if g.chance(90) {
			s.Capacity = new(g.quantity("0", "1Gi", "10Gi", "100Gi", "1073741823", "1e12", "-1Gi", "1500m"))
		}
		if g.chance(30) {
			s.MaximumVolumeSize = new(g.quantity("0", "1Gi", "5Gi", "50Gi", "-1"))
		}
		g.c.CSIStorageCapacities = append(g.c.CSIStorageCapacities, s)
	}
}

// capacityTopology says where the space is, sometimes in a nonsensical way.
func (g *generator) capacityTopology() *api.LabelSelector {
	zone := api.LabelSelectorRequirement{
		Key: api.LabelTopologyZone, Operator: api.LabelSelectorOpIn, Values: some(g.dice, 3, "z0", "z1", "z2", "z9"),
	}
	kind := g.IntN(10)
	if g.sound && g.chance(50) {
		kind = 9
	}
	switch kind {
	case 0, 1, 2:
		return &api.LabelSelector{}
	case 3:
		zone.Operator = api.LabelSelectorOpNotIn
	case 4:
		zone.Operator, zone.Values = api.LabelSelectorOpDoesNotExist, nil
	case 5:
		zone.Key, zone.Operator, zone.Values = "disk", api.LabelSelectorOpExists, nil
	case 6:
		zone.Operator = "Odd"
	case 7:
		zone.Key = pick(g.dice, "not a key", "")
	default:
		return &api.LabelSelector{MatchLabels: map[string]string{api.LabelTopologyZone: pick(g.dice, "z0", "z1", "z2")}}
	}
	return &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{zone}}
}

func (g *generator) storageClasses() {
	provisioners := append([]string{
		drivers[0], drivers[0], drivers[1], "kubernetes.io/no-provisioner", "kubernetes.io/no-provisioner", "example.com/external", "",
		pick(g.dice, drivers...), pick(g.dice, drivers...),
	}, inTree...)
	for i := range g.between(1, 4) {
		name := fmt.Sprintf("sc%d", i)
		s := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: name}, Provisioner: pick(g.dice, provisioners...)}
		mode := api.VolumeBindingWaitForFirstConsumer
		switch {
		case g.flaw(33):
			mode = api.VolumeBindingImmediate
		case g.flaw(1):
			mode = "Odd"
		}
		if !g.flaw(3) {
			s.VolumeBindingMode = &mode
		}
		if g.sound && g.chance(50) {
			s.Provisioner = pick(g.dice, drivers[:4]...)
		}
		if g.chance(30) {
			for range g.between(1, 2) {
				s.AllowedTopologies = append(s.AllowedTopologies, g.topology())
			}
		}
		if g.chance(15) {
			s.Parameters = map[string]string{pick(g.dice, "zone", "zones", "type", "fstype"): pick(g.dice, "z0", "z0,z1", "ssd")}
		}
		g.c.StorageClasses = append(g.c.StorageClasses, s)
		g.classes = append(g.classes, name)
	}
}

// topology returns where volumes of a class may be.
func (g *generator) topology() api.TopologySelectorTerm {
	var t api.TopologySelectorTerm
	for range pick(g.dice, 0, 1, 1, 1, 1, 1, 2) {
		r := api.TopologySelectorLabelRequirement{Key: api.LabelTopologyZone, Values: some(g.dice, 2, "z0", "z1", "z2")}
		switch g.IntN(10) {
		case 0:
			r.Key, r.Values = api.LabelHostname, []string{g.someName(), g.someName()}
		case 1:
			r.Key, r.Values = api.LabelTopologyRegion, []string{"r0"}
		case 2:
			r.Key = pick(g.dice, "", "not a key", api.LabelFailureDomainZone, zoneLabels[0])
		}
		t.MatchLabelExpressions = append(t.MatchLabelExpressions, r)
	}
	return t
}

// storageList returns a list with that much storage, with none, or without an entry.
// Above 92 quadrillion bytes the original's scores wrap around.
func (g *generator) storageList(texts ...string) resource.List {
	switch g.IntN(40) {
	case 0:
		return nil
	case 1:
		return resource.List{resource.Storage: g.quantity("0", "1500m", "-1Gi", "8Pi")}
	}
	return resource.List{resource.Storage: g.quantity(texts...)}
}

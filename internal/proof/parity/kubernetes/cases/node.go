package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The extended resources. One of them looks like a native Kubernetes resource.
var extended = []resource.Name{"nvidia.com/gpu", "example.com/foo", "example.com/bar", "hugepages-2Mi"}

// node makes node i.
func (g *generator) node(i int) *api.Node {
	name := fmt.Sprintf("n%d", i)
	n := &api.Node{ObjectMeta: api.ObjectMeta{Name: name, UID: api.UID(name), Labels: map[string]string{}}}
	l := n.Labels
	if g.chance(92) {
		l[api.LabelHostname] = name
	}
	if g.chance(85) {
		l[api.LabelTopologyZone] = pick(g.dice, "z0", "z1", "z2")
	}
	if g.chance(85) {
		l[api.LabelTopologyRegion] = pick(g.dice, "r0", "r1")
	}
	g.oddTopology(i, l)
	if g.chance(5) || g.volumes > 50 && g.chance(15) {
		l[api.LabelFailureDomainZone] = pick(g.dice, "z0", "z1", "")
		l[api.LabelFailureDomainRegion] = pick(g.dice, "r0", "r1")
	}
	if g.volumes > 0 && g.chance(50) {
		for _, key := range some(g.dice, 2, zoneLabels...) {
			l[key] = pick(g.dice, "z0", "z1", "z2")
		}
	}
	for _, label := range labelsOfNodes {
		if g.chance(label.percent) {
			l[label.key] = pick(g.dice, label.values...)
		}
	}
	n.Status.Allocatable = resource.List{
		resource.CPU:    g.quantity("1", "2", "3900m", "4", "8", "16", "64"),
		resource.Memory: g.quantity("1Gi", "2Gi", "4Gi", "8Gi", "7680Mi", "8e9", "32Gi", "128Gi"),
		resource.Pods:   g.quantity("2", "5", "10", "110", "110", "250"),
	}
	if g.family.name == "preemption" {
		n.Status.Allocatable[resource.CPU] = g.quantity("1", "2", "4")
		n.Status.Allocatable[resource.Memory] = g.quantity("2Gi", "4Gi", "8Gi")
	}
	if g.chance(g.resources) {
		g.richNode(n.Status.Allocatable)
	}
	n.Status.Capacity = n.Status.Allocatable.Clone()
	if g.chance(g.resources / 30) {
		n.Status.Allocatable = resource.List{} // JSON leaves it out
	}
	if g.chance(2) {
		n.Labels = nil
	}
	if g.chance(g.features) {
		n.Status.DeclaredFeatures = g.declaredFeatures()
	}
	if g.sound && g.volumes > 50 {
		n.Status.Allocatable = resource.List{
			resource.CPU: g.quantity("16", "64"), resource.Memory: g.quantity("32Gi", "128Gi"), resource.Pods: g.quantity("110"),
		}
	}
	if g.chance(g.taints) || g.flaw(5) {
		for range g.between(1, 3) {
			n.Spec.Taints = append(n.Spec.Taints, g.taint())
		}
	}
	n.Spec.Unschedulable = g.flaw(4) || g.taints > 0 && g.chance(8)
	if g.chance(g.images) {
		n.Status.Images = g.imagesOnNode()
	}
	return n
}

// oddTopology removes the node's topology, or gives it the one of another node.
func (g *generator) oddTopology(i int, l map[string]string) {
	switch g.IntN(50) {
	case 0:
		l[api.LabelTopologyZone] = ""
	case 1:
		l[api.LabelTopologyRegion] = ""
	case 2:
		l[api.LabelHostname] = fmt.Sprintf("n%d", g.IntN(i+1))
	case 3:
		l[api.LabelHostname] = ""
	case 4:
		l[api.LabelTopologyZone] = l[api.LabelTopologyRegion]
	}
}

// labelsOfNodes lists the labels that nodes may have besides their topology. The
// order is fixed, so that the random draws are too.
var labelsOfNodes = []struct {
	key     string
	percent int
	values  []string
}{
	{"disk", 70, []string{"ssd", "hdd", "nvme"}},
	{"arch", 40, []string{"amd64", "arm64"}},
	{"rack", 50, []string{"k0", "k1", "k2", "k3"}},
	{"num", 60, []string{"", "0", "1", "10", "100", "-5", "x1", "9223372036854775807", "1.5"}},
}

// richNode adds resources besides CPU and memory, and removes some.
func (g *generator) richNode(l resource.List) {
	if g.chance(60) {
		l[resource.EphemeralStorage] = g.quantity("10Gi", "100Gi", "47093746742")
	}
	for _, name := range extended {
		if g.chance(35) {
			l[name] = g.quantity("0", "1", "4", "8", "128Mi")
		}
	}
	if g.chance(3) {
		delete(l, pick(g.dice, resource.CPU, resource.Memory, resource.Pods))
	}
	if g.chance(3) {
		l[pick(g.dice, resource.CPU, resource.Memory, resource.Pods)] = g.quantity("0")
	}
	if g.chance(6) {
		// Above 92 quadrillion the original's scores wrap around.
		l[resource.CPU] = g.quantity("500u", "1.0005", "100n", "1T", "3333333u")
	}
	if g.chance(6) {
		l[resource.Memory] = g.quantity("1500m", "0.5", "1e-3", "64Pi", "4Gi", "4294967296500m")
	}
	if g.chance(4) {
		l[pick(g.dice, oddNames...)] = g.quantity("1", "2", "4")
	}
}

// oddNames are resource names that some tools confuse.
var oddNames = []resource.Name{
	"odd", "kubernetes.io/odd", "requests.example.com/foo", "attachable-volumes-csi-csi.example.com", "hugepages-", "example.com/", "/foo",
	"storage", "EXAMPLE.com/Foo", "requests.cpu",
}

func (g *generator) quantity(texts ...string) resource.Quantity {
	return resource.MustParse(pick(g.dice, texts...))
}

// taint makes a taint that some pods tolerate.
func (g *generator) taint() api.Taint {
	return api.Taint{
		Key:    pick(g.dice, "dedicated", "dedicated", "gpu", "spot", api.TaintNodeUnschedulable),
		Value:  pick(g.dice, "", "db", "web", "7", "7", "5", "-3"),
		Effect: pick(g.dice, api.TaintEffectNoSchedule, api.TaintEffectPreferNoSchedule, api.TaintEffectPreferNoSchedule, api.TaintEffectNoExecute),
	}
}

// imagesOnNode lists images, some under several names.
func (g *generator) imagesOnNode() []api.ContainerImage {
	var list []api.ContainerImage
	for _, name := range some(g.dice, 6, imageNames...) {
		image := api.ContainerImage{
			Names:     []string{name},
			SizeBytes: pick(g.dice, int64(1), 23<<20, 24<<20, 140<<20, 250<<20, 1000<<20, 1<<32, 90_000_000, 0, 1<<50),
		}
		if g.chance(20) {
			image.Names = append(image.Names, pick(g.dice, imageNames...))
		}
		if g.chance(3) {
			image.Names = nil
		}
		list = append(list, image)
	}
	return list
}

var imageNames = []string{
	"img:latest", "img:v1", "img:v2", "img", "registry:5000/app:latest", "registry:5000/app", "quay.io/db@sha256:0123", "x/y/z:1",
	"img@sha256:4567", "img:v1@sha256:4567", "registry:5000/app@sha256:89ab", "img:", "", "/img", "Img",
}

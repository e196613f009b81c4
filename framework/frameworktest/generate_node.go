package frameworktest

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func (g *generator) node(name string) *api.Node {
	b := api.MakeNode(name, g.one("2", "4", "8", "15500m", "64"), g.one("4Gi", "8Gi", "32Gi", "31127824Ki", "256Gi")).
		Resource(resource.Pods, g.one("4", "8", "30", "110")).
		Taint(g.taints()...)
	for _, device := range g.some(25, devices...) {
		b = b.Resource(resource.Name(device), g.one("0", "1", "8", "100Gi"))
	}
	for _, image := range images {
		if g.chance(35) {
			b = b.Image("1", image.name)
		}
	}
	if g.chance(10) {
		b = b.Unschedulable()
	}
	ready := api.ConditionTrue
	if g.chance(10) {
		ready = api.ConditionFalse
	}
	n := b.Condition(api.NodeReady, ready).Obj()
	n.UID = api.UID("uid-" + name)
	n.CreationTimestamp = Noon().Add(-time.Duration(g.between(1, 200)) * time.Minute)
	for i := range n.Status.Images {
		g.describeImage(&n.Status.Images[i])
	}
	g.labelNode(n)
	if g.hostile {
		g.spoilNode(n)
	}
	return n
}

func (g *generator) taints() []string {
	return g.some(12, "dedicated=db:NoSchedule", "dedicated=web:NoSchedule", "gpu=true:NoExecute", "spot:PreferNoSchedule",
		"slow=yes:PreferNoSchedule", "old:PreferNoSchedule", "level=5:NoSchedule", api.TaintNodeUnschedulable+":NoSchedule")
}

// describeImage gives the image its size, and now and then a second name.
func (g *generator) describeImage(image *api.ContainerImage) {
	for _, known := range images {
		if known.name == image.Names[0] {
			image.SizeBytes = known.size
		}
	}
	if g.chance(30) {
		image.Names = append(image.Names, image.Names[0]+"-alias")
	}
}

func (g *generator) labelNode(n *api.Node) {
	if zone := g.one("a", "a", "b", "c", ""); zone != "" {
		n.Labels[api.LabelTopologyZone] = zone
		n.Labels[api.LabelTopologyRegion] = g.one("r1", "r1", "r2")
	}
	if g.chance(10) {
		n.Labels[api.LabelFailureDomainZone] = g.one("a", "b", "")
	}
	n.Labels["disk"] = g.one("ssd", "hdd")
	n.Labels["cores"] = g.one("4", "8", "16", "64")
	if g.chance(60) {
		n.Labels["rack"] = g.one("r1", "r2", "r3")
	}
	if g.chance(30) {
		n.Labels["tier"] = g.one("front", "back", "")
	}
	if g.chance(30) {
		n.Annotations = map[string]string{"note": g.one("x", "y")}
	}
}

// spoilNode makes the node one that careless code does not expect.
func (g *generator) spoilNode(n *api.Node) {
	if g.chance(20) {
		n.Labels = nil
	}
	if g.chance(20) {
		n.Labels = map[string]string{"": "", "cores": g.one("many", "", "-3", "9223372036854775808"), "disk": "ssd"}
	}
	allocatable := n.Status.Allocatable
	switch g.IntN(6) {
	case 0:
		n.Status.Allocatable = nil
	case 1:
		delete(allocatable, resource.Name(g.one("cpu", "memory", "pods")))
	case 2:
		allocatable[resource.Name(g.one("cpu", "memory", "pods", "example.com/gpu"))] = resource.MustParse("0")
	case 3:
		allocatable["memory"] = resource.MustParse(g.one("9223372036854775807", "9223372036854775806", "1", "12345678901234567"))
		allocatable["cpu"] = resource.MustParse(g.one("9223372036854775", "1n", "0.0015", "1"))
	}
	if g.chance(20) {
		n.Spec.Taints = append(n.Spec.Taints, api.Taint{Key: "", Effect: api.TaintEffect(g.one("", "NoSchedule", "Unheard"))})
	}
	if g.chance(20) {
		n.Status.Images = append(n.Status.Images, api.ContainerImage{}, api.ContainerImage{Names: []string{"", ""}, SizeBytes: 0})
	}
}

package frameworktest

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// pod draws a pod that neither runs nor waits yet.
func (g *generator) pod(name string) *api.Pod {
	b := api.MakePod(name).Namespace(namespaces[g.IntN(len(namespaces))])
	b = g.container(b)
	for i := range g.IntN(3) {
		b = g.container(b.Container(fmt.Sprint("more-", i)))
	}
	if g.chance(25) {
		b = g.container(b.InitContainer("setup"))
	}
	if g.chance(20) {
		b = g.container(b.Sidecar("proxy"))
	}
	if g.chance(15) {
		b = b.Overhead(resource.CPU, "50m").Overhead(resource.Memory, "64Mi")
	}
	if g.chance(10) {
		b = b.PodRequest(resource.Name(g.one("cpu", "memory")), g.one("1", "3"))
	}
	if g.chance(40) {
		b = b.Priority(int32(g.between(-10, 1000)))
	}
	p := g.demands(b).Obj()
	g.describePod(p)
	if g.hostile {
		g.spoilPod(p)
	}
	return p
}

func (g *generator) container(b api.PodBuilder) api.PodBuilder {
	b = b.Image(g.one("web:1", "web:2", "db", "registry.example:5000/ml/train:7", "tiny", "cache@sha256:0a1b", "unknown:3", "web:1-alias"))
	if g.chance(80) {
		b = b.Request(resource.CPU, g.one("0", "50m", "100m", "250m", "1", "2500m", "30"))
	}
	if g.chance(80) {
		b = b.Request(resource.Memory, g.one("0", "64Mi", "200Mi", "1Gi", "3Gi", "100Gi"))
	}
	if g.chance(50) {
		b = b.Limits(g.one("", "1", "4"), g.one("", "1Gi", "8Gi"))
	}
	for _, device := range g.some(8, devices...) {
		b = b.Request(resource.Name(device), g.one("0", "1", "2", "4Mi"))
	}
	if g.chance(15) {
		b = b.Port(api.ContainerPort{
			ContainerPort: 80, HostPort: int32(g.between(0, 3)), HostIP: g.one("", "0.0.0.0", "127.0.0.1", "10.0.0.1"),
			Protocol: api.Protocol(g.one("", "TCP", "UDP")),
		})
	}
	return b
}

// describePod sets what identifies and describes the pod.
func (g *generator) describePod(p *api.Pod) {
	p.Labels = map[string]string{"app": apps[g.IntN(len(apps))], "version": g.one("1", "2")}
	if g.chance(20) {
		p.Labels = nil
	}
	if g.chance(20) {
		p.Annotations = map[string]string{"note": g.one("x", "y")}
	}
	if g.chance(50) {
		p.OwnerReferences = []api.OwnerReference{{
			APIVersion: "apps/v1", Kind: g.one("ReplicaSet", "StatefulSet", "DaemonSet"), Name: g.one("web", "db"),
			UID: api.UID(g.one("1", "2")), Controller: new(true),
		}}
	}
	for i, kind := range g.some(10, "emptyDir", "hostPath", "claim", "image") {
		v := api.Volume{Name: fmt.Sprint("v", i)}
		switch kind {
		case "emptyDir":
			v.EmptyDir = &api.EmptyDirVolumeSource{}
		case "hostPath":
			v.HostPath = &api.HostPathVolumeSource{Path: "/data"}
		case "claim":
			v.PersistentVolumeClaim = &api.PersistentVolumeClaimVolumeSource{ClaimName: g.one("data", "logs")}
		case "image":
			v.Image = &api.ImageVolumeSource{Reference: g.one("db", "tiny")}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
	if g.chance(10) {
		p.Spec.PreemptionPolicy = new(api.PreemptNever)
	}
}

// place makes the pod one that runs on a node.
func (g *generator) place(p *api.Pod, name, node string) {
	p.Name, p.UID = name, api.UID("uid-"+name)
	p.Spec.NodeName = node
	p.Status.Phase = api.PodRunning
	start := Noon().Add(-time.Duration(g.between(1, 100)) * time.Minute)
	p.CreationTimestamp, p.Status.StartTime = start, &start
	if g.chance(5) {
		p.DeletionTimestamp = new(Noon())
	}
	if g.chance(10) { // resized in place
		p.Status.ContainerStatuses = []api.ContainerStatus{{
			Name: "main", AllocatedResources: resource.List{resource.CPU: resource.MustParse("700m"), resource.Memory: resource.MustParse("700Mi")},
		}}
	}
	for i := range p.Spec.Containers { // so that no total passes the largest int64
		tame(p.Spec.Containers[i].Resources.Requests)
	}
}

func tame(l resource.List) {
	for name, q := range l {
		if q.Value() > 1<<50 {
			l[name] = resource.MustParse("1")
		}
	}
}

// wait makes the pod one that is to be placed.
func (g *generator) wait(p *api.Pod, name string, nodes []*api.Node) {
	p.Name, p.UID = name, api.UID("uid-"+name)
	p.Status.Phase = api.PodPending
	p.CreationTimestamp = Noon().Add(-time.Duration(g.between(1, 600)) * time.Second)
	if g.chance(5) {
		p.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "later"}}
	}
	if len(nodes) > 0 && g.chance(10) {
		p.Status.NominatedNodeName = nodes[g.IntN(len(nodes))].Name
	}
}

// spoilPod makes the pod one that careless code does not expect.
func (g *generator) spoilPod(p *api.Pod) {
	c := &p.Spec.Containers[0]
	switch g.IntN(8) {
	case 0:
		p.Spec.Containers = nil
	case 1:
		c.Resources.Requests = resource.List{
			resource.Memory: resource.MustParse(g.one("9223372036854775807", "4611686018427387904", "1m")),
			resource.CPU:    resource.MustParse(g.one("9223372036854775", "1n", "0.0005")),
		}
	case 2:
		c.Resources.Requests = resource.List{"": resource.MustParse("1"), "unknown": resource.MustParse("1"), "example.com/none": resource.MustParse("3")}
	case 3:
		c.Image, c.Name = g.one("", ":", "/", "a:b/c"), ""
	case 4:
		c.Ports = []api.ContainerPort{{HostPort: -1}, {HostPort: 70000, Protocol: "Unheard"}, {HostPort: 1}, {HostPort: 1}}
	case 5:
		p.Spec.Tolerations = append(p.Spec.Tolerations,
			api.Toleration{},
			api.Toleration{Key: "level", Operator: api.TolerationOperator(g.one("Gt", "Lt", "Unheard")), Value: g.one("7", "x", "")})
	case 6:
		g.spoilTerms(p)
	}
}

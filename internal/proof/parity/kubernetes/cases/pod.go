package cases

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// pending makes the pod to place.
func (g *generator) pending(name string) *api.Pod {
	p := g.pod(name)
	switch {
	case g.chance(g.names):
		p.Spec.NodeName = pick(g.dice, g.nodeName(), g.nodeName(), g.nodeName(), "nowhere")
	case g.priorities > 0 && g.chance(12):
		p.Status.NominatedNodeName = pick(g.dice, g.nodeName(), g.nodeName(), g.nodeName(), "nowhere")
	}
	if g.chance(g.resources / 10) {
		g.resized(p) // which counts only for pods on nodes
	}
	if g.priorities > 0 {
		priority := int32(pick(g.dice, 3, 5, 10, 10, 1000))
		p.Spec.Priority = &priority
		if g.chance(6) {
			policy := pick(g.dice, api.PreemptNever, api.PreemptLowerPriority)
			p.Spec.PreemptionPolicy = &policy
		}
	}
	return p
}

// placed makes a pod on some node.
func (g *generator) placed(name string) *api.Pod {
	p := g.pod(name)
	p.Spec.NodeName = g.nodeName()
	if g.priorities > 0 {
		g.sparePorts(p)
	}
	p.Status.Phase = api.PodRunning
	if !g.chance(10) {
		started := noon.Add(-time.Duration(g.IntN(20)) * time.Minute)
		p.Status.StartTime = &started
	}
	if g.chance(6) {
		deleted := noon
		p.DeletionTimestamp = &deleted
		if g.chance(50) {
			p.Status.Conditions = append(p.Status.Conditions, api.PodCondition{
				Type: api.DisruptionTarget, Status: api.ConditionTrue,
				Reason: pick(g.dice, api.PodReasonPreemptionByScheduler, "EvictionByEvictionAPI"),
			})
		}
	}
	if g.chance(g.resources / 6) {
		g.resized(p)
	}
	if g.chance(2) {
		p.Status.Phase = pick(g.dice, api.PodPending, api.PodUnknown, "")
	}
	return p
}

// pod makes a pod according to the family.
func (g *generator) pod(name string) *api.Pod {
	p := &api.Pod{}
	p.Name, p.Namespace = name, pick(g.dice, namespaces...)
	if g.family.interpod == 0 && g.family.spread == 0 {
		p.Namespace = pick(g.dice, "default", "default", "ns-a")
	}
	p.UID = api.UID("u-" + p.Namespace + "-" + name)
	p.Labels = g.podLabels()
	p.Spec.SchedulerName = "default-scheduler"
	for i := range g.between(1, 1+g.IntN(2)) {
		p.Spec.Containers = append(p.Spec.Containers, g.container(fmt.Sprintf("c%d", i)))
	}
	if g.chance(g.resources/3) || g.chance(g.ports/4) || g.chance(g.images/3) {
		g.initContainers(p)
	}
	if g.chance(g.resources / 5) {
		p.Spec.Overhead = g.requests(pick(g.dice, 2, 2, 2, 5))
	}
	if g.chance(g.resources / 8) {
		p.Spec.Resources = &api.ResourceRequirements{Requests: g.podRequests()}
		if g.chance(15) {
			p.Spec.Resources.Limits = g.podRequests()
		}
		if g.chance(10) {
			p.Spec.Resources.Requests = nil
		}
	}
	if g.chance(g.features) {
		g.needFeatures(p)
	}
	if g.priorities > 0 && g.chance(g.priorities) {
		priority := int32(pick(g.dice, -5, 0, 1, 1, 2, 3, 5, 10, 12))
		p.Spec.Priority = &priority
	}
	if g.chance(g.taints) || g.chance(10) {
		p.Spec.Tolerations = g.tolerations()
	}
	if g.chance(g.choice) || g.chance(6) {
		g.chooseNodes(p)
	}
	if g.chance(g.spread) {
		p.Spec.TopologySpreadConstraints = g.constraints()
	}
	if g.spread > 0 && g.chance(25) {
		g.own(p)
	}
	if g.chance(g.interpod) {
		g.chooseNeighbours(p)
	}
	if g.chance(g.volumes) {
		g.mount(p)
	}
	if g.chance(g.images / 4) {
		p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{
			Name: "image", VolumeSource: api.VolumeSource{Image: &api.ImageVolumeSource{Reference: pick(g.dice, imageNames...)}},
		})
	}
	return p
}

func (g *generator) podLabels() map[string]string {
	l := map[string]string{}
	if g.chance(85) {
		l["app"] = pick(g.dice, "web", "db", "cache")
	}
	if g.chance(50) {
		l["tier"] = pick(g.dice, "front", "back")
	}
	if g.chance(25) {
		l["pod-template-hash"] = pick(g.dice, "h1", "h2")
	}
	if g.chance(3) {
		l[pick(g.dice, "app", "tier")] = ""
	}
	return l
}

func (g *generator) container(name string) api.Container {
	c := api.Container{Name: name, Image: "img"}
	if g.images > 0 {
		c.Image = pick(g.dice, imageNames...)
	}
	if g.chance(85) {
		c.Resources.Requests = g.requests(2)
	}
	if g.chance(g.resources / 2) {
		for name, q := range g.requests(5) {
			if c.Resources.Requests == nil {
				c.Resources.Requests = resource.List{}
			}
			c.Resources.Requests[name] = q
		}
	}
	if g.chance(g.ports) {
		c.Ports = g.containerPorts()
	}
	return c
}

// requests draws quantities of the first few resources.
func (g *generator) requests(kinds int) resource.List {
	l := resource.List{}
	if g.chance(80) {
		l[resource.CPU] = g.quantity("0", "1m", "10m", "100m", "100m", "250m", "500m", "1", "1500m", "2", "3", "5", "500u", "0.1")
	}
	if g.chance(80) {
		l[resource.Memory] = g.quantity("0", "1", "64Mi", "128Mi", "200Mi", "500Mi", "1Gi", "1536Mi", "2Gi", "4Gi", "1e9", "500M", "1500m")
	}
	if kinds > 2 && g.chance(25) {
		l[resource.EphemeralStorage] = g.quantity("0", "1Gi", "10Gi", "1e10")
	}
	if kinds > 2 {
		for _, name := range extended {
			if g.chance(15) {
				l[name] = g.quantity("0", "1", "2", "4", "64Mi")
			}
		}
		if g.chance(2) {
			l[pick(g.dice, oddNames...)] = g.quantity("0", "1", "3")
		}
	}
	return l
}

// podRequests returns requests of a pod as a whole.
func (g *generator) podRequests() resource.List {
	l := g.requests(2)
	if g.chance(20) {
		l["hugepages-2Mi"] = g.quantity("0", "64Mi", "4")
	}
	if g.chance(10) {
		l[pick(g.dice, resource.EphemeralStorage, "nvidia.com/gpu")] = g.quantity("1", "2") // not for a pod as a whole
	}
	return l
}

func (g *generator) initContainers(p *api.Pod) {
	for i := range g.between(1, 3) {
		c := g.container(fmt.Sprintf("i%d", i))
		switch {
		case g.chance(40):
			c.RestartPolicy = new(api.ContainerRestartPolicyAlways)
		case g.chance(15):
			c.RestartPolicy = new(pick(g.dice, api.ContainerRestartPolicyNever, api.ContainerRestartPolicyOnFailure, "always"))
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
}

// resized puts a placed pod in the middle of a resize.
func (g *generator) resized(p *api.Pod) {
	if g.chance(50) {
		p.Status.Conditions = append(p.Status.Conditions, api.PodCondition{
			Type: api.PodResizePending, Status: pick(g.dice, api.ConditionTrue, api.ConditionTrue, api.ConditionFalse),
			Reason: pick(g.dice, api.PodReasonInfeasible, api.PodReasonDeferred),
		})
	}
	if g.chance(15) {
		p.Status.Conditions = append(p.Status.Conditions, api.PodCondition{
			Type: api.PodResizeInProgress, Status: api.ConditionTrue,
		})
	}
	if g.chance(15) {
		p.Status.Resize = pick(g.dice, api.PodResizeStatusInProgress, api.PodResizeStatusDeferred, api.PodResizeStatusInfeasible)
	}
	of := func(containers []api.Container) (list []api.ContainerStatus) {
		for _, c := range containers {
			s := api.ContainerStatus{Name: c.Name}
			if g.chance(60) {
				s.AllocatedResources = g.requests(2)
			}
			if g.chance(60) {
				s.Resources = &api.ResourceRequirements{Requests: g.requests(2)}
			}
			list = append(list, s)
		}
		return list
	}
	p.Status.ContainerStatuses = of(p.Spec.Containers)
	p.Status.InitContainerStatuses = of(p.Spec.InitContainers)
	if p.Spec.Resources != nil && g.chance(60) {
		p.Status.AllocatedResources = g.podRequests()
		p.Status.Resources = &api.ResourceRequirements{Requests: g.podRequests()}
	}
}

// sparePorts removes from the pod the host ports that another pod on its node holds.
// If one of the two leaves, kube-scheduler counts the port as free.
func (g *generator) sparePorts(p *api.Pod) {
	held := map[int32]bool{}
	for _, other := range g.c.Pods {
		if other.Spec.NodeName == p.Spec.NodeName {
			for _, list := range [][]api.Container{other.Spec.Containers, other.Spec.InitContainers} {
				for _, c := range list {
					for _, port := range c.Ports {
						held[port.HostPort] = true
					}
				}
			}
		}
	}
	for _, list := range [][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			list[i].Ports = slices.DeleteFunc(list[i].Ports, func(port api.ContainerPort) bool { return held[port.HostPort] })
		}
	}
}

func (g *generator) containerPorts() []api.ContainerPort {
	var list []api.ContainerPort
	for range g.between(1, 2) {
		list = append(list, api.ContainerPort{
			ContainerPort: 80,
			HostPort:      int32(pick(g.dice, 0, 80, 80, 443, 443, 8080, 9090, -80, 70000)),
			Protocol:      pick(g.dice, "", "", api.ProtocolTCP, api.ProtocolUDP, api.ProtocolSCTP, "tcp"),
			HostIP:        pick(g.dice, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::1", "::", "0.0.0.00"),
		})
	}
	return list
}

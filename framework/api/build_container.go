package api

import (
	"slices"

	"github.com/berth-sched/berth/resource"
)

// Container adds a container. Later calls of Image, Requests, Request, Limits,
// Limit, Port and HostPort describe it; without Container they describe "main".
func (b PodBuilder) Container(name string) PodBuilder {
	b.pod.Spec.Containers = append(slices.Clip(b.pod.Spec.Containers), Container{Name: name})
	b.inInit = false
	return b
}

// InitContainer adds an init container; later calls describe it.
func (b PodBuilder) InitContainer(name string) PodBuilder {
	b.pod.Spec.InitContainers = append(slices.Clip(b.pod.Spec.InitContainers), Container{Name: name})
	b.inInit = true
	return b
}

// Sidecar adds an init container that keeps running; later calls describe it.
func (b PodBuilder) Sidecar(name string) PodBuilder {
	b = b.InitContainer(name)
	return b.describe(func(c *Container) { c.RestartPolicy = new(ContainerRestartPolicyAlways) })
}

// describe changes the container added last.
func (b PodBuilder) describe(change func(*Container)) PodBuilder {
	list := &b.pod.Spec.Containers
	if b.inInit {
		list = &b.pod.Spec.InitContainers
	}
	*list = slices.Clone(*list)
	change(&(*list)[len(*list)-1])
	return b
}

// Image sets the image of the container.
func (b PodBuilder) Image(name string) PodBuilder {
	return b.describe(func(c *Container) { c.Image = name })
}

// Requests sets the CPU and memory that the container requests. An empty quantity
// changes nothing.
func (b PodBuilder) Requests(cpu, memory string) PodBuilder {
	return b.Request(resource.CPU, cpu).Request(resource.Memory, memory)
}

// Request sets the amount of a resource that the container requests.
func (b PodBuilder) Request(name resource.Name, quantity string) PodBuilder {
	return b.describe(func(c *Container) { c.Resources.Requests = withQuantity(c.Resources.Requests, name, quantity) })
}

// Limits sets the container's limits of CPU and memory. An empty quantity changes
// nothing.
func (b PodBuilder) Limits(cpu, memory string) PodBuilder {
	return b.Limit(resource.CPU, cpu).Limit(resource.Memory, memory)
}

// Limit sets the container's limit of a resource.
func (b PodBuilder) Limit(name resource.Name, quantity string) PodBuilder {
	return b.describe(func(c *Container) { c.Resources.Limits = withQuantity(c.Resources.Limits, name, quantity) })
}

// Port adds a port to the container.
func (b PodBuilder) Port(port ContainerPort) PodBuilder {
	return b.describe(func(c *Container) { c.Ports = append(slices.Clip(c.Ports), port) })
}

// HostPort adds TCP ports to the container and takes the same ports on the node.
func (b PodBuilder) HostPort(ports ...int32) PodBuilder {
	list := make([]ContainerPort, len(ports))
	for i, n := range ports {
		list[i] = ContainerPort{HostPort: n, ContainerPort: n, Protocol: ProtocolTCP}
	}
	return b.describe(func(c *Container) { c.Ports = append(slices.Clip(c.Ports), list...) })
}

// PodRequest sets the amount of a resource that the pod as a whole requests. It
// replaces the sum of the containers' requests.
func (b PodBuilder) PodRequest(name resource.Name, quantity string) PodBuilder {
	r := ResourceRequirements{}
	if b.pod.Spec.Resources != nil {
		r = *b.pod.Spec.Resources
	}
	r.Requests = withQuantity(r.Requests, name, quantity)
	b.pod.Spec.Resources = &r
	return b
}

// Overhead sets the amount of a resource that running the pod takes in addition to
// its containers.
func (b PodBuilder) Overhead(name resource.Name, quantity string) PodBuilder {
	b.pod.Spec.Overhead = withQuantity(b.pod.Spec.Overhead, name, quantity)
	return b
}

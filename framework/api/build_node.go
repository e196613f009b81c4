package api

import (
	"slices"

	"github.com/berth-sched/berth/resource"
)

// A NodeBuilder makes nodes in short code, for simulations, examples and tests:
//
//	n := api.MakeNode("n1", "4", "32Gi").Zone("a").Taint("gpu:NoSchedule").Obj()
//
// A builder is a value: every method returns a changed copy and leaves its receiver
// unchanged, so one builder can be the pattern of many nodes. Several goroutines
// may use one builder. Methods panic on malformed quantities and taints, because
// these are constants in such code; to read data from elsewhere, use [Decode].
type NodeBuilder struct{ node Node }

// MakeNode returns a builder of a node with this allocatable CPU and memory, and
// capacity for 110 pods. An empty quantity leaves the resource out. The node has
// the label kubernetes.io/hostname, as every node of a cluster has.
func MakeNode(name, cpu, memory string) NodeBuilder {
	b := NodeBuilder{Node{
		TypeMeta:   TypeMeta{Kind: "Node", APIVersion: "v1"},
		ObjectMeta: ObjectMeta{Name: name, Labels: map[string]string{LabelHostname: name}},
	}}
	return b.Resource(resource.CPU, cpu).Resource(resource.Memory, memory).Resource(resource.Pods, "110")
}

// Obj returns a new node. Nodes of one builder share nothing.
func (b NodeBuilder) Obj() *Node { return clone(&b.node) }

// Name sets the name and the label kubernetes.io/hostname.
func (b NodeBuilder) Name(name string) NodeBuilder {
	b.node.Name = name
	return b.Labels(LabelHostname, name)
}

// UID sets the UID.
func (b NodeBuilder) UID(uid UID) NodeBuilder {
	b.node.UID = uid
	return b
}

// Labels adds labels, given as alternating keys and values.
func (b NodeBuilder) Labels(kv ...string) NodeBuilder {
	b.node.Labels = pairs("Labels", b.node.Labels, kv)
	return b
}

// Annotations adds annotations, given as alternating keys and values.
func (b NodeBuilder) Annotations(kv ...string) NodeBuilder {
	b.node.Annotations = pairs("Annotations", b.node.Annotations, kv)
	return b
}

// Zone sets the label topology.kubernetes.io/zone.
func (b NodeBuilder) Zone(zone string) NodeBuilder { return b.Labels(LabelTopologyZone, zone) }

// Region sets the label topology.kubernetes.io/region.
func (b NodeBuilder) Region(region string) NodeBuilder { return b.Labels(LabelTopologyRegion, region) }

// Resource sets the capacity and the allocatable amount of a resource.
func (b NodeBuilder) Resource(name resource.Name, quantity string) NodeBuilder {
	b.node.Status.Capacity = withQuantity(b.node.Status.Capacity, name, quantity)
	return b.Allocatable(name, quantity)
}

// Allocatable sets the allocatable amount of a resource, which may be less than
// the capacity.
func (b NodeBuilder) Allocatable(name resource.Name, quantity string) NodeBuilder {
	b.node.Status.Allocatable = withQuantity(b.node.Status.Allocatable, name, quantity)
	return b
}

// Taint adds taints in the notation of "kubectl taint", such as
// "dedicated=db:NoSchedule" or "gpu:PreferNoSchedule".
func (b NodeBuilder) Taint(taints ...string) NodeBuilder {
	for _, text := range taints {
		t, _ := mustTaint(text)
		b.node.Spec.Taints = append(slices.Clip(b.node.Spec.Taints), t)
	}
	return b
}

// Unschedulable cordons the node.
func (b NodeBuilder) Unschedulable() NodeBuilder {
	b.node.Spec.Unschedulable = true
	return b
}

// Image adds an image of a size, such as "120Mi", under one or more names.
func (b NodeBuilder) Image(size string, names ...string) NodeBuilder {
	image := ContainerImage{Names: slices.Clone(names), SizeBytes: resource.MustParse(size).Value()}
	b.node.Status.Images = append(slices.Clip(b.node.Status.Images), image)
	return b
}

// Condition adds a condition, such as NodeReady.
func (b NodeBuilder) Condition(t NodeConditionType, status ConditionStatus) NodeBuilder {
	b.node.Status.Conditions = append(slices.Clip(b.node.Status.Conditions), NodeCondition{Type: t, Status: status})
	return b
}

package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
)

const reasonFeatures = framework.Text("node(s) didn't match Pod's required features")

// NodeDeclaredFeatures rejects nodes that do not declare a feature that the pod
// needs. A pod needs
//
//	RestartAllContainersOnContainerExits  for a restart rule with the action RestartAllContainers
//	UserNamespacesHostNetworkSupport      for the node's network with users of its own
//	VolumeBindMountOptions                for a mount with options
//
// and most pods need nothing. Rejections are unresolvable.
//
// Source: kube-scheduler 1.37, plugin NodeDeclaredFeatures, and
// k8s.io/component-helpers/nodedeclaredfeatures v0.37.1. As there, a node's list is
// assumed to be sorted: a name that follows a greater one is not found.
//
// Differs: ephemeral containers.
// Original: kube-scheduler counts their mounts with options.
// Here: they are ignored.
// Why: only running pods get them.
type NodeDeclaredFeatures struct{}

// Name returns "NodeDeclaredFeatures".
func (NodeDeclaredFeatures) Name() string { return "NodeDeclaredFeatures" }

// Scope declares that a verdict reads the node, and of the pod what the class key says; for a pod
// that needs no feature it reads nothing.
func (NodeDeclaredFeatures) Scope(pod *framework.PodInfo) framework.Scope {
	if neededFeatures(&pod.Pod.Spec) == 0 {
		return framework.Scope{}
	}
	return framework.Scope{Reads: framework.ReadsNode}
}

// AppendClassKey implements [incremental.ClassKeyer]: the features that the pod needs.
func (NodeDeclaredFeatures) AppendClassKey(b []byte, _ *framework.Snapshot, pod *framework.PodInfo) []byte {
	if f := neededFeatures(&pod.Pod.Spec); f != 0 {
		b = append(b, byte(f))
	}
	return b
}

// ClassKeyVersion implements [incremental.ClassKeyer]: the key reads the pod alone.
func (NodeDeclaredFeatures) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 }

// Concern implements [incremental.Concerned].
func (NodeDeclaredFeatures) Concern() framework.PodParts { return framework.PartFeatures }

// EventsToRegister names the events that may help a rejected pod: a node is added,
// or changed so that it now declares everything the pod needs; the pod's needs
// change.
func (p NodeDeclaredFeatures) EventsToRegister() []queueing.EventHint {
	declared := func(pod *framework.PodInfo, node *api.Node) bool {
		return neededFeatures(&pod.Pod.Spec).declaredBy(node)
	}
	return []queueing.EventHint{onNode(queueing.ActionAdd|queueing.ActionUpdateNodeDeclaredFeature, became(declared)), onSelf(p)}
}

// PreFilter skips pods that need no feature.
func (NodeDeclaredFeatures) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	needed := neededFeatures(&c.Pod.Pod.Spec)
	if needed == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: needed}, framework.Status{}
}

// features is the bound filter: a set of features.
type features uint8

// featureNames holds the names in the order of their bits.
var featureNames = [...]string{
	"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions",
}

const (
	featureRestartAll features = 1 << iota
	featureUserNamespaces
	featureMountOptions
)

func neededFeatures(spec *api.PodSpec) (f features) {
	if spec.HostNetwork && spec.HostUsers != nil && !*spec.HostUsers {
		f |= featureUserNamespaces
	}
	for _, containers := range [...][]api.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			f |= neededByContainer(&containers[i])
		}
	}
	return f
}

func neededByContainer(c *api.Container) (f features) {
	for _, rule := range c.RestartPolicyRules {
		if rule.Action == api.ContainerRestartRuleActionRestartAllContainers {
			f |= featureRestartAll
		}
	}
	for i := range c.VolumeMounts {
		if len(c.VolumeMounts[i].BindMountOptions) > 0 {
			f |= featureMountOptions
		}
	}
	return f
}

// Filter rejects a node that lacks a feature.
func (f features) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if !f.declaredBy(node.Node) {
		return framework.UnresolvableStatus(reasonFeatures)
	}
	return framework.Status{}
}

func (f features) declaredBy(node *api.Node) bool {
	for i, name := range featureNames {
		if f&(1<<i) != 0 && !declares(node.Status.DeclaredFeatures, name) {
			return false
		}
	}
	return true
}

// declares looks for a name in a sorted list.
func declares(sorted []string, name string) bool {
	for _, declared := range sorted {
		if declared >= name {
			return declared == name
		}
	}
	return false
}

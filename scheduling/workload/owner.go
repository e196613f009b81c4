package workload

import (
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// LabelTemplateHash tells the ReplicaSets of a Deployment, and their pods, apart.
const LabelTemplateHash = "pod-template-hash"

// annotationMirror marks the API object of a static pod.
const annotationMirror = "kubernetes.io/config.mirror"

// BelongsToNode reports whether the pod goes with its node: a DaemonSet's pod or a static pod. A
// drain leaves such pods alone, and they do not keep a node in use.
func BelongsToNode(p *api.Pod) bool {
	owner := p.ControllerRef()
	_, mirror := p.Annotations[annotationMirror]
	return mirror || owner != nil && owner.Kind == "DaemonSet"
}

// DeploymentOf names the Deployment of a pod that a ReplicaSet controls, also without the
// ReplicaSet: its name is that of the Deployment, a hyphen, and the value of the pod's label
// [LabelTemplateHash]. It is "" for other pods.
func DeploymentOf(p *api.Pod) string {
	owner := p.ControllerRef()
	if owner == nil || owner.Kind != "ReplicaSet" {
		return ""
	}
	hash := p.Labels[LabelTemplateHash]
	name, ok := strings.CutSuffix(owner.Name, "-"+hash)
	if hash == "" || !ok {
		return ""
	}
	return name
}

// TargetNode names the node that a DaemonSet's pod is for: that which it is on, or the only one that
// its required node affinity names. It is "" if there is none.
//
// Source: Kubernetes 1.37, GetTargetNodeName of the DaemonSet controller.
func TargetNode(p *api.Pod) string {
	a := p.Spec.Affinity
	if p.Spec.NodeName != "" || a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return p.Spec.NodeName
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range term.MatchFields {
			if f.Key == fieldNodeName && f.Operator == api.NodeSelectorOpIn && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}

// fieldNodeName is the only field of a node that match fields may name.
const fieldNodeName = "metadata.name"

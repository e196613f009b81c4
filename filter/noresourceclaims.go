package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// NoResourceClaims rejects pods that name resource claims (spec.resourceClaims). Add it
// to a profile without [DynamicResources] that schedules pods of a real cluster.
// Otherwise such a pod is bound to any node, and its containers cannot start there.
//
// Differs: it has no original.
// Original: kube-scheduler without DynamicResources binds such pods.
// Here: a profile that has this filter rejects them.
// Why: a pod without its devices helps nobody.
// Switch: leave the filter out.
type NoResourceClaims struct{}

// Name returns "NoResourceClaims".
func (NoResourceClaims) Name() string { return "NoResourceClaims" }

// Scope declares that a verdict reads the pod's claims only.
func (NoResourceClaims) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldClaims}
}

// EventsToRegister names the event that may help a rejected pod: the pod itself changes.
func (p NoResourceClaims) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{onSelf(p)}
}

// Filter rejects a pod that names claims.
func (NoResourceClaims) Filter(pod *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	if len(pod.Pod.Spec.ResourceClaims) > 0 {
		return framework.UnresolvableStatus("the pod has resource claims, which this scheduler does not handle")
	}
	return framework.Status{}
}

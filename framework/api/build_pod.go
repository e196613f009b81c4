package api

import (
	"slices"
	"time"
)

// A PodBuilder makes pods in short code, for simulations, examples and tests:
//
//	p := api.MakePod("web").Labels("app", "web").Requests("100m", "500Mi").Obj()
//
// A builder is a value: every method returns a changed copy and leaves its receiver
// unchanged, so one builder can be the pattern of many pods:
//
//	web := api.MakePod("web").Requests("100m", "500Mi")
//	for i := range 1000 {
//		pods = append(pods, web.Name(fmt.Sprintf("web-%d", i)).Obj())
//	}
//
// Several goroutines may use one builder. Methods panic on malformed quantities,
// selectors and taints, because these are constants in such code; to read data from
// elsewhere, use [Decode].
type PodBuilder struct {
	pod    Pod
	inInit bool // methods describe the last init container
}

// MakePod returns a builder of a pod in the namespace "default" with one container.
// The container is named "main" and requests nothing.
func MakePod(name string) PodBuilder {
	return PodBuilder{pod: Pod{
		TypeMeta:   TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: ObjectMeta{Name: name, Namespace: "default"},
		Spec:       PodSpec{Containers: []Container{{Name: "main"}}},
	}}
}

// Obj returns a new pod. Pods of one builder share nothing.
func (b PodBuilder) Obj() *Pod { return clone(&b.pod) }

// Name sets the name.
func (b PodBuilder) Name(name string) PodBuilder {
	b.pod.Name = name
	return b
}

// Namespace sets the namespace.
func (b PodBuilder) Namespace(namespace string) PodBuilder {
	b.pod.Namespace = namespace
	return b
}

// UID sets the UID.
func (b PodBuilder) UID(uid UID) PodBuilder {
	b.pod.UID = uid
	return b
}

// Labels adds labels, given as alternating keys and values.
func (b PodBuilder) Labels(kv ...string) PodBuilder {
	b.pod.Labels = pairs("Labels", b.pod.Labels, kv)
	return b
}

// Annotations adds annotations, given as alternating keys and values.
func (b PodBuilder) Annotations(kv ...string) PodBuilder {
	b.pod.Annotations = pairs("Annotations", b.pod.Annotations, kv)
	return b
}

// Owner makes a workload, such as ReplicaSet web-7d4b9, the pod's controller.
func (b PodBuilder) Owner(kind, name string) PodBuilder {
	ref := OwnerReference{Kind: kind, Name: name, Controller: new(true)}
	if k := kindOf(kind, ""); k != nil {
		ref.APIVersion = k.apiVersion
	}
	b.pod.OwnerReferences = append(slices.Clip(b.pod.OwnerReferences), ref)
	return b
}

// Deleted marks the pod as terminating since t.
func (b PodBuilder) Deleted(t time.Time) PodBuilder {
	b.pod.DeletionTimestamp = &t
	return b
}

// Node sets the node that the pod is on, or must go to.
func (b PodBuilder) Node(name string) PodBuilder {
	b.pod.Spec.NodeName = name
	return b
}

// Scheduler names the scheduler, or profile, of the pod.
func (b PodBuilder) Scheduler(name string) PodBuilder {
	b.pod.Spec.SchedulerName = name
	return b
}

// Priority sets the priority.
func (b PodBuilder) Priority(priority int32) PodBuilder {
	b.pod.Spec.Priority = &priority
	return b
}

// PriorityClass names the class from which [DefaultPod] takes the priority.
func (b PodBuilder) PriorityClass(name string) PodBuilder {
	b.pod.Spec.PriorityClassName = name
	return b
}

// Preemption sets the preemption policy.
func (b PodBuilder) Preemption(policy PreemptionPolicy) PodBuilder {
	b.pod.Spec.PreemptionPolicy = &policy
	return b
}

// Gates adds scheduling gates.
func (b PodBuilder) Gates(names ...string) PodBuilder {
	for _, name := range names {
		b.pod.Spec.SchedulingGates = append(slices.Clip(b.pod.Spec.SchedulingGates), PodSchedulingGate{name})
	}
	return b
}

// Volume adds a volume.
func (b PodBuilder) Volume(v Volume) PodBuilder {
	b.pod.Spec.Volumes = append(slices.Clip(b.pod.Spec.Volumes), *clone(&v))
	return b
}

// Claim adds a volume, named after the claim, that mounts a persistent volume
// claim of the pod's namespace.
func (b PodBuilder) Claim(name string) PodBuilder {
	return b.Volume(Volume{Name: name, VolumeSource: VolumeSource{
		PersistentVolumeClaim: &PersistentVolumeClaimVolumeSource{ClaimName: name},
	}})
}

// Phase sets the phase.
func (b PodBuilder) Phase(phase PodPhase) PodBuilder {
	b.pod.Status.Phase = phase
	return b
}

// Started sets the pod's start time.
func (b PodBuilder) Started(t time.Time) PodBuilder {
	b.pod.Status.StartTime = &t
	return b
}

// Nominated names the node that preemption reserves for the pod.
func (b PodBuilder) Nominated(node string) PodBuilder {
	b.pod.Status.NominatedNodeName = node
	return b
}

// Condition adds a condition with its status and the time of its last transition.
func (b PodBuilder) Condition(kind PodConditionType, status ConditionStatus, since time.Time) PodBuilder {
	c := PodCondition{Type: kind, Status: status, LastTransitionTime: since}
	b.pod.Status.Conditions = append(slices.Clip(b.pod.Status.Conditions), c)
	return b
}

package api

import (
	"errors"
	"strconv"
)

// A CompositePodGroup is a set of PodGroups, and of other CompositePodGroups, that are
// placed together. Its children name it in spec.parentCompositePodGroupName.
type CompositePodGroup struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       CompositePodGroupSpec `json:"spec,omitzero"`
}

// CompositePodGroupSpec says how the children are placed.
type CompositePodGroupSpec struct {
	ParentCompositePodGroupName *string                           `json:"parentCompositePodGroupName,omitempty"`
	WorkloadRef                 *WorkloadReference                `json:"workloadRef,omitempty"` // the scheduler does not read it
	SchedulingPolicy            CompositePodGroupSchedulingPolicy `json:"schedulingPolicy,omitzero"`
	SchedulingConstraints       *PodGroupSchedulingConstraints    `json:"schedulingConstraints,omitempty"`
	DisruptionMode              *DisruptionMode                   `json:"disruptionMode,omitempty"` // nil means single
	PriorityClassName           string                            `json:"priorityClassName,omitempty"`
	Priority                    *int32                            `json:"priority,omitempty"` // nil counts as 0
	PreemptionPolicy            *PreemptionPolicy                 `json:"preemptionPolicy,omitempty"`
}

// CompositePodGroupSchedulingPolicy has exactly one of its fields.
type CompositePodGroupSchedulingPolicy struct {
	Basic *BasicSchedulingPolicy         `json:"basic,omitempty"` // as many children as fit
	Gang  *CompositeGangSchedulingPolicy `json:"gang,omitempty"`  // a minimum, or none
}

// CompositeGangSchedulingPolicy places a minimum of children, or none.
type CompositeGangSchedulingPolicy struct {
	MinGroupCount int32 `json:"minGroupCount"` // at least 1
}

// CompositePodGroupDepth bounds a tree: Kubernetes 1.37 looks at so many generations of
// groups, the PodGroups included.
const CompositePodGroupDepth = 4

// MinGroupCount is how many children must stand: the minimum of a gang, and 1 otherwise.
func (g *CompositePodGroup) MinGroupCount() int {
	if g.Spec.SchedulingPolicy.Gang != nil {
		return int(g.Spec.SchedulingPolicy.Gang.MinGroupCount)
	}
	return 1
}

// TopologyKey is the label of the topology constraint, "" if there is none.
func (g *CompositePodGroup) TopologyKey() string {
	if c := g.Spec.SchedulingConstraints; c != nil && len(c.Topology) > 0 {
		return c.Topology[0].Key
	}
	return ""
}

// Priority is spec.priority, 0 if it is unset. That of the root counts for all pods of a
// tree.
func (g *CompositePodGroup) Priority() int32 {
	if g.Spec.Priority != nil {
		return *g.Spec.Priority
	}
	return 0
}

// DisruptAll reports whether all pods below the group may only be removed together.
func (g *CompositePodGroup) DisruptAll() bool {
	return g.Spec.DisruptionMode != nil && g.Spec.DisruptionMode.All != nil
}

// Validate returns an [*InvalidError] for what the API server of Kubernetes 1.37 refuses
// in the spec, as far as scheduling reads it.
func (g *CompositePodGroup) Validate() error {
	object := "compositepodgroup " + g.Key()
	policy := g.Spec.SchedulingPolicy
	as := PodGroupSchedulingPolicy{Basic: policy.Basic}
	if policy.Gang != nil {
		if n := policy.Gang.MinGroupCount; n < 1 {
			return &InvalidError{Object: object, Field: "spec.schedulingPolicy.gang.minGroupCount", Value: strconv.Itoa(int(n)), Err: errors.New("must be greater than zero")}
		}
		as.Gang = &GangSchedulingPolicy{MinCount: 1}
	}
	return validatePolicy(object, "spec.", groupRules{&as, g.Spec.SchedulingConstraints, g.Spec.DisruptionMode, g.Spec.Priority, 0})
}

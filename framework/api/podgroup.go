package api

import (
	"errors"
	"strconv"
)

// A PodGroup is a set of pods that are placed together. Pods name it in
// spec.schedulingGroup.
//
// The type has the fields of two kinds of that name: scheduling.k8s.io/v1beta1 of
// Kubernetes, and scheduling.sigs.k8s.io/v1alpha1 of the coscheduling plugin, which
// Koordinator reads. The second has MinMember and ScheduleTimeoutSeconds, and no other
// field of the spec.
type PodGroup struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PodGroupSpec   `json:"spec,omitzero"`
	Status     PodGroupStatus `json:"status,omitzero"`
}

// PodGroupSpec says how the pods of a group are placed.
type PodGroupSpec struct {
	ParentCompositePodGroupName *string                        `json:"parentCompositePodGroupName,omitempty"`
	WorkloadRef                 *WorkloadReference             `json:"workloadRef,omitempty"` // the scheduler does not read it
	SchedulingPolicy            PodGroupSchedulingPolicy       `json:"schedulingPolicy,omitzero"`
	SchedulingConstraints       *PodGroupSchedulingConstraints `json:"schedulingConstraints,omitempty"`
	DisruptionMode              *DisruptionMode                `json:"disruptionMode,omitempty"` // nil means single
	PriorityClassName           string                         `json:"priorityClassName,omitempty"`
	Priority                    *int32                         `json:"priority,omitempty"` // nil counts as 0
	PreemptionPolicy            *PreemptionPolicy              `json:"preemptionPolicy,omitempty"`

	MinMember              int32  `json:"minMember,omitempty"`              // scheduling.sigs.k8s.io only
	ScheduleTimeoutSeconds *int32 `json:"scheduleTimeoutSeconds,omitempty"` // scheduling.sigs.k8s.io only
}

// PodGroupSchedulingPolicy has exactly one of its fields.
type PodGroupSchedulingPolicy struct {
	Basic *BasicSchedulingPolicy `json:"basic,omitempty"` // as many pods as fit
	Gang  *GangSchedulingPolicy  `json:"gang,omitempty"`  // a minimum, or none
}

// BasicSchedulingPolicy places as many pods of a group as fit.
type BasicSchedulingPolicy struct{}

// GangSchedulingPolicy places a minimum of pods, or none.
type GangSchedulingPolicy struct {
	MinCount int32 `json:"minCount"` // at least 1
}

// PodGroupSchedulingConstraints restrict where the pods of a group may be.
type PodGroupSchedulingConstraints struct {
	Topology []TopologyConstraint `json:"topology,omitempty"` // at most one
}

// A TopologyConstraint keeps all pods of a group on nodes with one value of a label.
type TopologyConstraint struct {
	Key string `json:"key"`
}

// DisruptionMode says whether pods of a group may be removed one by one. At most one of
// its fields is set; none means single.
type DisruptionMode struct {
	Single *SingleDisruptionMode `json:"single,omitempty"`
	All    *AllDisruptionMode    `json:"all,omitempty"`
}

// SingleDisruptionMode removes pods of a group one by one.
type SingleDisruptionMode struct{}

// AllDisruptionMode removes all pods of a group or none.
type AllDisruptionMode struct{}

// WorkloadReference names the template that a group was made from.
type WorkloadReference struct {
	WorkloadName string `json:"workloadName"`
	TemplateName string `json:"templateName"`
}

// PodGroupStatus is what is known of a group.
type PodGroupStatus struct {
	Conditions []Condition `json:"conditions,omitempty"`
}

// The condition that the scheduler writes, and its reasons.
const (
	PodGroupInitiallyScheduled   = "PodGroupInitiallyScheduled"
	PodGroupReasonScheduled      = "Scheduled"
	PodGroupReasonUnschedulable  = "Unschedulable"
	PodGroupReasonSchedulerError = "SchedulerError"
)

// MinCount is how many pods of the group must stand: the minimum of a gang, minMember
// of a group of the coscheduling plugin, and 1 for other groups.
func (g *PodGroup) MinCount() int {
	switch {
	case g.Spec.SchedulingPolicy.Gang != nil:
		return int(g.Spec.SchedulingPolicy.Gang.MinCount)
	case g.Spec.MinMember > 0:
		return int(g.Spec.MinMember)
	}
	return 1
}

// TopologyKey is the label of the group's topology constraint, "" if there is none.
func (g *PodGroup) TopologyKey() string {
	if c := g.Spec.SchedulingConstraints; c != nil && len(c.Topology) > 0 {
		return c.Topology[0].Key
	}
	return ""
}

// Priority is spec.priority, 0 if it is unset.
func (g *PodGroup) Priority() int32 {
	if g.Spec.Priority != nil {
		return *g.Spec.Priority
	}
	return 0
}

// DisruptAll reports whether the pods of the group may only be removed together.
func (g *PodGroup) DisruptAll() bool {
	return g.Spec.DisruptionMode != nil && g.Spec.DisruptionMode.All != nil
}

// Validate returns an [*InvalidError] for what the API server of Kubernetes 1.37 refuses
// in the spec of a group, as far as scheduling reads it.
func (g *PodGroup) Validate() error {
	return validatePolicy("podgroup "+g.Key(), "spec.", groupRules{
		&g.Spec.SchedulingPolicy, g.Spec.SchedulingConstraints, g.Spec.DisruptionMode, g.Spec.Priority, g.Spec.MinMember,
	})
}

// groupRules is what groups and templates of groups have in common.
type groupRules struct {
	policy      *PodGroupSchedulingPolicy
	constraints *PodGroupSchedulingConstraints
	disruption  *DisruptionMode
	priority    *int32
	minMember   int32
}

const highestUserPriority = 1_000_000_000

func validatePolicy(object, path string, r groupRules) error {
	invalid := func(field, value, text string) error {
		return &InvalidError{Object: object, Field: path + field, Value: value, Err: errors.New(text)}
	}
	p := r.policy
	switch {
	case p.Basic != nil && p.Gang != nil:
		return invalid("schedulingPolicy", "basic, gang", "exactly one of basic and gang must be set")
	case r.minMember < 0:
		return invalid("minMember", strconv.Itoa(int(r.minMember)), "must not be negative")
	case p.Basic == nil && p.Gang == nil && r.minMember == 0:
		return invalid("schedulingPolicy", "", "exactly one of basic and gang must be set")
	case p.Gang != nil && p.Gang.MinCount < 1:
		return invalid("schedulingPolicy.gang.minCount", strconv.Itoa(int(p.Gang.MinCount)), "must be greater than zero")
	case r.constraints != nil && len(r.constraints.Topology) > 1:
		return invalid("schedulingConstraints.topology", strconv.Itoa(len(r.constraints.Topology)), "must have at most 1 item")
	case r.constraints != nil && len(r.constraints.Topology) == 1 && r.constraints.Topology[0].Key == "":
		return invalid("schedulingConstraints.topology[0].key", "", "must not be empty")
	case r.disruption != nil && r.disruption.Single != nil && r.disruption.All != nil:
		return invalid("disruptionMode", "single, all", "at most one of single and all may be set")
	case r.priority != nil && *r.priority > highestUserPriority:
		return invalid("priority", strconv.Itoa(int(*r.priority)), "must be at most 1000000000")
	}
	return nil
}

// A Workload holds templates of groups. The scheduler does not read it; controllers make
// groups from it.
type Workload struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       WorkloadSpec `json:"spec,omitzero"`
}

// WorkloadSpec lists templates.
type WorkloadSpec struct {
	PodGroupTemplates []PodGroupTemplate `json:"podGroupTemplates,omitempty"`
}

// A PodGroupTemplate is what a controller makes groups from.
type PodGroupTemplate struct {
	Name                  string                         `json:"name"`
	SchedulingPolicy      PodGroupSchedulingPolicy       `json:"schedulingPolicy,omitzero"`
	SchedulingConstraints *PodGroupSchedulingConstraints `json:"schedulingConstraints,omitempty"`
	DisruptionMode        *DisruptionMode                `json:"disruptionMode,omitempty"`
	PriorityClassName     string                         `json:"priorityClassName,omitempty"`
	Priority              *int32                         `json:"priority,omitempty"`
	PreemptionPolicy      *PreemptionPolicy              `json:"preemptionPolicy,omitempty"`
}

const templatesMost = 8

// PodGroup makes the group of a template, under a name of the caller's choice. It is an
// [*InvalidError] if the workload has no such template, more than 8 templates, two of
// one name, or one that no group may have.
func (w *Workload) PodGroup(template, name string) (*PodGroup, error) {
	invalid := func(field, value, text string) error {
		return &InvalidError{Object: "workload " + w.Key(), Field: field, Value: value, Err: errors.New(text)}
	}
	if n := len(w.Spec.PodGroupTemplates); n > templatesMost {
		return nil, invalid("spec.podGroupTemplates", strconv.Itoa(n), "must have at most 8 items")
	}
	var found *PodGroupTemplate
	names := map[string]bool{}
	for i := range w.Spec.PodGroupTemplates {
		t := &w.Spec.PodGroupTemplates[i]
		path := "spec.podGroupTemplates[" + strconv.Itoa(i) + "]."
		if names[t.Name] {
			return nil, invalid(path+"name", t.Name, "there is already a template of this name")
		}
		names[t.Name] = true
		rules := groupRules{&t.SchedulingPolicy, t.SchedulingConstraints, t.DisruptionMode, t.Priority, 0}
		if err := validatePolicy("workload "+w.Key(), path, rules); err != nil {
			return nil, err
		}
		if t.Name == template {
			found = t
		}
	}
	if found == nil {
		return nil, invalid("spec.podGroupTemplates", template, "there is no template of this name")
	}
	return &PodGroup{
		TypeMeta:   TypeMeta{Kind: "PodGroup", APIVersion: "scheduling.k8s.io/v1beta1"},
		ObjectMeta: ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec: PodGroupSpec{
			WorkloadRef:           &WorkloadReference{w.Name, template},
			SchedulingPolicy:      found.SchedulingPolicy,
			SchedulingConstraints: found.SchedulingConstraints,
			DisruptionMode:        found.DisruptionMode,
			PriorityClassName:     found.PriorityClassName,
			Priority:              found.Priority,
			PreemptionPolicy:      found.PreemptionPolicy,
		},
	}, nil
}

// PodSchedulingGroup names the group of a pod, in the pod's namespace.
type PodSchedulingGroup struct {
	PodGroupName *string `json:"podGroupName,omitempty"`
}

// SchedulingGroupName is the name of the pod's group, "" if it has none.
func (p *Pod) SchedulingGroupName() string {
	if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return *g.PodGroupName
	}
	return ""
}

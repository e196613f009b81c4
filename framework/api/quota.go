package api

import "github.com/berth-sched/berth/resource"

// ResourceQuota bounds the total requests of the pods of a namespace.
type ResourceQuota struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ResourceQuotaSpec   `json:"spec,omitzero"`
	Status     ResourceQuotaStatus `json:"status,omitzero"`
}

// ResourceQuotaSpec says what a quota bounds. It applies to pods in all of its
// scopes.
type ResourceQuotaSpec struct {
	Hard          resource.List        `json:"hard,omitempty"`
	Scopes        []ResourceQuotaScope `json:"scopes,omitempty"`
	ScopeSelector *ScopeSelector       `json:"scopeSelector,omitempty"`
}

// ResourceQuotaStatus holds the enforced bounds of a quota and the amounts in use.
type ResourceQuotaStatus struct {
	Hard resource.List `json:"hard,omitempty"`
	Used resource.List `json:"used,omitempty"`
}

// ResourceQuotaScope is a property of pods.
type ResourceQuotaScope string

// The scopes of quotas.
const (
	ResourceQuotaScopeTerminating               ResourceQuotaScope = "Terminating"
	ResourceQuotaScopeNotTerminating            ResourceQuotaScope = "NotTerminating"
	ResourceQuotaScopeBestEffort                ResourceQuotaScope = "BestEffort"
	ResourceQuotaScopeNotBestEffort             ResourceQuotaScope = "NotBestEffort"
	ResourceQuotaScopePriorityClass             ResourceQuotaScope = "PriorityClass"
	ResourceQuotaScopeCrossNamespacePodAffinity ResourceQuotaScope = "CrossNamespacePodAffinity"
)

// ScopeSelector selects pods that meet all its requirements.
type ScopeSelector struct {
	MatchExpressions []ScopedResourceSelectorRequirement `json:"matchExpressions,omitempty"`
}

// ScopedResourceSelectorRequirement compares a property of pods with values.
type ScopedResourceSelectorRequirement struct {
	ScopeName ResourceQuotaScope    `json:"scopeName"`
	Operator  ScopeSelectorOperator `json:"operator"`
	Values    []string              `json:"values,omitempty"`
}

// ScopeSelectorOperator is how a ScopedResourceSelectorRequirement compares.
type ScopeSelectorOperator string

// The operators of a scope selector.
const (
	ScopeSelectorOpIn           ScopeSelectorOperator = "In"
	ScopeSelectorOpNotIn        ScopeSelectorOperator = "NotIn"
	ScopeSelectorOpExists       ScopeSelectorOperator = "Exists"
	ScopeSelectorOpDoesNotExist ScopeSelectorOperator = "DoesNotExist"
)

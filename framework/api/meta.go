package api

import (
	"cmp"
	"time"
)

// UID identifies one incarnation of an object: a pod deleted and created again
// under the same name has another UID.
type UID string

// TypeMeta holds the kind and API version of an object. Decode fills it in for
// items of typed lists that omit it.
type TypeMeta struct {
	Kind       string `json:"kind,omitempty"`       // such as "Pod"
	APIVersion string `json:"apiVersion,omitempty"` // group and version, such as "v1" or "apps/v1"
}

// ObjectMeta is the metadata of every object.
type ObjectMeta struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"` // empty for cluster-scoped kinds
	UID               UID               `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	Generation        int64             `json:"generation,omitempty"`
	CreationTimestamp time.Time         `json:"creationTimestamp,omitzero"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp,omitempty"` // set once the object is terminating
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	OwnerReferences   []OwnerReference  `json:"ownerReferences,omitempty"`
}

// Key returns "namespace/name", or only the name if the namespace is empty, as for
// cluster-scoped objects. Decode and MakePod put namespaced objects without a
// namespace into "default". So a namespaced object has the short key only if a
// literal leaves Namespace empty, and this key differs from "default/name".
func (m *ObjectMeta) Key() string {
	if m.Namespace == "" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}

// ControllerRef returns the first owner reference whose Controller is true, or nil
// if there is none.
func (m *ObjectMeta) ControllerRef() *OwnerReference {
	for i := range m.OwnerReferences {
		if o := &m.OwnerReferences[i]; o.Controller != nil && *o.Controller {
			return o
		}
	}
	return nil
}

// CompareResourceVersions orders two versions of one object: -1 if a is older than b, 0
// if they are equal, 1 if a is newer. ok is false if one of them is not a number as API
// servers write it, for example because an object made by hand has none.
//
// Source: k8s.io/apimachinery v0.37, util/resourceversion.
func CompareResourceVersions(a, b string) (order int, ok bool) {
	if !isVersion(a) || !isVersion(b) {
		return 0, false
	}
	if order = cmp.Compare(len(a), len(b)); order == 0 {
		order = cmp.Compare(a, b)
	}
	return order, true
}

// isVersion reports whether s is a positive decimal number without leading zeros.
func isVersion(s string) bool {
	if s == "" || s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// OwnerReference names an object that owns another.
type OwnerReference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                UID    `json:"uid"`
	Controller         *bool  `json:"controller,omitempty"` // true for the managing controller
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

// ObjectReference points to another object, as the claimRef of a volume does.
type ObjectReference struct {
	Kind            string `json:"kind,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             UID    `json:"uid,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	FieldPath       string `json:"fieldPath,omitempty"`
}

// ConditionStatus is the state of a condition.
type ConditionStatus string

// The states of a condition.
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)

// Condition is the general form of a status condition, for kinds without a
// condition type of their own (PodGroup and Karmada's Cluster).
type Condition struct {
	Type               string          `json:"type"`
	Status             ConditionStatus `json:"status"`
	ObservedGeneration int64           `json:"observedGeneration,omitempty"`
	LastTransitionTime time.Time       `json:"lastTransitionTime,omitzero"`
	Reason             string          `json:"reason,omitempty"`
	Message            string          `json:"message,omitempty"`
}

// Namespace groups the names of a cluster. Scheduling reads its labels for the
// namespace selectors of affinity terms.
type Namespace struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Status     NamespaceStatus `json:"status,omitzero"`
}

// NamespaceStatus says whether a namespace is active or terminating.
type NamespaceStatus struct {
	Phase NamespacePhase `json:"phase,omitempty"`
}

// NamespacePhase is the state of a namespace.
type NamespacePhase string

// The phases of a namespace.
const (
	NamespaceActive      NamespacePhase = "Active"
	NamespaceTerminating NamespacePhase = "Terminating"
)

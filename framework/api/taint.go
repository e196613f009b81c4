package api

import "time"

// Taint keeps pods off a node unless they tolerate it.
type Taint struct {
	Key       string      `json:"key"`
	Value     string      `json:"value,omitempty"`
	Effect    TaintEffect `json:"effect"`
	TimeAdded *time.Time  `json:"timeAdded,omitempty"`
}

// TaintEffect is the effect of a taint on pods that do not tolerate it.
type TaintEffect string

// The taint effects.
const (
	TaintEffectNoSchedule       TaintEffect = "NoSchedule"       // not scheduled here
	TaintEffectPreferNoSchedule TaintEffect = "PreferNoSchedule" // not scheduled here if another node fits
	TaintEffectNoExecute        TaintEffect = "NoExecute"        // not scheduled here, and evicted if running here
)

// TaintNodeUnschedulable is the key of the taint that a pod must tolerate
// (effect NoSchedule) to be placed on an unschedulable node.
const TaintNodeUnschedulable = "node.kubernetes.io/unschedulable"

// Toleration allows a pod on nodes with matching taints.
type Toleration struct {
	Key               string             `json:"key,omitempty"`      // empty matches every key
	Operator          TolerationOperator `json:"operator,omitempty"` // empty means Equal
	Value             string             `json:"value,omitempty"`
	Effect            TaintEffect        `json:"effect,omitempty"` // empty matches every effect
	TolerationSeconds *int64             `json:"tolerationSeconds,omitempty"`
}

// TolerationOperator is how a toleration compares values.
type TolerationOperator string

// The toleration operators. Lt and Gt are alpha in Kubernetes 1.37 and off by
// default.
const (
	TolerationOpExists TolerationOperator = "Exists"
	TolerationOpEqual  TolerationOperator = "Equal"
	TolerationOpLt     TolerationOperator = "Lt"
	TolerationOpGt     TolerationOperator = "Gt"
)

package multicluster

import "github.com/berth-sched/berth/framework/api"

// A Placement says on which clusters a workload may run, and how its replicas are
// divided among them. Its JSON form is the one of Karmada's policies
// (policy.karmada.io/v1alpha1, spec.placement); fields that scheduling does not read
// are ignored. The zero value allows every cluster and duplicates.
type Placement struct {
	// ClusterAffinity limits the clusters; nil allows all.
	ClusterAffinity *ClusterAffinity `json:"clusterAffinity,omitempty"`
	// ClusterAffinities are tried in order until one leads to a result. They exclude
	// ClusterAffinity. (Karmada never goes back to terms before the one that led to
	// the last result. To do the same, leave them out.)
	ClusterAffinities []ClusterAffinityTerm `json:"clusterAffinities,omitempty"`
	// ClusterTolerations lists the taints of clusters to tolerate.
	ClusterTolerations []api.Toleration `json:"clusterTolerations,omitempty"`
	// WorkloadAffinity relates the workload to others; see [AffinityToWorkloads].
	WorkloadAffinity *WorkloadAffinity `json:"workloadAffinity,omitempty"`
	// SpreadConstraints bound the number of clusters, regions, zones and providers
	// that are selected; see [SpreadRule].
	SpreadConstraints []SpreadConstraint `json:"spreadConstraints,omitempty"`
	// ReplicaScheduling says how replicas are divided; nil means Duplicated.
	ReplicaScheduling *ReplicaScheduling `json:"replicaScheduling,omitempty"`
}

// A ClusterAffinity selects clusters. A cluster must not be excluded, and must meet
// all other conditions that are set.
type ClusterAffinity struct {
	LabelSelector *api.LabelSelector `json:"labelSelector,omitempty"`
	FieldSelector *FieldSelector     `json:"fieldSelector,omitempty"`
	// ClusterNames lists the clusters; empty means all.
	ClusterNames []string `json:"clusterNames,omitempty"`
	// ExcludeClusters lists clusters that are never selected.
	ExcludeClusters []string `json:"exclude,omitempty"`
}

// A FieldSelector selects clusters by their fields "provider", "region" and "zone".
// The operators are In, NotIn, Exists and DoesNotExist. For zones, NotIn selects a
// cluster if none of its zones is among the values; for In see [ZoneRule].
type FieldSelector struct {
	MatchExpressions []api.NodeSelectorRequirement `json:"matchExpressions,omitempty"`
}

// A ClusterAffinityTerm is one of several affinities to try.
type ClusterAffinityTerm struct {
	AffinityName string `json:"affinityName"`
	ClusterAffinity
	// OverflowAffinities select more clusters, tier by tier, for replicas that the
	// clusters of the affinity itself cannot take. A cluster belongs to the first
	// tier that selects it. They take effect with DynamicWeight and Aggregated, for
	// workloads with pods. Other workloads stay with the affinity itself.
	//
	// Source: Karmada 1.18.
	OverflowAffinities []OverflowClusterAffinity `json:"overflowAffinities,omitempty"`
}

// An OverflowClusterAffinity is an overflow tier.
type OverflowClusterAffinity struct {
	AffinityName string `json:"affinityName"`
	ClusterAffinity
}

// A WorkloadAffinity relates workloads of one namespace to each other by the value
// of a label.
type WorkloadAffinity struct {
	// Affinity keeps workloads of a group on the same clusters, and AntiAffinity on
	// different ones.
	Affinity     *WorkloadAffinityTerm `json:"affinity,omitempty"`
	AntiAffinity *WorkloadAffinityTerm `json:"antiAffinity,omitempty"`
}

// A WorkloadAffinityTerm groups workloads by the value of one of their labels.
// Workloads without the label belong to no group.
type WorkloadAffinityTerm struct {
	GroupByLabelKey string `json:"groupByLabelKey"`
}

// A SpreadField is a property that groups clusters.
type SpreadField string

// The spread fields.
const (
	SpreadByCluster  SpreadField = "cluster"
	SpreadByRegion   SpreadField = "region"
	SpreadByZone     SpreadField = "zone"
	SpreadByProvider SpreadField = "provider"
)

// A SpreadConstraint bounds the number of groups that are selected. Division may
// leave a selected cluster without replicas, so fewer groups than MinGroups may end
// up with replicas.
type SpreadConstraint struct {
	SpreadByField SpreadField `json:"spreadByField,omitempty"` // empty means cluster
	// SpreadByLabel must be empty; otherwise the placement is invalid. Karmada's API
	// has the field, but neither its scheduler nor this one can spread by it.
	SpreadByLabel string `json:"spreadByLabel,omitempty"`
	// MaxGroups is the largest number of groups; 0 means any number (but see
	// [AsKarmada]).
	MaxGroups int `json:"maxGroups,omitempty"`
	// MinGroups is the smallest number of groups.
	//
	// Differs: a minimum of 0, when groups are scored.
	// Original: Karmada divides by it.
	// Here: it counts as 1.
	// Why: a group's share of the replicas must be a number.
	MinGroups int `json:"minGroups,omitempty"`
}

// A ReplicaSchedulingType says whether replicas are divided.
type ReplicaSchedulingType string

// The replica scheduling types. Empty means TypeDivided.
const (
	TypeDuplicated ReplicaSchedulingType = "Duplicated"
	TypeDivided    ReplicaSchedulingType = "Divided"
)

// A DivisionPreference says how to divide divided replicas.
type DivisionPreference string

// The division preferences.
const (
	PreferAggregated DivisionPreference = "Aggregated"
	PreferWeighted   DivisionPreference = "Weighted"
)

// DynamicByAvailable is the only dynamic weight: how many replicas a cluster can
// take.
const DynamicByAvailable = "AvailableReplicas"

// A ReplicaScheduling says how replicas are divided among clusters.
type ReplicaScheduling struct {
	ReplicaSchedulingType     ReplicaSchedulingType `json:"replicaSchedulingType,omitempty"`
	ReplicaDivisionPreference DivisionPreference    `json:"replicaDivisionPreference,omitempty"`
	// WeightPreference holds the weights of PreferWeighted; nil means that all
	// clusters weigh the same.
	WeightPreference *WeightPreference `json:"weightPreference,omitempty"`
}

// A WeightPreference states weights. If DynamicWeight is set, the static weights are
// ignored.
type WeightPreference struct {
	StaticWeightList []StaticClusterWeight `json:"staticWeightList,omitempty"`
	DynamicWeight    string                `json:"dynamicWeight,omitempty"`
}

// A StaticClusterWeight is the weight of the clusters that it selects. If several
// select a cluster, the greatest weight counts.
type StaticClusterWeight struct {
	TargetCluster ClusterAffinity `json:"targetCluster"`
	Weight        int64           `json:"weight"`
}

// Strategy returns the strategy that the placement asks for. An unknown type or
// preference is a [*api.InvalidError].
func (p *Placement) Strategy() (Strategy, error) {
	r := p.ReplicaScheduling
	if r == nil {
		return Duplicated, nil
	}
	const field = "spec.placement.replicaScheduling"
	switch r.ReplicaSchedulingType {
	case TypeDuplicated:
		return Duplicated, nil
	case TypeDivided, "":
	default:
		return 0, &api.InvalidError{Field: field + ".replicaSchedulingType", Value: string(r.ReplicaSchedulingType), Err: errUnknown}
	}
	switch r.ReplicaDivisionPreference {
	case PreferAggregated:
		return Aggregated, nil
	case PreferWeighted:
		if r.WeightPreference != nil && r.WeightPreference.DynamicWeight != "" {
			return DynamicWeight, nil
		}
		return StaticWeight, nil
	}
	return 0, &api.InvalidError{Field: field + ".replicaDivisionPreference", Value: string(r.ReplicaDivisionPreference), Err: errUnknown}
}

package multicluster

import "github.com/berth-sched/berth/framework/api"

// A Placement says on which clusters a workload may run and how its replicas
// are divided among them. Its JSON form is that of Karmada's policies
// (policy.karmada.io/v1alpha1, spec.placement); fields that scheduling does not
// read are ignored. The zero value allows every cluster and duplicates.
type Placement struct {
	// ClusterAffinity limits the clusters; nil allows all.
	ClusterAffinity *ClusterAffinity `json:"clusterAffinity,omitempty"`
	// ClusterAffinities are tried in order until one leads to a result. They
	// exclude ClusterAffinity. (Karmada does not go back to those before the one
	// that led to the last result; leave them out to do the same.)
	ClusterAffinities []ClusterAffinityTerm `json:"clusterAffinities,omitempty"`
	// ClusterTolerations are the taints of clusters that do not matter.
	ClusterTolerations []api.Toleration `json:"clusterTolerations,omitempty"`
	// WorkloadAffinity relates the workload to others; see
	// [AffinityToWorkloads].
	WorkloadAffinity *WorkloadAffinity `json:"workloadAffinity,omitempty"`
	// SpreadConstraints bound the number of clusters, regions, zones and
	// providers; see [SpreadRule].
	SpreadConstraints []SpreadConstraint `json:"spreadConstraints,omitempty"`
	// ReplicaScheduling says how replicas are divided; nil means Duplicated.
	ReplicaScheduling *ReplicaScheduling `json:"replicaScheduling,omitempty"`
}

// A ClusterAffinity selects clusters. A cluster must not be excluded, and must
// meet everything else that is stated.
type ClusterAffinity struct {
	LabelSelector *api.LabelSelector `json:"labelSelector,omitempty"`
	FieldSelector *FieldSelector     `json:"fieldSelector,omitempty"`
	// ClusterNames lists the clusters; empty means all.
	ClusterNames []string `json:"clusterNames,omitempty"`
	// ExcludeClusters lists clusters that are never selected.
	ExcludeClusters []string `json:"exclude,omitempty"`
}

// A FieldSelector selects clusters by their fields "provider", "region" and
// "zone". In, NotIn, Exists and DoesNotExist are the operators. For zones, NotIn
// wants none of the cluster's zones among the values; for In see [ZoneRule].
type FieldSelector struct {
	MatchExpressions []api.NodeSelectorRequirement `json:"matchExpressions,omitempty"`
}

// A ClusterAffinityTerm is one of several affinities to try.
type ClusterAffinityTerm struct {
	AffinityName string `json:"affinityName"`
	ClusterAffinity
	// OverflowAffinities select more clusters, tier by tier, for replicas that
	// those of the affinity itself cannot take. A cluster belongs to the first
	// tier that selects it. They are for DynamicWeight and Aggregated, and for
	// workloads with pods; others stay with the affinity itself.
	//
	// Source: Karmada 1.18.
	OverflowAffinities []OverflowClusterAffinity `json:"overflowAffinities,omitempty"`
}

// An OverflowClusterAffinity is an overflow tier.
type OverflowClusterAffinity struct {
	AffinityName string `json:"affinityName"`
	ClusterAffinity
}

// A WorkloadAffinity relates workloads of one namespace to each other by the
// value of a label.
type WorkloadAffinity struct {
	// Affinity keeps workloads of a group on the same clusters, and AntiAffinity
	// on different ones.
	Affinity     *WorkloadAffinityTerm `json:"affinity,omitempty"`
	AntiAffinity *WorkloadAffinityTerm `json:"antiAffinity,omitempty"`
}

// A WorkloadAffinityTerm groups workloads by the value of one of their labels.
// Those without the label belong to no group.
type WorkloadAffinityTerm struct {
	GroupByLabelKey string `json:"groupByLabelKey"`
}

// A SpreadField is a property by which clusters are grouped.
type SpreadField string

// The spread fields.
const (
	SpreadByCluster  SpreadField = "cluster"
	SpreadByRegion   SpreadField = "region"
	SpreadByZone     SpreadField = "zone"
	SpreadByProvider SpreadField = "provider"
)

// A SpreadConstraint bounds the number of groups that are selected.
type SpreadConstraint struct {
	SpreadByField SpreadField `json:"spreadByField,omitempty"` // empty means cluster
	// SpreadByLabel is here to be refused: Karmada's API has it, and neither its
	// scheduler nor this one can spread by it.
	SpreadByLabel string `json:"spreadByLabel,omitempty"`
	// MaxGroups is the largest number of groups; 0 means any number (but see
	// [AsKarmada]).
	MaxGroups int `json:"maxGroups,omitempty"`
	// MinGroups is the smallest number of groups.
	MinGroups int `json:"minGroups,omitempty"`
}

// A ReplicaSchedulingType says whether replicas are divided.
type ReplicaSchedulingType string

// The replica scheduling types. Empty means TypeDivided.
const (
	TypeDuplicated ReplicaSchedulingType = "Duplicated"
	TypeDivided    ReplicaSchedulingType = "Divided"
)

// A DivisionPreference says how divided replicas are divided.
type DivisionPreference string

// The division preferences.
const (
	PreferAggregated DivisionPreference = "Aggregated"
	PreferWeighted   DivisionPreference = "Weighted"
)

// DynamicByAvailable is the only dynamic weight: how many replicas a cluster
// can take.
const DynamicByAvailable = "AvailableReplicas"

// A ReplicaScheduling says how replicas are divided among clusters.
type ReplicaScheduling struct {
	ReplicaSchedulingType     ReplicaSchedulingType `json:"replicaSchedulingType,omitempty"`
	ReplicaDivisionPreference DivisionPreference    `json:"replicaDivisionPreference,omitempty"`
	// WeightPreference holds the weights of PreferWeighted; nil means that all
	// clusters weigh the same.
	WeightPreference *WeightPreference `json:"weightPreference,omitempty"`
}

// A WeightPreference states weights. A dynamic weight, if there is one, counts
// alone.
type WeightPreference struct {
	StaticWeightList []StaticClusterWeight `json:"staticWeightList,omitempty"`
	DynamicWeight    string                `json:"dynamicWeight,omitempty"`
}

// A StaticClusterWeight is the weight of the clusters that it selects; of
// several that select a cluster, the greatest counts.
type StaticClusterWeight struct {
	TargetCluster ClusterAffinity `json:"targetCluster"`
	Weight        int64           `json:"weight"`
}

// Strategy returns the strategy that the placement asks for. A type or
// preference that does not exist is a [*api.InvalidError].
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

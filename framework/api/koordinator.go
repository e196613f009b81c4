package api

import "time"

// NodeMetric is Koordinator's report of the measured use of a node and its pods
// (slo.koordinator.sh/v1alpha1). It has the name of its node.
type NodeMetric struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       NodeMetricSpec   `json:"spec,omitzero"`
	Status     NodeMetricStatus `json:"status,omitzero"`
}

// NodeMetricSpec says how to measure a node.
type NodeMetricSpec struct {
	CollectPolicy *NodeMetricCollectPolicy `json:"metricCollectPolicy,omitempty"`
}

// NodeMetricCollectPolicy sets the intervals of measurement. Nil fields leave
// the choice to the reader.
type NodeMetricCollectPolicy struct {
	AggregateDurationSeconds *int64                   `json:"aggregateDurationSeconds,omitempty"`
	ReportIntervalSeconds    *int64                   `json:"reportIntervalSeconds,omitempty"`
	NodeAggregatePolicy      *AggregatePolicy         `json:"nodeAggregatePolicy,omitempty"`
	NodeMemoryCollectPolicy  *NodeMemoryCollectPolicy `json:"nodeMemoryCollectPolicy,omitempty"`
}

// NodeMemoryCollectPolicy says which memory counts as used.
type NodeMemoryCollectPolicy string

// The memory policies.
const (
	UsageWithoutPageCache NodeMemoryCollectPolicy = "usageWithoutPageCache"
	UsageWithHotPageCache NodeMemoryCollectPolicy = "usageWithHotPageCache"
	UsageWithPageCache    NodeMemoryCollectPolicy = "usageWithPageCache"
)

// AggregatePolicy lists the periods over which percentiles are reported.
type AggregatePolicy struct {
	Durations []Duration `json:"durations,omitempty"`
}

// NodeMetricStatus is the report itself.
type NodeMetricStatus struct {
	UpdateTime *time.Time       `json:"updateTime,omitempty"` // nil: never reported
	NodeMetric *NodeMetricInfo  `json:"nodeMetric,omitempty"`
	PodsMetric []*PodMetricInfo `json:"podsMetric,omitempty"`

	HostApplicationMetric []*HostApplicationMetricInfo `json:"hostApplicationMetric,omitempty"`
	ProdReclaimableMetric *ReclaimableMetric           `json:"prodReclaimableMetric,omitempty"`
}

// NodeMetricInfo is the use of a node.
type NodeMetricInfo struct {
	NodeUsage              ResourceMap       `json:"nodeUsage,omitzero"` // the average of the last interval
	AggregatedNodeUsages   []AggregatedUsage `json:"aggregatedNodeUsages,omitempty"`
	SystemUsage            ResourceMap       `json:"systemUsage,omitzero"` // use outside pods
	AggregatedSystemUsages []AggregatedUsage `json:"aggregatedSystemUsages,omitempty"`
}

// AggregatedUsage is the use of a node over a period, for each statistic.
type AggregatedUsage struct {
	Usage    map[AggregationType]ResourceMap `json:"usage,omitempty"`
	Duration Duration                        `json:"duration"`
}

// AggregationType is a statistic over a period.
type AggregationType string

// The statistics that Koordinator reports.
const (
	AVG AggregationType = "avg"
	P99 AggregationType = "p99"
	P95 AggregationType = "p95"
	P90 AggregationType = "p90"
	P50 AggregationType = "p50"
)

// PodMetricInfo is the use of one pod.
type PodMetricInfo struct {
	Name      string      `json:"name,omitempty"`
	Namespace string      `json:"namespace,omitempty"`
	PodUsage  ResourceMap `json:"podUsage,omitzero"`
	Priority  string      `json:"priority,omitempty"` // Koordinator's priority class, such as "koord-prod"
	QoS       string      `json:"qos,omitempty"`
}

// HostApplicationMetricInfo is the use of a program that runs on the node outside
// any pod.
type HostApplicationMetricInfo struct {
	Name     string      `json:"name,omitempty"`
	Usage    ResourceMap `json:"usage,omitzero"`
	Priority string      `json:"priority,omitempty"` // as in PodMetricInfo
	QoS      string      `json:"qos,omitempty"`
}

// ReclaimableMetric is the part of the requests of koord-prod pods that, by
// prediction, they will not use.
type ReclaimableMetric struct {
	Resource ResourceMap `json:"resource,omitzero"`
}

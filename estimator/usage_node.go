package estimator

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// AnnotationUsageThresholds, on a node, sets thresholds for it, as JSON:
//
//	{"usageThresholds": {"cpu": 70}, "prodUsageThresholds": {"cpu": 50},
//	 "aggregatedUsage": {"usageThresholds": {"cpu": 60}, "usageAggregationType": "p95", "usageAggregatedDuration": "5m"}}
//
// A part that is not empty replaces the configured part as a whole. Malformed text
// is ignored.
const AnnotationUsageThresholds = "scheduling.koordinator.sh/usage-thresholds"

// A NodeLoad is the data that a [Load] derives from a node object alone.
type NodeLoad struct {
	// Resources are the resources of the Load. Before 1.8, resources that only the
	// node's annotation names follow them.
	Resources []resource.Name
	// Allocatable is the capacity of the node, in the order of Resources; nil if
	// the estimator failed.
	Allocatable []int64
	// Err is the error of the estimator, or nil.
	Err error
	// Prod are the thresholds for the use of prod pods. They apply to prod pods if
	// ForProd is set. Whole are the thresholds for the use of the node, for all
	// other pods.
	Whole, Prod Thresholds
	ForProd     bool

	statistic statistic // for the use that Whole limits
}

// Thresholds are the limits of a node for one purpose.
type Thresholds struct {
	// Set reports that some threshold is not 0.
	Set bool
	// Limits holds the effective thresholds, by name.
	Limits []Limit
}

// A Limit is the threshold for one resource of a node.
type Limit struct {
	// Resource is the index of the resource in NodeLoad.Resources.
	Resource int
	// Percent is the threshold, as a percentage of Allocatable.
	Percent, Allocatable int64
	// Exceeded is the filter's answer if the threshold is exceeded.
	Exceeded framework.Status
}

// Node returns the data that the Load derives from the node. It is computed once
// per version of the node object.
func (l *Load) Node(n *framework.NodeInfo) *NodeLoad { return l.ready().nodes.Of(n) }

func (l *Load) deriveNode(n *api.Node) *NodeLoad {
	d := &NodeLoad{Resources: l.names}
	whole, prod, aggregated := l.whole, l.prod, l.aggregated
	if aggregated != nil {
		d.statistic = statistic{l.config.Aggregated.Type, l.config.Aggregated.Duration}
	}
	if own := ownThresholds(n); own != nil {
		if len(own.Usage) > 0 {
			whole = own.Usage
		}
		if len(own.Prod) > 0 {
			prod = own.Prod
		}
		if a := own.Aggregated; a != nil && len(a.Usage) > 0 && a.Type != "" {
			aggregated, d.statistic = a.Usage, statistic{kind: a.Type}
			if a.Duration != nil {
				d.statistic.duration = a.Duration.Duration
			}
		}
		if !l.traits.vectors {
			d.Resources = withExtra(l.names, whole, prod, aggregated)
		}
	}

	allocatable, err := asked(l.config.Estimator, "EstimateNode", func() (resource.List, error) { return l.config.Estimator.EstimateNode(n) })
	if d.Err = err; err == nil {
		d.Allocatable = make([]int64, len(d.Resources))
		for i, name := range d.Resources {
			d.Allocatable[i] = l.config.Arithmetic.amount(name, allocatable[name])
		}
	}
	text := "node(s) %s usage exceed threshold"
	d.Prod = l.limits(d, prod, allocatable, text)
	d.ForProd = d.Prod.Set || !l.traits.vectors && len(prod) > 0
	if aggregated != nil {
		whole, text = aggregated, "node(s) %s aggregated usage exceed threshold"
	}
	d.Whole = l.limits(d, whole, allocatable, text)
	return d
}

// limits returns the thresholds by name, for resources that the node has.
func (l *Load) limits(d *NodeLoad, thresholds map[resource.Name]int64, allocatable resource.List, text string) Thresholds {
	var t Thresholds
	for i, name := range d.Resources {
		percent := thresholds[name]
		if percent == 0 {
			continue
		}
		t.Set = true
		total := l.measured(name, allocatable[name])
		if total == 0 {
			continue
		}
		reason := framework.Text(fmt.Sprintf(text, name))
		t.Limits = append(t.Limits, Limit{Resource: i, Percent: percent, Allocatable: total, Exceeded: framework.UnschedulableStatus(reason)})
	}
	slices.SortFunc(t.Limits, func(a, b Limit) int {
		return strings.Compare(string(d.Resources[a.Resource]), string(d.Resources[b.Resource]))
	})
	return t
}

// measured returns a quantity in the filter's unit of comparison.
func (l *Load) measured(name resource.Name, q resource.Quantity) int64 {
	if l.traits.metricsOnly {
		return l.config.Arithmetic.milli(q)
	}
	return l.config.Arithmetic.amount(name, q)
}

// withExtra returns the names, followed by other names in the thresholds.
func withExtra(names []resource.Name, thresholds ...map[resource.Name]int64) []resource.Name {
	all := slices.Clip(names)
	for _, m := range thresholds {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// nodeThresholds is the JSON of AnnotationUsageThresholds.
type nodeThresholds struct {
	Usage      map[resource.Name]int64 `json:"usageThresholds"`
	Prod       map[resource.Name]int64 `json:"prodUsageThresholds"`
	Aggregated *struct {
		Usage    map[resource.Name]int64 `json:"usageThresholds"`
		Type     api.AggregationType     `json:"usageAggregationType"`
		Duration *api.Duration           `json:"usageAggregatedDuration"`
	} `json:"aggregatedUsage"`
}

func ownThresholds(n *api.Node) *nodeThresholds {
	text, ok := n.Annotations[AnnotationUsageThresholds]
	if !ok {
		return nil
	}
	t := new(nodeThresholds)
	if json.Unmarshal([]byte(text), t) != nil {
		return nil
	}
	return t
}

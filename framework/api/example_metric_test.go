package api_test

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// usage returns this much CPU and memory.
func usage(cpu, memory string) api.ResourceMap {
	return api.ResourceMapOf(resource.List{
		resource.CPU: resource.MustParse(cpu), resource.Memory: resource.MustParse(memory),
	})
}

// A report as Koordinator's agent writes it: the node, its pods, programs outside
// pods, and resources that can be lent to other pods.
func ExampleNodeMetricStatus() {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status := api.NodeMetricStatus{
		UpdateTime: &at,
		NodeMetric: &api.NodeMetricInfo{
			NodeUsage:   usage("1500m", "6Gi"),
			SystemUsage: usage("200m", "1Gi"),
			AggregatedNodeUsages: []api.AggregatedUsage{{
				Duration: api.Duration{Duration: 5 * time.Minute},
				Usage:    map[api.AggregationType]api.ResourceMap{api.P95: usage("2", "6Gi")},
			}},
		},
		PodsMetric:            []*api.PodMetricInfo{{Namespace: "shop", Name: "web", Priority: "koord-prod", PodUsage: usage("1", "4Gi")}},
		HostApplicationMetric: []*api.HostApplicationMetricInfo{{Name: "backup", Usage: usage("300m", "1Gi")}},
		ProdReclaimableMetric: &api.ReclaimableMetric{Resource: usage("500m", "2Gi")},
	}
	p95 := status.NodeMetric.AggregatedNodeUsages[0]
	fmt.Println("now:", status.NodeMetric.NodeUsage.Quantity(resource.CPU))
	fmt.Println("p95 of", p95.Duration.Duration, "is", p95.Usage[api.P95].Quantity(resource.CPU))
	fmt.Println(status.PodsMetric[0].Name, "uses", status.PodsMetric[0].PodUsage.Quantity(resource.CPU))
	// Output:
	// now: 1500m
	// p95 of 5m0s is 2
	// web uses 1
}

// How to measure a node; from the interval, readers can see when a report is old.
func ExampleNodeMetricCollectPolicy() {
	withCache := api.UsageWithPageCache
	m := api.NodeMetric{
		ObjectMeta: api.ObjectMeta{Name: "n1"},
		Spec: api.NodeMetricSpec{CollectPolicy: &api.NodeMetricCollectPolicy{
			ReportIntervalSeconds:   new(int64(60)),
			NodeAggregatePolicy:     &api.AggregatePolicy{Durations: []api.Duration{{Duration: 5 * time.Minute}}},
			NodeMemoryCollectPolicy: &withCache,
		}},
	}
	printJSON(m.Spec)
	// Output: {"metricCollectPolicy":{"reportIntervalSeconds":60,"nodeAggregatePolicy":{"durations":["5m0s"]},"nodeMemoryCollectPolicy":"usageWithPageCache"}}
}

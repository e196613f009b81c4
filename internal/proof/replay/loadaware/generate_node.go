package loadaware

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func (g *generator) node(i int) *api.Node {
	n := &api.Node{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}}
	n.Status.Allocatable = resource.List{resource.Pods: resource.New(110, resource.DecimalSI)}
	for i, name := range names {
		if g.IntN(100) < 95>>(i/2*2) {
			n.Status.Allocatable[name] = g.capacity(name)
		}
	}
	for _, name := range rare {
		if name != resource.Pods && g.chance(10) {
			n.Status.Allocatable[name] = g.capacity(name)
		}
	}
	annotate := func(key string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		if g.chance(5) {
			text = []byte(oneOf(g, "", "null", "[]", "{}", `{"usageThresholds":{"cpu":"high"}}`, `{"cpu":"1x"}`))
		}
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[key] = string(text)
	}
	if g.chance(30) {
		t := map[string]any{}
		if g.chance(60) {
			t["usageThresholds"] = g.percentages(0, 400)
		}
		if g.chance(40) {
			t["prodUsageThresholds"] = g.percentages(0, 100)
		}
		if g.chance(40) {
			u := map[string]any{"usageThresholds": g.percentages(0, 100)}
			if g.chance(85) {
				u["usageAggregationType"] = oneOf(g, api.AVG, api.P50, api.P95)
			}
			if g.chance(50) {
				u["usageAggregatedDuration"] = oneOf(g, "0s", "5m0s", "10m0s", "30m0s")
			}
			t["aggregatedUsage"] = u
		}
		annotate(estimator.AnnotationUsageThresholds, t)
	}
	if g.chance(15) {
		raw := resource.List{}
		for _, name := range names {
			if g.chance(50) {
				raw[name] = g.capacity(name)
			}
		}
		annotate(estimator.AnnotationRawAllocatable, raw)
	}
	return n
}

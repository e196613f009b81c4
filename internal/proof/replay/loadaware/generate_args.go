package loadaware

import (
	"encoding/json"
	"slices"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// names are the resources of most cases, and rare the ones that may come in
// addition.
var (
	names = []resource.Name{resource.CPU, resource.Memory, "nvidia.com/gpu", "example.com/foo"}
	rare  = []resource.Name{
		estimator.BatchCPU, estimator.BatchMemory, estimator.MidCPU, estimator.MidMemory, hugePages, resource.EphemeralStorage, resource.Pods,
	}
)

const hugePages resource.Name = "hugepages-2Mi"

func (g *generator) percentages(least, most int64) map[resource.Name]int64 {
	m := map[resource.Name]int64{}
	for i, name := range names {
		if g.IntN(100) < 80>>(2*i) {
			m[name] = least + g.Int64N(most-least+1)
			if g.chance(40) {
				m[name] = max(least, min(most, oneOf[int64](g, 10, 25, 50, 65, 80, 100)))
			}
		}
	}
	if g.chance(12) {
		m[oneOf(g, rare...)] = least + g.Int64N(most-least+1)
	}
	return m
}

// args returns arguments as JSON.
func (g *generator) args() json.RawMessage {
	a := map[string]any{}
	maybe := func(percent int, name string, value func() any) {
		if g.chance(percent) {
			a[name] = value()
		}
	}
	flag := func() any { return g.chance(50) }
	seconds := func() any { return oneOf[int64](g, 0, 1, 30, 90, 300, 3600, -5) }
	shares := func(least, most int64) func() any { return func() any { return g.percentages(least, most) } }
	maybe(40, "filterExpiredNodeMetrics", flag)
	maybe(50, "nodeMetricExpirationSeconds", func() any { return oneOf[int64](g, 30, 60, 180, 300, 3600) })
	maybe(50, "enableScheduleWhenNodeMetricsExpired", flag)
	maybe(40, "resourceWeights", shares(1, 100))
	maybe(30, "dominantResourceWeight", func() any { return g.Int64N(101) })
	maybe(60, "usageThresholds", shares(0, 100))
	maybe(40, "prodUsageThresholds", shares(0, 120))
	maybe(30, "prodUsageIncludeSys", flag)
	maybe(40, "scoreAccordingProdUsage", flag)
	maybe(30, "estimatedSecondsAfterPodScheduled", seconds)
	maybe(30, "estimatedSecondsAfterInitialized", seconds)
	maybe(50, "allowCustomizeEstimation", flag)
	maybe(15, "supportedResources", func() any { return names[g.IntN(len(names)):] })
	maybe(75, "estimatedScalingFactors", shares(1, 100))
	if weights, ok := a["resourceWeights"].(map[resource.Name]int64); ok {
		g.completeFactors(a, weights)
	}
	maybe(45, "aggregated", g.aggregated)
	maybe(10, "estimator", func() any { return oneOf(g, "", estimator.DefaultEstimatorName) })
	if g.chance(3) { // something invalid
		bad := oneOf(g, "resourceWeights", "usageThresholds", "estimatedScalingFactors")
		a[bad] = map[resource.Name]int64{resource.CPU: oneOf[int64](g, -1, 101, 0)}
	}
	maybe(1, "dominantResourceWeight", func() any { return oneOf[int64](g, -1, 101) })
	maybe(1, "nodeMetricExpirationSeconds", func() any { return oneOf[int64](g, -1, 0) })
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // maps of numbers always marshal
	}
	return text
}

// completeFactors gives every resource with a weight a factor, or sometimes all
// except one. It never leaves out several, because Koordinator may name any of them
// in its error.
func (g *generator) completeFactors(a map[string]any, weights map[resource.Name]int64) {
	factors, ok := a["estimatedScalingFactors"].(map[resource.Name]int64)
	if !ok {
		factors = map[resource.Name]int64{}
	}
	spare := g.chance(2)
	for _, name := range slices.Backward(slices.Concat(names, rare)) {
		_, weighs := weights[name]
		_, has := factors[name]
		switch {
		case !weighs || has || name == resource.CPU || name == resource.Memory:
		case spare:
			spare = false
		default:
			factors[name] = oneOf[int64](g, 1, 50, 70, 85, 100)
		}
	}
	if len(factors) > 0 {
		a["estimatedScalingFactors"] = factors
	}
}

func (g *generator) aggregated() any {
	a := map[string]any{}
	if g.chance(75) {
		a["usageThresholds"] = g.percentages(0, 100)
	}
	kinds := []api.AggregationType{api.AVG, api.P50, api.P90, api.P95, api.P99}
	if g.chance(3) {
		kinds = append(kinds, "p42")
	}
	if g.chance(75) {
		a["usageAggregationType"] = oneOf(g, kinds...)
	}
	if g.chance(75) {
		a["scoreAggregationType"] = oneOf(g, kinds...)
	}
	durations := []string{"0s", "5m0s", "10m0s", "30m0s"}
	if g.chance(2) {
		durations = append(durations, "-5m0s")
	}
	if g.chance(50) {
		a["usageAggregatedDuration"] = oneOf(g, durations...)
	}
	if g.chance(50) {
		a["scoreAggregatedDuration"] = oneOf(g, durations...)
	}
	return a
}

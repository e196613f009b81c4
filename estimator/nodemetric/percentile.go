package nodemetric

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Percentile returns the p-quantile of the values: of n sorted values, the value at
// index n*p - 1, truncated, but at least the first. It does not interpolate, and
// does not change values. For no values it returns 0.
//
// Source: koordlet 1.8, fieldPercentileOfMetricList. The product is computed in
// float32, so that 0.9 of 10 values is the 9th, not the 8th.
//
// Differs: p outside (0,1].
// Original: koordlet refuses it, and NaN too.
// Here: it counts as the nearer end, and NaN as 0.
// Why: there is an answer for every p, and so no error.
func Percentile(values []int64, p float32) int64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return percentileOf(sorted, p)
}

func percentileOf(sorted []int64, p float32) int64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	switch reached := float32(float32(n) * p); {
	case reached >= float32(n):
		return sorted[n-1]
	case reached >= 1:
		return sorted[int(reached)-1]
	}
	return sorted[0]
}

// Average returns the mean of the values, truncated, or 0 for no values.
func Average(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	var sum float64
	for _, v := range values {
		sum += float64(v)
	}
	return resource.SatFloat(sum / float64(len(values)))
}

// percentiles are the statistics of a period besides the average, each with its
// fraction.
var percentiles = [...]struct {
	kind     api.AggregationType
	fraction float32
}{{api.P50, 0.5}, {api.P90, 0.9}, {api.P95, 0.95}, {api.P99, 0.99}}

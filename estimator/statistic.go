package estimator

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// A statistic selects one of the uses in a metric: an aggregation over a period or,
// for the zero value, the last average. A duration of 0 means the longest period.
type statistic struct {
	kind     api.AggregationType
	duration time.Duration
}

// of returns the use by the statistic, and false if the metric lacks it. Without a
// duration, the longest period that has the aggregation counts, or the last average
// if no period has it.
//
// Source: Koordinator 1.8, AddOrUpdateNodeMetric and getTargetAggregatedUsage.
func (s statistic) of(info *api.NodeMetricInfo) (use api.ResourceMap, ok bool) {
	if s.kind == "" {
		return info.NodeUsage, true
	}
	if use = s.reported(info, s.longest(info)); !use.IsZero() {
		return use, true
	}
	if s.duration == 0 {
		return info.NodeUsage, true
	}
	return api.ResourceMap{}, false
}

// longest returns the statistic's duration if set, else the longest period that has
// the aggregation, or 0 if there is none.
func (s statistic) longest(info *api.NodeMetricInfo) time.Duration {
	d := s.duration
	if d != 0 {
		return d
	}
	for i := range info.AggregatedNodeUsages {
		a := &info.AggregatedNodeUsages[i]
		if !a.Usage[s.kind].IsZero() {
			d = max(d, a.Duration.Duration)
		}
	}
	return d
}

// reported returns the use over the period d, or zero if it is not reported or
// empty. If there are several, the last one counts.
func (s statistic) reported(info *api.NodeMetricInfo, d time.Duration) api.ResourceMap {
	for i := len(info.AggregatedNodeUsages) - 1; i >= 0; i-- {
		a := &info.AggregatedNodeUsages[i]
		if use := a.Usage[s.kind]; a.Duration.Duration == d && !use.IsZero() {
			return use
		}
	}
	return api.ResourceMap{}
}

// legacyStatistic returns the use by a statistic, and whether it is reported, by
// the rules up to 1.6. The first matching period counts. Without a duration the
// longest period counts: up to 1.5 the longest of all; in 1.6 the longest that has
// the aggregation, or the last average if none has.
//
// Source: Koordinator 1.4 and 1.6, getTargetAggregatedUsage.
func (l *Load) legacyStatistic(s statistic, info *api.NodeMetricInfo) (use api.ResourceMap, ok bool) {
	switch {
	case info == nil:
		return api.ResourceMap{}, false
	case s.kind == "":
		return info.NodeUsage, true
	}
	var longest *api.AggregatedUsage
	for i := range info.AggregatedNodeUsages {
		period := &info.AggregatedNodeUsages[i]
		use := period.Usage[s.kind]
		switch d := period.Duration.Duration; {
		case s.duration != 0:
			if d == s.duration && !use.IsZero() {
				return use, true
			}
		case l.traits.longestOnly:
			if longest == nil || d > max(longest.Duration.Duration, 0) {
				longest = period
			}
		case !use.IsZero() && d > 0 && (longest == nil || d > longest.Duration.Duration):
			longest = period
		}
	}
	switch {
	case longest != nil:
		use = longest.Usage[s.kind]
	case s.duration == 0 && len(info.AggregatedNodeUsages) > 0:
		use = info.NodeUsage
	}
	return use, !use.IsZero()
}

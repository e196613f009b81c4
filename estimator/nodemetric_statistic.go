package estimator

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// A statistic chooses which of the uses that a metric reports counts: a kind of
// statistic over a period, or, with the zero value, the last average. A
// duration of 0 means the longest period.
type statistic struct {
	kind     api.AggregationType
	duration time.Duration
}

// of returns the use by the statistic, and false if the metric lacks it. Where
// no duration is asked for, the longest period that has the kind decides, and
// the last average if none has.
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

// longest returns the duration asked for, or that of the longest period that
// has the kind, 0 if there is none.
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

// reported returns the kind's use over the period, zero if it is not reported or
// empty. The last one counts.
func (s statistic) reported(info *api.NodeMetricInfo, d time.Duration) api.ResourceMap {
	for i := len(info.AggregatedNodeUsages) - 1; i >= 0; i-- {
		a := &info.AggregatedNodeUsages[i]
		if use := a.Usage[s.kind]; a.Duration.Duration == d && !use.IsZero() {
			return use
		}
	}
	return api.ResourceMap{}
}

// legacyStatistic returns the use by a statistic, and whether it is reported,
// by the rules up to 1.6: the first period that fits counts, and without a
// duration the longest one. Up to 1.5 that is the longest of all; in 1.6 the
// longest that has the kind, and the last average if none has.
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

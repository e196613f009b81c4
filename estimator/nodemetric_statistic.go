package estimator

import (
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A statistic chooses which of the uses that a metric reports counts: a kind of
// statistic over a period, or, with the zero value, the last average. A
// duration of 0 means the longest period.
type statistic struct {
	kind     framework.AggregationType
	duration time.Duration
}

// of returns the use by the statistic, and false if the metric lacks it. Where
// no duration is asked for, the longest period that has the kind decides, and
// the last average if none has.
//
// Source: Koordinator 1.8, AddOrUpdateNodeMetric and getTargetAggregatedUsage.
func (s statistic) of(info *framework.NodeMetricInfo) (use resource.List, ok bool) {
	if s.kind == "" {
		return info.NodeUsage.ResourceList, true
	}
	if use = s.reported(info, s.longest(info)); use != nil {
		return use, true
	}
	if s.duration == 0 {
		return info.NodeUsage.ResourceList, true
	}
	return nil, false
}

// longest returns the duration asked for, or that of the longest period that
// has the kind, 0 if there is none.
func (s statistic) longest(info *framework.NodeMetricInfo) time.Duration {
	d := s.duration
	if d != 0 {
		return d
	}
	for i := range info.AggregatedNodeUsages {
		a := &info.AggregatedNodeUsages[i]
		if len(a.Usage[s.kind].ResourceList) > 0 {
			d = max(d, a.Duration.Duration)
		}
	}
	return d
}

// reported returns the kind's use over the period, nil if it is not reported or
// empty. The last one counts.
func (s statistic) reported(info *framework.NodeMetricInfo, d time.Duration) resource.List {
	for i := len(info.AggregatedNodeUsages) - 1; i >= 0; i-- {
		a := &info.AggregatedNodeUsages[i]
		if use := a.Usage[s.kind].ResourceList; a.Duration.Duration == d && len(use) > 0 {
			return use
		}
	}
	return nil
}

package nodemetric_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/nodemetric"
	"github.com/berth-sched/berth/framework/api"
)

// A zero Sampler has the zero SamplerConfig.
var testStart = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestSamplerZero(t *testing.T) {
	var zero, empty nodemetric.Sampler
	made := nodemetric.NewSampler(nodemetric.SamplerConfig{})
	if diff := cmp.Diff(made.Report("n1", testStart), empty.Report("n1", testStart)); diff != "" {
		t.Errorf("reports without a sample (-made +zero)\n%s", diff)
	}
	for i := range 8 {
		now := testStart.Add(time.Duration(i) * time.Minute)
		pods := []nodemetric.PodUse{{Pod: api.MakePod("web").Obj(), Use: nodemetric.Use{CPU: int64(100 * i), Memory: 1 << 20}}}
		zero.Add(now, nodemetric.Use{CPU: 10}, pods)
		made.Add(now, nodemetric.Use{CPU: 10}, pods)
	}
	now := testStart.Add(7 * time.Minute)
	if diff := cmp.Diff(made.Report("n1", now), zero.Report("n1", now)); diff != "" {
		t.Errorf("reports (-made +zero)\n%s", diff)
	}
}

// Reports give whole seconds, and invalid times count as unset.
func TestSamplerSeconds(t *testing.T) {
	tests := []struct {
		policy            nodemetric.SamplerConfig
		average, interval int64
	}{
		{nodemetric.SamplerConfig{}, 300, 60},
		{nodemetric.SamplerConfig{Average: -time.Minute, Interval: -1}, 300, 60},
		{nodemetric.SamplerConfig{Average: time.Millisecond, Interval: 500 * time.Millisecond}, 1, 1},
		{nodemetric.SamplerConfig{Average: 90*time.Second + 1, Interval: time.Second}, 91, 1},
		{nodemetric.SamplerConfig{Average: math.MaxInt64, Interval: math.MaxInt64}, math.MaxInt64/int64(time.Second) + 1, math.MaxInt64/int64(time.Second) + 1},
	}
	for _, test := range tests {
		s := nodemetric.NewSampler(test.policy)
		s.Add(testStart, nodemetric.Use{CPU: 100}, []nodemetric.PodUse{{Pod: api.MakePod("web").Obj(), Use: nodemetric.Use{CPU: 20}}})
		m := s.Report("n1", testStart)
		policy := m.Spec.CollectPolicy
		if *policy.AggregateDurationSeconds != test.average || *policy.ReportIntervalSeconds != test.interval {
			t.Errorf("%+v: aggregated over %d s, reported every %d s; want %d and %d",
				test.policy, *policy.AggregateDurationSeconds, *policy.ReportIntervalSeconds, test.average, test.interval)
		}
		if got := cpuOf(m.Status.NodeMetric.NodeUsage); got != 120 || len(m.Status.PodsMetric) != 1 {
			t.Errorf("%+v: use of the node = %dm, %d pods; want 120m of 1", test.policy, got, len(m.Status.PodsMetric))
		}
	}
}

// A statistic appears when its samples span half of its period, no later.
func TestSamplerHalfPeriod(t *testing.T) {
	for _, decaying := range []bool{false, true} {
		for span, want := range map[time.Duration]bool{5*time.Minute - 1: false, 5 * time.Minute: true} {
			t.Run(fmt.Sprint(decaying, span), func(t *testing.T) {
				s := nodemetric.NewSampler(nodemetric.SamplerConfig{Periods: []time.Duration{10 * time.Minute}, Decaying: decaying})
				s.Add(testStart, nodemetric.Use{CPU: 100}, nil)
				s.Add(testStart.Add(span), nodemetric.Use{CPU: 100}, nil)
				for kind, use := range s.Report("n1", testStart.Add(span)).Status.NodeMetric.AggregatedNodeUsages[0].Usage {
					if use.IsZero() == want {
						t.Errorf("%s over 10m of samples that span %v: %v, want any: %v", kind, span, cpuOf(use), want)
					}
				}
			})
		}
	}
}

// The average may reach further back than every period.
func TestSamplerLongAverage(t *testing.T) {
	s := nodemetric.NewSampler(nodemetric.SamplerConfig{Average: 10 * time.Minute, Periods: []time.Duration{time.Minute}})
	s.Add(testStart, nodemetric.Use{CPU: 100}, nil)
	s.Add(testStart.Add(8*time.Minute), nodemetric.Use{CPU: 300}, nil)
	if got := cpuOf(s.Report("n1", testStart.Add(8*time.Minute)).Status.NodeMetric.NodeUsage); got != 200 {
		t.Errorf("average of 100m and 300m, 8 minutes apart = %dm, want 200m", got)
	}
}

// Sums beyond int64 in floating point saturate.
func TestAverageOfLargest(t *testing.T) {
	for _, v := range []int64{math.MaxInt64, math.MinInt64} {
		if got := nodemetric.Average([]int64{v, v}); got != v {
			t.Errorf("Average of %d twice = %d, want the same", v, got)
		}
	}
}

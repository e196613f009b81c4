package nodemetric_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/estimator/nodemetric"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func TestPercentile(t *testing.T) {
	ten := []int64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	tests := []struct {
		values []int64
		p      float32
		want   int64
	}{
		{[]int64{7}, 0.5, 7},
		{[]int64{7}, 0.99, 7},
		{ten, 0.5, 5},
		{ten, 0.9, 9},
		{ten, 0.95, 9}, // 9.5 is truncated
		{ten, 0.99, 9},
		{ten, 1, 10},
		{ten, 0.01, 1},
		{ten, -1, 1},
		{ten, 2, 10},
		{ten, -1e30, 1},
		{ten, 1e30, 10},
		{ten, float32(math.Inf(-1)), 1},
		{ten, float32(math.Inf(1)), 10},
		{ten, float32(math.NaN()), 1},
		{nil, 0.5, 0},
	}
	for _, test := range tests {
		if got := nodemetric.Percentile(test.values, test.p); got != test.want {
			t.Errorf("Percentile(%v, %v) = %d, want %d", test.values, test.p, got, test.want)
		}
	}
	if ten[0] != 10 {
		t.Error("Percentile sorted its argument")
	}
}

func TestAverageOfNothing(t *testing.T) {
	if got := nodemetric.Average(nil); got != 0 {
		t.Errorf("Average(nil) = %d, want 0", got)
	}
}

// Use without a pod counts for the node, and for no pod.
func TestSamplerUseWithoutPod(t *testing.T) {
	s := nodemetric.NewSampler(nodemetric.SamplerConfig{})
	s.Add(testStart, nodemetric.Use{CPU: 1}, []nodemetric.PodUse{
		{Use: nodemetric.Use{CPU: 20}}, {Pod: api.MakePod("a").Obj(), Use: nodemetric.Use{CPU: 300}},
	})
	m := s.Report("n1", testStart)
	if got := cpuOf(m.Status.NodeMetric.NodeUsage); got != 321 {
		t.Errorf("use of the node = %dm, want 321m", got)
	}
	if len(m.Status.PodsMetric) != 1 || m.Status.PodsMetric[0].Name != "a" {
		t.Errorf("pods = %v, want a alone", m.Status.PodsMetric)
	}
}

// Percentile is one of the values, and grows with the fraction.
func TestPercentileLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64(), 1, 60).Draw(t, "values")
		p, q := rapid.Float32Range(0, 1).Draw(t, "p"), rapid.Float32Range(0, 1).Draw(t, "q")
		low, high := nodemetric.Percentile(values, min(p, q)), nodemetric.Percentile(values, max(p, q))
		if !slices.Contains(values, low) || low > high {
			t.Fatalf("percentiles %d and %d of %v", low, high, values)
		}
	})
}

func cpuOf(m api.ResourceMap) int64 {
	q := m.Quantity(resource.CPU)
	return q.MilliValue()
}

func TestSampler(t *testing.T) {
	s := nodemetric.NewSampler(nodemetric.SamplerConfig{})
	web := api.MakePod("web").Requests("1", "1Gi").Obj()
	batch := api.MakePod("batch").Obj()
	now := testStart
	// Ten samples, a minute apart: pod web uses 100, 200, ..., 1000.
	for i := range int64(10) {
		now = testStart.Add(time.Duration(i) * time.Minute)
		pods := []nodemetric.PodUse{{Pod: web, Use: nodemetric.Use{CPU: 100 * (i + 1), Memory: 1 << 20}}}
		if i < 9 {
			pods = append(pods, nodemetric.PodUse{Pod: batch, Use: nodemetric.Use{CPU: 50}})
		}
		s.Add(now, nodemetric.Use{CPU: 10}, pods)
	}
	m := s.Report("n1", now)
	if m.Name != "n1" || !m.Status.UpdateTime.Equal(now) || *m.Spec.CollectPolicy.ReportIntervalSeconds != 60 {
		t.Errorf("report of %s at %v", m.Name, m.Status.UpdateTime)
	}
	// The last six samples lie within five minutes: 500 ... 1000, with 10 of the
	// system, and 50 of the pod present in five of them.
	info := m.Status.NodeMetric
	if got := cpuOf(info.NodeUsage); got != 801 { // (4500 + 60 + 250) / 6 = 801.6
		t.Errorf("average = %d, want 801", got)
	}
	if got := cpuOf(info.SystemUsage); got != 10 {
		t.Errorf("system = %d, want 10", got)
	}
	if len(m.Status.PodsMetric) != 1 || m.Status.PodsMetric[0].Name != "web" || m.Status.PodsMetric[0].Priority != "koord-prod" {
		t.Errorf("reports of pods: %+v, want web alone", m.Status.PodsMetric)
	} else if got := cpuOf(m.Status.PodsMetric[0].PodUsage); got != 750 {
		t.Errorf("average of the pod = %d, want 750", got)
	}
	// Samples: 160 260 ... 960 1010. Nine minutes span half of 5 and 10 minutes,
	// but not of 30.
	got := map[string]int64{}
	for _, period := range info.AggregatedNodeUsages {
		for kind, use := range period.Usage {
			if !use.IsZero() {
				got[fmt.Sprint(period.Duration.Duration, " ", kind)] = cpuOf(use)
			}
		}
	}
	want := map[string]int64{
		"5m0s avg": 801, "5m0s p50": 760, "5m0s p90": 960, "5m0s p95": 960, "5m0s p99": 960,
		"10m0s avg": 605, "10m0s p50": 560, "10m0s p90": 960, "10m0s p95": 960, "10m0s p99": 960,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statistics (-want +got)\n%s", diff)
	}
}

func TestSamplerDecaying(t *testing.T) {
	s := nodemetric.NewSampler(nodemetric.SamplerConfig{Decaying: true, Periods: []time.Duration{10 * time.Minute}})
	now := testStart
	for range 600 {
		now = now.Add(10 * time.Second)
		s.Add(now, nodemetric.Use{CPU: 1000, Memory: 1 << 30}, nil)
	}
	for range 600 { // ten half-lives of the double
		now = now.Add(10 * time.Second)
		s.Add(now, nodemetric.Use{CPU: 2000, Memory: 1 << 30}, nil)
	}
	usage := s.Report("n1", now).Status.NodeMetric.AggregatedNodeUsages[0].Usage
	for _, kind := range []api.AggregationType{api.AVG, api.P50, api.P99} {
		// The old use weighs a thousandth; buckets are 5 % wide.
		if got := cpuOf(usage[kind]); got < 1990 || got > 2110 {
			t.Errorf("%s = %d, want about 2000", kind, got)
		}
	}
}

func TestHistogram(t *testing.T) {
	h, err := nodemetric.NewHistogram(nodemetric.HistogramConfig{First: 1, Growth: 2, Max: 100, HalfLife: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if !h.Empty() || h.Percentile(0.5) != 0 || h.Mean() != 0 {
		t.Error("a new histogram is not empty")
	}
	add := func(value, weight float64, at time.Time) {
		t.Helper()
		if err := h.Add(value, weight, at); err != nil {
			t.Fatal(err)
		}
	}
	// Buckets begin at 0, 1, 3, 7, 15, 31, 63, 127.
	add(2, 1, testStart)
	add(10, 1, testStart)
	if got := h.Percentile(0.5); got != 3 {
		t.Errorf("median = %v, want 3, where the bucket of 2 ends", got)
	}
	if got := h.Percentile(1); got != 15 {
		t.Errorf("maximum = %v, want 15", got)
	}
	// An hour later each of the old two weighs half of a new sample.
	add(40, 1, testStart.Add(time.Hour))
	if got := h.Percentile(0.5); got != 15 {
		t.Errorf("median = %v, want 15", got)
	}
	if got := h.Percentile(0.51); got != 63 {
		t.Errorf("51 %% = %v, want 63", got)
	}
	if got := h.Mean(); got != 23 { // (2/2 + 10/2 + 40) / 2
		t.Errorf("mean = %v, want 23", got)
	}
	// After 150 half-lives only new samples count.
	add(1000, 1, testStart.Add(150*time.Hour))
	if got := h.Percentile(0); got != 127 {
		t.Errorf("minimum = %v, want 127, where the last bucket begins", got)
	}
}

// TestHistogramEndsAtMax: no bucket follows one that begins at Max.
func TestHistogramEndsAtMax(t *testing.T) {
	for limit, last := range map[float64]float64{1022: 1023, 1023: 1023, 1024: 2047} {
		h, err := nodemetric.NewHistogram(nodemetric.HistogramConfig{First: 1, Growth: 2, Max: limit})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Add(5000, 1, testStart); err != nil {
			t.Fatal(err)
		}
		if got := h.Percentile(0.5); got != last {
			t.Errorf("up to %v, the last bucket begins at %v, want %v", limit, got, last)
		}
	}
}

func TestHistogramErrors(t *testing.T) {
	nan := 0.0
	nan /= nan
	for _, o := range []nodemetric.HistogramConfig{
		{},
		{First: 1, Growth: 1, Max: 2},
		{First: 1, Growth: 2, Max: 1},
		{First: nan, Growth: 2, Max: 3},
		{First: 1, Growth: 2, Max: 3, HalfLife: -1},
		{First: 1e-9, Growth: 1.0000001, Max: 1e9},
	} {
		if _, err := nodemetric.NewHistogram(o); err == nil {
			t.Errorf("NewHistogram(%+v): no error", o)
		}
	}
	h, err := nodemetric.NewHistogram(nodemetric.CPUHistogram())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{-1, nan, 1e308, math.Inf(1)} {
		if h.Add(x, 1, testStart) == nil || h.Add(1, x, testStart) == nil {
			t.Errorf("a sample or weight of %v: no error", x)
		}
	}
	if _, err := nodemetric.NewHistogram(nodemetric.MemoryHistogram()); err != nil {
		t.Error(err)
	}
	var zero nodemetric.Histogram
	var invalid *api.InvalidError
	if err := zero.Add(1, 1, testStart); !errors.As(err, &invalid) {
		t.Errorf("Add to the zero Histogram = %v, want an InvalidError", err)
	}
	if !zero.Empty() || zero.Mean() != 0 || zero.Percentile(0.5) != 0 {
		t.Error("the zero Histogram is not empty")
	}
}

// The largest samples and weights keep the mean finite, however late they come.
func TestHistogramLargest(t *testing.T) {
	const largest, halfLife = 1e100, 12 * time.Hour
	h, err := nodemetric.NewHistogram(nodemetric.CPUHistogram())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 250 {
		if err := h.Add(largest, largest, testStart.Add(time.Duration(i)*halfLife)); err != nil {
			t.Fatal(err)
		}
		if got := h.Mean(); math.Abs(got/largest-1) > 1e-9 {
			t.Fatalf("after %d samples: Mean() = %v, want %v", i+1, got, largest)
		}
	}
}

// A percentile of a histogram without decay is at most one bucket above the
// percentile of the samples.
func TestHistogramApproximates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(1, 1000), 1, 80).Draw(t, "values")
		h, err := nodemetric.NewHistogram(nodemetric.HistogramConfig{First: 1, Growth: 1.05, Max: 2000})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if err := h.Add(float64(v), 1, testStart); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(values)
		exact := float64(values[(len(values)+1)/2-1])
		if got := h.Percentile(0.5); got < exact || got > exact*1.06+2 {
			t.Fatalf("median = %v, of the samples %v", got, exact)
		}
	})
}

// ExampleSampler turns simulated use into a report for a ledger.
func ExampleSampler() {
	s := nodemetric.NewSampler(nodemetric.SamplerConfig{})
	pod := api.MakePod("web").Requests("1", "1Gi").Obj()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range int64(31) {
		now = now.Add(10 * time.Second)
		s.Add(now, nodemetric.Use{CPU: 100}, []nodemetric.PodUse{{Pod: pod, Use: nodemetric.Use{CPU: 10 * i}}})
	}
	m := s.Report("n1", now)
	average := m.Status.NodeMetric.NodeUsage.Quantity(resource.CPU)
	p95 := m.Status.NodeMetric.AggregatedNodeUsages[0].Usage[api.P95].Quantity(resource.CPU)
	fmt.Println("average", average, "p95", p95)
	// Output: average 250m p95 380m
}

// ExampleHistogram keeps the distribution of a value and forgets old samples.
func ExampleHistogram() {
	h, err := nodemetric.NewHistogram(nodemetric.HistogramConfig{First: 1, Growth: 1.5, Max: 1000, HalfLife: time.Hour})
	if err != nil {
		panic(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, v := range []float64{3, 3, 3, 200} {
		if err := h.Add(v, 1, now); err != nil {
			panic(err)
		}
	}
	fmt.Printf("%.1f %.1f\n", h.Percentile(0.5), h.Percentile(0.99))
	// Output: 4.8 257.5
}

// ExamplePercentile returns the ninth of ten values.
func ExamplePercentile() {
	fmt.Println(nodemetric.Percentile([]int64{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 0.9))
	// Output: 90
}

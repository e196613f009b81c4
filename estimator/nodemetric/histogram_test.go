package nodemetric_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator/nodemetric"
)

// TestHistogramLightBuckets adds samples so light that a bucket of them does not
// count. Empty, Percentile and Mean agree on this. Between buckets that count,
// light buckets count too.
func TestHistogramLightBuckets(t *testing.T) {
	type sample struct{ value, weight float64 }
	// Buckets begin at 0, 1, 3, 7, 15, 31 and so on.
	tests := []struct {
		name    string
		samples []sample
		p       float64
		want    float64
		mean    float64
		empty   bool
	}{
		{"two light ones", []sample{{2, 6e-5}, {20, 6e-5}}, 0.5, 0, 0, true},
		{"together in a bucket", []sample{{2, 6e-5}, {2, 6e-5}}, 0.5, 3, 2, false},
		{"just enough", []sample{{2, 1e-4}}, 0.5, 3, 2, false},
		{"the first is light", []sample{{2, 6e-5}, {20, 1}}, 0, 31, (2*6e-5 + 20) / (1 + 6e-5), false},
		{"the last is light", []sample{{2, 1}, {20, 6e-5}}, 1, 3, (2 + 20*6e-5) / (1 + 6e-5), false},
		{"one between", []sample{{2, 2e-4}, {5, 9e-5}, {20, 2e-4}}, 0.55, 7, (2*2e-4 + 5*9e-5 + 20*2e-4) / 4.9e-4, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, err := nodemetric.NewHistogram(nodemetric.HistogramConfig{First: 1, Growth: 2, Max: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range test.samples {
				if err := h.Add(s.value, s.weight, time.Time{}); err != nil {
					t.Fatal(err)
				}
			}
			if got := h.Empty(); got != test.empty {
				t.Errorf("Empty = %v, want %v", got, test.empty)
			}
			if got := h.Percentile(test.p); got != test.want {
				t.Errorf("Percentile(%v) = %v, want %v", test.p, got, test.want)
			}
			if got := h.Mean(); got < test.mean*(1-1e-12) || got > test.mean*(1+1e-12) {
				t.Errorf("Mean = %v, want %v", got, test.mean)
			}
		})
	}
}

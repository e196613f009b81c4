package nodemetric

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// HistogramConfig lays out the buckets of a [Histogram], which grow geometrically.
// The first is [0, First), and each next one is Growth times as wide. The last
// bucket is the first one that does not begin below Max; it takes everything above, too.
type HistogramConfig struct {
	First  float64 // width of the first bucket, above 0
	Growth float64 // above 1
	Max    float64 // above First
	// HalfLife is the time after which a sample counts half; 0 means that samples
	// never lose weight.
	HalfLife time.Duration
}

// CPUHistogram and MemoryHistogram are koordlet's layouts for peak prediction:
// cores from 0.025 to 1024, bytes from 5 MiB to 2 TiB, buckets growing by 5 %,
// half-lives of 12 and 24 hours.
func CPUHistogram() HistogramConfig {
	return HistogramConfig{First: 0.025, Growth: 1.05, Max: 1024, HalfLife: 12 * time.Hour}
}

// MemoryHistogram is the layout for memory; see [CPUHistogram].
func MemoryHistogram() HistogramConfig {
	return HistogramConfig{First: 5 << 20, Growth: 1.05, Max: 2 << 40, HalfLife: 24 * time.Hour}
}

// maxBuckets bounds the memory of a histogram.
const maxBuckets = 1 << 16

// A Histogram counts weighted samples in buckets and forgets them gradually: a
// sample loses half of its weight with every half-life. Its memory does not grow
// with the number of samples.
//
//	weight of a sample at time t = weight * 2^((t - reference) / half-life)
//
// Only relative weights matter, so the reference moves forward before they grow
// too large.
//
// Source: koordlet 1.8, pkg/util/histogram, from the Vertical Pod Autoscaler.
//
// Differs: the last bit of bucket limits and weights.
// Original: koordlet's may depend on the machine.
// Here: every operation is exact on every machine, so results may differ from
// koordlet's in the last bit.
// Why: equal samples must give equal reports everywhere.
//
// Differs: bad samples.
// Original: koordlet panics.
// Here: they are errors.
// Why: bad input must not end the program.
//
// Differs: the zero Histogram.
// Original: koordlet's histograms come from a constructor with options.
// Here: it is empty, and takes no samples.
// Why: a zero value must be safe to use.
type Histogram struct {
	config    HistogramConfig
	starts    []float64 // of each bucket, ascending
	weights   []float64
	total     float64
	sum       float64 // of values times weights
	reference time.Time
	begun     bool
}

// The least weight that counts, the exponent at which the reference moves, and the
// largest value and weight of a sample. With these, sums stay finite.
const (
	leastWeight = 1e-4
	maxExponent = 100
	maxSample   = 1e100
)

// NewHistogram returns an empty histogram. If an option is out of range, or more
// than 65,536 buckets are needed, it returns an [*api.InvalidError].
func NewHistogram(o HistogramConfig) (*Histogram, error) {
	fail := func(field string, value any, why string) error {
		return &api.InvalidError{Object: "histogram", Field: field, Value: fmt.Sprint(value), Err: fmt.Errorf("%s", why)}
	}
	switch {
	case !(o.First > 0) || math.IsInf(o.First, 0):
		return nil, fail("first", o.First, "must be above 0")
	case !(o.Growth > 1) || math.IsInf(o.Growth, 0):
		return nil, fail("growth", o.Growth, "must be above 1")
	case !(o.Max > o.First) || math.IsInf(o.Max, 0):
		return nil, fail("max", o.Max, "must be above first")
	case o.HalfLife < 0:
		return nil, fail("halfLife", o.HalfLife, "must not be negative")
	}
	h := &Histogram{config: o}
	width := o.First
	for start := 0.0; ; {
		h.starts = append(h.starts, start)
		if start >= o.Max {
			break
		}
		if len(h.starts) == maxBuckets {
			return nil, fail("growth", o.Growth, "needs too many buckets")
		}
		start += width
		width = float64(width * o.Growth)
	}
	h.weights = make([]float64, len(h.starts))
	return h, nil
}

// Add counts a sample of a value with a weight at a time. It returns an
// [*api.InvalidError] if value or weight is outside [0,1e100] or NaN, or if
// [NewHistogram] did not make the histogram.
func (h *Histogram) Add(value, weight float64, at time.Time) error {
	switch {
	case len(h.starts) == 0:
		return &api.InvalidError{Object: "histogram", Err: errNoBuckets}
	case !(value >= 0 && value <= maxSample):
		return &api.InvalidError{Object: "histogram", Field: "value", Value: fmt.Sprint(value), Err: errNotAmount}
	case !(weight >= 0 && weight <= maxSample):
		return &api.InvalidError{Object: "histogram", Field: "weight", Value: fmt.Sprint(weight), Err: errNotAmount}
	}
	weight = float64(weight * h.factor(at))
	h.weights[h.bucket(value)] += weight
	h.total += weight
	h.sum += float64(value * weight)
	return nil
}

var (
	errNotAmount = errors.New("must be a number from 0 to 1e100")
	errNoBuckets = errors.New("has no buckets: make it with NewHistogram")
)

// bucket returns the bucket of a value.
func (h *Histogram) bucket(value float64) int {
	i, found := slices.BinarySearch(h.starts, value)
	if !found {
		i--
	}
	return i
}

// factor returns the factor for the weight of a sample at a time.
func (h *Histogram) factor(at time.Time) float64 {
	if h.config.HalfLife == 0 {
		return 1
	}
	if !h.begun {
		h.begun, h.reference = true, at
	}
	age := at.Sub(h.reference)
	if halves := age / h.config.HalfLife; halves >= maxExponent {
		h.scale(exp2(-float64(halves)))
		shift := halves * h.config.HalfLife
		h.reference = h.reference.Add(shift)
		age -= shift
	}
	return exp2(float64(age) / float64(h.config.HalfLife))
}

func (h *Histogram) scale(by float64) {
	for i := range h.weights {
		h.weights[i] *= by
	}
	h.total *= by
	h.sum *= by
}

// Empty reports whether no sample counts any more: each bucket has a weight below
// 1e-4, whatever their total.
func (h *Histogram) Empty() bool { return !slices.ContainsFunc(h.weights, counts) }

// counts reports whether a bucket of that weight counts.
func counts(weight float64) bool { return weight >= leastWeight }

// Percentile returns the upper limit of the bucket in which the cumulative weight
// reaches the fraction p of the total. For the last bucket it returns the lower
// limit, and for an empty histogram 0.
func (h *Histogram) Percentile(p float64) float64 {
	first, last := slices.IndexFunc(h.weights, counts), len(h.weights)-1
	if first < 0 {
		return 0
	}
	for !counts(h.weights[last]) {
		last--
	}
	threshold := float64(min(max(p, 0), 1) * h.total)
	at := first
	for passed := h.weights[at]; at < last && passed < threshold; passed += h.weights[at] {
		at++
	}
	return h.starts[min(at+1, len(h.starts)-1)]
}

// Mean returns the weighted mean of the samples, or 0 if the histogram is empty.
func (h *Histogram) Mean() float64 {
	if h.Empty() {
		return 0
	}
	return h.sum / h.total
}

// exp2 returns 2^x. It uses only multiplications and square roots, which give the
// same result on every machine; math.Exp2 may not.
func exp2(x float64) float64 {
	whole := math.Floor(x)
	if whole < -1074 {
		return 0
	}
	rest, result := x-whole, 1.0
	for root := math.Sqrt2; rest > 0 && root > 1; root = math.Sqrt(root) {
		if rest *= 2; rest >= 1 {
			result *= root
			rest--
		}
	}
	return math.Ldexp(result, int(min(whole, 1024)))
}

package observe

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Histogram counts observed values in buckets, and adds them up. Make one with
// [NewHistogram]. Any number of goroutines may use it. It is an [expvar.Var].
type Histogram struct {
	bounds []float64

	mu     sync.Mutex
	counts []uint64 // one more than bounds
	sum    float64
}

// NewHistogram returns an empty histogram. A bucket holds the values up to its bound;
// there is one more for larger values. It sorts a copy of the bounds.
func NewHistogram(bounds ...float64) *Histogram {
	b := slices.Clone(bounds)
	slices.Sort(b)
	return &Histogram{bounds: b, counts: make([]uint64, len(b)+1)}
}

// exponential returns n bounds, each factor times the one before.
func exponential(first, factor float64, n int) []float64 {
	bounds := make([]float64, n)
	for i := range bounds {
		bounds[i] = first
		first *= factor
	}
	return bounds
}

// attemptBounds returns kube-scheduler's bounds for the times of attempts, in seconds: from
// a millisecond to 16 s.
func attemptBounds() []float64 { return exponential(0.001, 2, 15) }

// Observe counts a value. A value that is no finite number is ignored.
func (h *Histogram) Observe(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	i, _ := slices.BinarySearch(h.bounds, v)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[i]++
	h.sum += v
}

// seconds counts a duration.
func (h *Histogram) seconds(d time.Duration) { h.Observe(d.Seconds()) }

// count returns how many values were counted.
func (h *Histogram) count() (n uint64) {
	counts, _ := h.read()
	for _, c := range counts {
		n += c
	}
	return n
}

// read returns the counts and the sum of one moment.
func (h *Histogram) read() (counts []uint64, sum float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.counts), h.sum
}

// String returns the histogram as JSON: the number of values, their sum, and for each
// bound the number of values up to it.
func (h *Histogram) String() string {
	counts, sum := h.read()
	var b strings.Builder
	total := uint64(0)
	for i, bound := range h.bounds {
		total += counts[i]
		fmt.Fprintf(&b, "%q: %d, ", number(bound), total)
	}
	total += counts[len(h.bounds)]
	return fmt.Sprintf(`{"count": %d, "sum": %s, "buckets": {%s"+Inf": %d}}`, total, number(sum), b.String(), total)
}

// expose writes the histogram in the text format of Prometheus.
func (h *Histogram) expose(w io.Writer, name, labels string) {
	counts, sum := h.read()
	total := uint64(0)
	for i, n := range counts {
		bound := "+Inf"
		if total += n; i < len(h.bounds) {
			bound = number(h.bounds[i])
		}
		le := "le=" + strconv.Quote(bound)
		if labels != "" {
			le = labels + "," + le
		}
		fmt.Fprintf(w, "%s_bucket{%s} %d\n", name, le, total)
	}
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(w, "%s_sum%s %s\n%s_count%s %d\n", name, labels, number(sum), name, labels, total)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

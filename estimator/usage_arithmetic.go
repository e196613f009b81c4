package estimator

import (
	"math"

	"github.com/berth-sched/berth/resource"
)

// Arithmetic selects the handling of results beyond int64.
type Arithmetic uint8

const (
	// Saturating stops at the ends of int64. It is the default.
	Saturating Arithmetic = iota
	// Wrapping computes like Koordinator on amd64: sums and thousandths of large
	// quantities wrap around, and a floating-point number that does not fit becomes
	// the smallest int64. Use it for comparisons with Koordinator; it matters only
	// on nodes with more than 8 PiB of memory.
	//
	// Differs: the combined requests of containers, init containers and overhead of
	// one pod, and a metric's reportIntervalSeconds of more than 292 years.
	// Original: beyond int64, both wrap around.
	// Here: both saturate even with Wrapping.
	// Why: a wrapped number helps nobody, and real clusters have no such values.
	Wrapping
)

// Add returns a + b.
func (m Arithmetic) Add(a, b int64) int64 {
	if m == Wrapping {
		return a + b
	}
	return resource.SatAdd(a, b)
}

// Percent returns used as a percentage of total, rounded half away from zero. It
// computes the quotient first and then multiplies by 100, both in floating point.
// total must not be 0.
//
// Source: Koordinator 1.8, filterNodeUsage.
func (m Arithmetic) Percent(used, total int64) int64 {
	return m.fromFloat(math.Round(float64(used) / float64(total) * 100))
}

// scale returns percent % of v, rounded half away from zero.
func (m Arithmetic) scale(v, percent int64) int64 {
	return m.fromFloat(math.Round(float64(float64(v)*float64(percent)) / 100))
}

func (m Arithmetic) sub(a, b int64) int64 {
	if m == Wrapping {
		return a - b
	}
	return resource.SatSub(a, b)
}

// sum returns a + b, cut to int64.
func (m Arithmetic) sum(a, b wide) int64 {
	if m == Wrapping {
		return int64(a.lo + b.lo)
	}
	return a.plus(b)
}

// fromFloat returns a rounded number as an int64.
func (m Arithmetic) fromFloat(f float64) int64 {
	if m == Wrapping && !(f >= math.MinInt64 && f < math.MaxInt64) {
		return math.MinInt64
	}
	return resource.SatFloat(f)
}

// amount returns a quantity in the unit of use: cpu in thousandths, everything else
// in whole units, rounded up.
func (m Arithmetic) amount(name resource.Name, q resource.Quantity) int64 {
	if name == resource.CPU {
		return m.milli(q)
	}
	return q.Value()
}

// milli returns a quantity in thousandths, rounded up.
func (m Arithmetic) milli(q resource.Quantity) int64 {
	v := q.MilliValue()
	if m == Wrapping && (v == math.MaxInt64 || v == math.MinInt64) {
		// Large quantities are whole numbers.
		return q.Value() * 1000
	}
	return v
}

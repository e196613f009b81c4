package whatif

import "slices"

// sums knows what amounts can add up to, each taken any number of times.
type sums struct {
	unit    int64   // divides all amounts
	largest []int64 // by units: the largest sum up to there; nil if that is too much work
}

// maxSumWork bounds the additions for sums.
const maxSumWork = 50_000_000

// newSums prepares for sums up to most. The amounts are sorted.
func newSums(amounts []int64, most int64) *sums {
	distinct := slices.DeleteFunc(slices.Compact(slices.Clone(amounts)), func(a int64) bool { return a <= 0 || a > most })
	s := &sums{}
	for _, a := range distinct {
		s.unit = divisor(s.unit, a)
	}
	if s.unit == 0 || most/s.unit > maxSumWork/int64(len(distinct)) {
		return s
	}
	s.largest = make([]int64, most/s.unit+1)
	for i := range s.largest {
		for _, a := range distinct {
			if before := int64(i) - a/s.unit; before >= 0 {
				s.largest[i] = max(s.largest[i], s.largest[before]+a)
			}
		}
	}
	return s
}

// upTo is the largest sum that is at most the given amount, or a bound for it.
func (s *sums) upTo(amount int64) int64 {
	switch {
	case s.unit == 0: // there are no amounts
		return 0
	case s.largest == nil:
		return amount / s.unit * s.unit
	}
	return s.largest[amount/s.unit]
}

// divisor is the greatest common divisor.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

package openb

import "math"

// A Summary is the mean of a few numbers and their sample deviation.
type Summary struct{ Mean, Deviation float64 }

// Summarize summarizes numbers, at least one.
func Summarize(x []float64) Summary {
	s := Summary{Mean: mean(x)}
	if len(x) < 2 {
		return s
	}
	squares := make([]float64, len(x))
	for i, v := range x {
		squares[i] = (v - s.Mean) * (v - s.Mean)
	}
	s.Deviation = math.Sqrt(pairwise(squares) / float64(len(x)-1))
	return s
}

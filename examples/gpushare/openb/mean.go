package openb

import "math"

// mean is numpy's mean, to the last bit: it adds up blocks of up to 128 numbers in eight
// sums each, and the blocks in pairs.
func mean(x []float64) float64 { return pairwise(x) / float64(len(x)) }

const block = 128

func pairwise(x []float64) float64 {
	n := len(x)
	if n > block {
		half := n / 2
		half -= half % 8
		return pairwise(x[:half]) + pairwise(x[half:])
	}
	if n < 8 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum
	}
	var r [8]float64
	whole := n - n%8
	for i, v := range x[:whole] {
		r[i%8] += v
	}
	sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for _, v := range x[whole:] {
		sum += v
	}
	return sum
}

// round rounds to two digits, as numpy does: halves to even, and the product with 100 is
// rounded as well.
func round(x float64) float64 { return math.RoundToEven(x*100) / 100 }

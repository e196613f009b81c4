package openb

import "math/bits"

// places are a list of places from which some are taken: a Fenwick tree of how many are left.
// Element i, from 1 on, counts the places of the range that ends there and is as long as the
// lowest bit of i.
type places []int32

func newPlaces(n int) places {
	p := make(places, n+1)
	for i := 1; i <= n; i++ {
		p[i] = int32(i & -i)
	}
	return p
}

// take takes the k-th of the places that are left, counted from 0, and returns it.
func (p places) take(k int) int {
	at := 0
	for step := 1 << bits.Len(uint(len(p)-1)) >> 1; step > 0; step /= 2 {
		if next := at + step; next < len(p) && int(p[next]) <= k {
			at, k = next, k-int(p[next])
		}
	}
	for i := at + 1; i < len(p); i += i & -i {
		p[i]--
	}
	return at
}

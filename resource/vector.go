package resource

import (
	"math"
	"math/bits"
)

// Vector is one int64 per dimension of a Schema.
type Vector []int64

// At returns element i, 0 beyond the length.
func (v Vector) At(i int) int64 {
	if uint(i) >= uint(len(v)) {
		return 0
	}
	return v[i]
}

// With sets element i to x, growing v if needed, and returns v.
func (v Vector) With(i int, x int64) Vector {
	v = v.grow(i + 1)
	v[i] = x
	return v
}

func (v Vector) grow(n int) Vector {
	for len(v) < n {
		v = append(v, 0)
	}
	return v
}

// Add adds w to v in place, growing v if needed, and returns v.
func (v Vector) Add(w Vector) Vector {
	v = v.grow(len(w))
	for i, x := range w {
		v[i] = SatAdd(v[i], x)
	}
	return v
}

// Sub subtracts w from v in place, growing v if needed, and returns v.
func (v Vector) Sub(w Vector) Vector {
	v = v.grow(len(w))
	for i, x := range w {
		v[i] = SatSub(v[i], x)
	}
	return v
}

// Equal reports whether v and w are equal, missing elements being 0.
func (v Vector) Equal(w Vector) bool {
	for i := range max(len(v), len(w)) {
		if v.At(i) != w.At(i) {
			return false
		}
	}
	return true
}

// SatAdd returns a + b, saturating.
func SatAdd(a, b int64) int64 {
	c := a + b
	if (a^c)&(b^c) < 0 {
		return limit(a < 0)
	}
	return c
}

// SatSub returns a - b, saturating.
func SatSub(a, b int64) int64 {
	c := a - b
	if (a^b)&(a^c) < 0 {
		return limit(a < 0)
	}
	return c
}

// SatMul returns a * b, saturating.
func SatMul(a, b int64) int64 {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	neg := (a < 0) != (b < 0)
	switch {
	case hi != 0 || lo > 1<<63 || (lo == 1<<63 && !neg):
		return limit(neg)
	case neg:
		return int64(-lo)
	}
	return int64(lo)
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

func limit(neg bool) int64 {
	if neg {
		return math.MinInt64
	}
	return math.MaxInt64
}

package resource

// Vector holds one int64 for each dimension of a [Schema]: thousandths of cpu at
// [IndexCPU], and whole units (bytes for memory and storage) at all other indexes.
// Elements beyond its end are 0, so a short Vector equals one padded with zeros,
// and nil is the zero vector. Do not mix vectors of different schemas.
//
// The methods that change a Vector work in place and return it, because it may have
// to move to grow. Use them like append:
//
//	total = total.Add(v)
type Vector []int64

// At returns element i, and 0 beyond the end of v.
func (v Vector) At(i int) int64 {
	if uint(i) >= uint(len(v)) {
		return 0
	}
	return v[i]
}

// With sets element i to x in place, growing v as needed, and returns v. i must be
// an index of the schema; a negative i panics, as for any slice.
func (v Vector) With(i int, x int64) Vector {
	v = v.grow(i + 1)
	v[i] = x
	return v
}

// Add adds w to v in place, growing v as needed, and returns v. Elements saturate
// at the ends of int64. w is not changed; it may be v itself.
func (v Vector) Add(w Vector) Vector {
	v = v.grow(len(w))
	for i, x := range w {
		v[i] = SatAdd(v[i], x)
	}
	return v
}

// Sub subtracts w from v in place, as [Vector.Add] adds it. It undoes an Add unless
// the Add saturated.
func (v Vector) Sub(w Vector) Vector {
	v = v.grow(len(w))
	for i, x := range w {
		v[i] = SatSub(v[i], x)
	}
	return v
}

// Equal reports whether v and w have the same elements; absent elements are 0.
func (v Vector) Equal(w Vector) bool {
	if len(v) > len(w) {
		v, w = w, v
	}
	if len(v) > 0 && &v[0] == &w[0] { // mostly only one was made for both
		v, w = nil, w[len(v):]
	}
	for i, x := range w {
		if v.At(i) != x {
			return false
		}
	}
	return true
}

// grow returns v, extended with zeros if it has fewer than n elements.
func (v Vector) grow(n int) Vector {
	if n <= len(v) {
		return v
	}
	return append(v, make(Vector, n-len(v))...)
}

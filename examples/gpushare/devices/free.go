package devices

// MaxGPUs is how many GPUs of a node are used. The formulas keep them in arrays, which
// need no memory of their own.
const MaxGPUs = 16

// A Free is what is free on a node: what all formulas read.
type Free struct {
	// CPU is in thousandths. It is negative on a node that holds too much.
	CPU int64
	// Model is the model of the node's GPUs.
	Model string
	// GPUs is how many there are, and Left holds how many thousandths of each are
	// left: the first GPUs elements.
	GPUs int
	Left [MaxGPUs]int32
	// Tags are the kinds of requests that are served there now.
	Tags Tags
}

// Total is the sum of what is left of all GPUs, in thousandths.
func (f *Free) Total() (sum int64) {
	for _, left := range f.Left[:f.GPUs] {
		sum += int64(left)
	}
	return sum
}

// Whole is how many GPUs nobody uses.
func (f *Free) Whole() (n int) {
	for _, left := range f.Left[:f.GPUs] {
		if left == MilliPerGPU {
			n++
		}
	}
	return n
}

// Fitting is how many GPUs have at least so much left.
func (f *Free) Fitting(milli int64) (n int64) {
	for _, left := range f.Left[:f.GPUs] {
		if int64(left) >= milli {
			n++
		}
	}
	return n
}

// Fits reports whether the GPUs of the node can serve the request: the model is accepted,
// and so many GPUs have enough left.
func (f *Free) Fits(r Request) bool {
	return r.Count == 0 || f.Fitting(r.Milli) >= r.Count && r.Accepts(f.Model)
}

// Tightest returns the GPUs for a request that fits: those with least left, the first of
// equals. For whole GPUs these are the first free ones.
func (f *Free) Tightest(r Request) (s Set) {
	for range r.Count {
		best := -1
		for i, left := range f.Left[:f.GPUs] {
			if int64(left) >= r.Milli && !s.Has(i) && (best < 0 || left < f.Left[best]) {
				best = i
			}
		}
		if best < 0 {
			return 0
		}
		s |= 1 << best
	}
	return s
}

// Without returns what is free once a pod with the demand has the GPUs of the set.
func (f Free) Without(d Demand, s Set) Free {
	f.CPU -= d.CPU
	for i := range f.GPUs {
		if s.Has(i) {
			f.Left[i] -= int32(d.GPU.Milli)
		}
	}
	return f
}

// Tags are a set of kinds of requests.
type Tags uint32

// shares is the tag of requests for a part of a GPU; tag n is that of n whole GPUs.
const shares Tags = 1

// TagOf returns the tag of a request, none if it asks for no GPU.
func TagOf(r Request) Tags {
	switch {
	case r.Count == 0:
		return 0
	case r.IsShare():
		return shares
	}
	return 1 << r.Count
}

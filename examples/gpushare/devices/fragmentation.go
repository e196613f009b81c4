package devices

import (
	"cmp"
	"slices"
)

// A Typical is a class of pods of a workload, and how often it comes.
type Typical struct {
	Demand
	// Weight is its part of the workload. The weights of all classes add up to 1.
	Weight float64
}

// TypicalPods groups pods by their demand and returns the most frequent groups, until they
// are at least that part of all pods: 0.95 in the paper. Groups of one size come in
// descending order of CPU, thousandths, GPUs and models. The parts are then scaled, so
// that they add up to 1.
func TypicalPods(pods []Demand, part float64) []Typical {
	counts := map[Demand]int{}
	for _, d := range pods {
		counts[d]++
	}
	groups := make([]Demand, 0, len(counts))
	for d := range counts {
		groups = append(groups, d)
	}
	slices.SortFunc(groups, func(a, b Demand) int {
		return cmp.Or(
			cmp.Compare(counts[b], counts[a]), cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.GPU.Milli, a.GPU.Milli),
			cmp.Compare(b.GPU.Count, a.GPU.Count), cmp.Compare(b.GPU.Models, a.GPU.Models),
		)
	})
	var typical []Typical
	sum := 0
	for _, d := range groups {
		typical = append(typical, Typical{d, float64(counts[d])})
		if sum += counts[d]; float64(sum) >= part*float64(len(pods)) {
			break
		}
	}
	covered := float64(sum) / float64(len(pods))
	for i := range typical { // in the original's two steps: the last bit of a weight decides ties
		typical[i].Weight = typical[i].Weight / float64(len(pods)) / covered
	}
	return typical
}

// Fragmentation is how many thousandths of a node's GPUs a pod of the workload is expected
// to be unable to use:
//
//	F = sum over typical pods m of weight(m) * unusable(m)
//
//	unusable(m)  what is left of all GPUs, if m does not fit or asks for no GPU;
//	             what is left of the GPUs with less left than m asks, if m fits
//
// The sum is made of one sum for each cause, in a fixed order, so
// the result is the same to the last bit everywhere.
func Fragmentation(free Free, workload []Typical) float64 {
	var sums [causes]float64
	total := free.Total()
	for i := range workload {
		m := &workload[i]
		why, amount := unusable(&free, &m.Demand, total)
		sums[why] += float64(m.Weight * float64(amount))
	}
	return sumOf(&sums)
}

// Why a pod cannot use what is left of GPUs.
const (
	lacksBoth  = iota // CPU and GPUs
	lacksGPU          // or fits, and some GPUs have too little left
	lacksCPU          // but there are enough GPUs
	noGPU             // the pod asks for no GPU; there is CPU for it
	noGPUNoCPU        // the pod asks for no GPU, and there is too little CPU
	wrongModel
	causes
)

// unusable says how much of the GPUs a pod cannot use, and why.
func unusable(free *Free, d *Demand, total int64) (why int, amount int64) {
	enoughCPU := free.CPU >= d.CPU
	if d.GPU.Count == 0 {
		if enoughCPU {
			return noGPU, total
		}
		return noGPUNoCPU, total
	}
	if d.GPU.Models != "" && !d.GPU.Accepts(free.Model) {
		return wrongModel, total
	}
	fitting, small, least := int64(0), int64(0), int32(d.GPU.Milli)
	for _, left := range free.Left[:free.GPUs] {
		if left >= least {
			fitting++
		} else {
			small += int64(left)
		}
	}
	switch enough := fitting >= d.GPU.Count; {
	case enough && enoughCPU:
		return lacksGPU, small
	case enough:
		return lacksCPU, total
	case enoughCPU:
		return lacksGPU, total
	}
	return lacksBoth, total
}

// sumOf adds up the causes in their order.
func sumOf(sums *[causes]float64) (f float64) {
	for _, s := range sums {
		f += s
	}
	return f
}

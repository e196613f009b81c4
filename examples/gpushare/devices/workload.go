package devices

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
)

// A Workload is a list of typical pods. It keeps the scores of
// what it has seen, in bounded memory, so that most are looked up. Goroutines may share it.
type Workload struct {
	typical []Typical
	cpus    []int64     // the different amounts of CPU asked, ascending
	models  []string    // that some pod names
	least   [256]uint16 // served by CPU>>shift, or a little less
	shift   uint
	known   [knownMost]atomic.Pointer[landing]
}

// NewWorkload returns the workload of the typical pods. It is an error if a weight is not
// a number from 0 to 1, or a demand is negative or exceeds its bounds.
func NewWorkload(typical []Typical) (*Workload, error) {
	w := &Workload{typical: slices.Clone(typical)}
	for i, t := range typical {
		r := t.GPU
		switch {
		case !(t.Weight >= 0 && t.Weight <= 1):
			return nil, fmt.Errorf("typical[%d].Weight: %v: want 0 to 1", i, t.Weight)
		case t.CPU < 0:
			return nil, fmt.Errorf("typical[%d].CPU: %d: must not be negative", i, t.CPU)
		case r.Count < 0 || r.Count > MaxGPUs:
			return nil, fmt.Errorf("typical[%d].GPU.Count: %d: want 0 to %d", i, r.Count, MaxGPUs)
		case r.Milli < 0 || r.Milli > MilliPerGPU || (r.Milli == 0) != (r.Count == 0):
			return nil, fmt.Errorf("typical[%d].GPU.Milli: %d of each of %d GPUs: want 1 to %d, or 0 of none", i, r.Milli, r.Count, MilliPerGPU)
		}
		w.cpus = append(w.cpus, t.CPU)
		if r.Models != "" {
			w.models = append(w.models, strings.Split(r.Models, "|")...)
		}
	}
	slices.Sort(w.cpus)
	w.cpus = slices.Compact(w.cpus)
	for len(w.cpus) > 0 && w.cpus[len(w.cpus)-1]>>w.shift >= int64(len(w.least)) {
		w.shift++
	}
	for i := range w.least {
		k, _ := slices.BinarySearch(w.cpus, int64(i)<<w.shift)
		w.least[i] = uint16(k)
	}
	slices.Sort(w.models)
	w.models = slices.Compact(w.models)
	if len(w.cpus) > math.MaxUint16 || len(w.models) > math.MaxUint16 {
		return nil, fmt.Errorf("%d amounts of CPU and %d models: want at most %d each", len(w.cpus), len(w.models), math.MaxUint16)
	}
	return w, nil
}

// Typical returns the typical pods.
func (w *Workload) Typical() []Typical { return slices.Clone(w.typical) }

// A step is all that the score of a node for a demand depends on: how much is left of its
// GPUs, which typical pods find enough CPU before and after, which accept the model, and
// what is asked of GPUs. The same steps are taken again and again, on many nodes and by
// many classes of pods.
type step struct {
	left          [2]uint64 // 16 bits for each GPU
	before, after uint16    // how many of Workload.cpus there are
	model         uint16    // its place in Workload.models
	milli         uint16
	gpus, count   uint8
}

// A landing is where a step leads.
type landing struct {
	step  step
	score int8
	gpu   int8 // for a share, else -1
}

// Bounds: nodes with more GPUs are computed anew each time, and of two steps with one place
// the last one is kept.
const (
	keptGPUs  = 8
	knownMost = 1 << 15
)

// stepOf returns the step of a node, if it can be kept.
func (w *Workload) stepOf(free *Free, d Demand) (s step, ok bool) {
	if free.GPUs > keptGPUs {
		return s, false
	}
	for i, left := range free.Left[:free.GPUs] {
		s.left[i/4] |= uint64(uint16(left)) << (i % 4 * 16)
	}
	s.before, s.after = w.served(free.CPU), w.served(free.CPU-d.CPU)
	for int(s.model) < len(w.models) && w.models[s.model] != free.Model {
		s.model++
	}
	s.gpus, s.count, s.milli = uint8(free.GPUs), uint8(d.GPU.Count), uint16(d.GPU.Milli)
	return s, true
}

func (s *step) hash() uint64 {
	rest := uint64(s.before)<<48 | uint64(s.after)<<32 | uint64(s.milli)<<16 | uint64(s.model)<<8 | uint64(s.count)
	h := s.left[0]*0x9e3779b97f4a7c15 ^ s.left[1]*0xc2b2ae3d27d4eb4f ^ rest*0x165667b19e3779f9
	return h ^ h>>29 ^ h>>47
}

// descend returns the score of [FGD] for a node that the pod fits, and for a share the GPU
// that gives it, else -1. It looks them up, or computes and keeps them.
func (w *Workload) descend(free *Free, d Demand) (score int64, gpu int) {
	s, ok := w.stepOf(free, d)
	if !ok {
		return descend(*free, d, w.typical)
	}
	at := &w.known[s.hash()%knownMost]
	if l := at.Load(); l != nil && l.step == s {
		return int64(l.score), int(l.gpu)
	}
	score, gpu = descend(*free, d, w.typical)
	at.Store(&landing{s, int8(score), int8(gpu)})
	return score, gpu
}

// served is how many of Workload.cpus an amount of CPU is enough for.
func (w *Workload) served(cpu int64) uint16 {
	k := w.least[min(max(cpu, 0)>>w.shift, int64(len(w.least)-1))]
	for int(k) < len(w.cpus) && w.cpus[k] <= cpu {
		k++
	}
	return k
}

// descend is the plain form of Workload.descend.
func descend(free Free, d Demand, typical []Typical) (score int64, gpu int) {
	before := Fragmentation(free, typical)
	if !d.GPU.IsShare() {
		return steepness(before, Fragmentation(free.Without(d, free.Tightest(d.GPU)), typical)), -1
	}
	score, gpu = 0, -1
	for i, left := range free.Left[:free.GPUs] {
		if int64(left) < d.GPU.Milli || slices.Contains(free.Left[:i], left) {
			continue // or an equal GPU was tried, and the first of equals counts
		}
		if s := steepness(before, Fragmentation(free.Without(d, 1<<i), typical)); s > score || gpu < 0 {
			score, gpu = s, i
		}
	}
	return score, gpu
}

// steepness maps a change of fragmentation to a score: 50 for none, more if it shrinks.
func steepness(before, after float64) int64 {
	x := (before - after) / MilliPerGPU
	return int64(1 / (1 + math.Exp(-x)) * 100)
}

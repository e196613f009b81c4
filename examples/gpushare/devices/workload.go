package devices

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Workload is a list of typical pods, prepared for [FGD]. Goroutines may share it.
type Workload struct {
	typical []Typical
	pods    []typicalPod // the same, as steps read them
	cpus    []int64      // the different amounts of CPU asked, ascending
	models  []string     // that some pod names
	least   [256]uint16  // served by CPU>>shift, or a little less
	shift   uint
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
	w.prepare()
	return w, nil
}

// prepare finds what steps read of the typical pods.
func (w *Workload) prepare() {
	for i := range w.typical {
		t := &w.typical[i]
		p := typicalPod{weight: t.Weight, milli: uint64(t.GPU.Milli) * laneOnes, count: int(t.GPU.Count)}
		k, _ := slices.BinarySearch(w.cpus, t.CPU)
		p.cpu = uint16(k)
		if t.GPU.Models != "" {
			p.wrong = make([]bool, len(w.models)+1)
			for m := range p.wrong {
				p.wrong[m] = m == len(w.models) || !t.GPU.Accepts(w.models[m])
			}
		}
		w.pods = append(w.pods, p)
	}
}

// Typical returns the typical pods.
func (w *Workload) Typical() []Typical { return slices.Clone(w.typical) }

// A typicalPod is a typical pod as steps read it.
type typicalPod struct {
	weight float64
	milli  uint64 // in each lane
	count  int
	cpu    uint16 // place in Workload.cpus
	wrong  []bool // by place in Workload.models, one more for other models; nil if all are accepted
}

// A step is all that the score of a node for a demand depends on: how much is left of its
// GPUs, which typical pods find enough CPU before and after, which accept the model, and
// what is asked of GPUs. The same steps are taken on many nodes, so they make the keys of
// nodes.
type step struct {
	left          lanes
	before, after uint16 // how many of Workload.cpus there are
	model         uint16 // its place in Workload.models
	milli         uint16
	gpus, count   uint8
}

// appendKey appends what steps for one demand differ in, or all that is free on a node with
// many GPUs. A GPU with nothing left is as good as none.
func (w *Workload) appendKey(b []byte, r *room, cpu int64, d Demand) []byte {
	if r.gpus > lanesMost {
		b = binary.LittleEndian.AppendUint64(b, uint64(cpu))
		for _, left := range r.left[:r.gpus] {
			b = binary.LittleEndian.AppendUint32(b, uint32(left))
		}
		return append(b, r.model...)
	}
	s := w.step(r, cpu, d)
	b = binary.LittleEndian.AppendUint64(b, s.left[0])
	b = binary.LittleEndian.AppendUint64(b, s.left[1])
	return binary.LittleEndian.AppendUint64(b, uint64(s.before)|uint64(s.after)<<16|uint64(s.model)<<32)
}

// step is what placing a pod on a node with few GPUs does.
func (w *Workload) step(r *room, cpu int64, d Demand) step {
	s := step{
		left: r.lanes, before: w.served(cpu), after: w.served(cpu - d.CPU), milli: uint16(d.GPU.Milli),
		gpus: uint8(r.gpus), count: uint8(d.GPU.Count),
	}
	for int(s.model) < len(w.models) && w.models[s.model] != r.model {
		s.model++
	}
	return s
}

// descend returns the score of [FGD] for a node that the pod fits, and for a share the GPU
// that gives it, else -1. Nodes with many GPUs are computed in the plain way.
func (w *Workload) descend(r *room, cpu int64, d Demand) (score int64, gpu int) {
	if r.gpus > lanesMost {
		return descend(r.with(cpu), d, w.typical)
	}
	s := w.step(r, cpu, d)
	return w.take(&s)
}

// descendFrom is descend for what is free on a node. Amounts out of bounds, which no node
// has, are computed in the plain way.
func (w *Workload) descendFrom(free *Free, d Demand) (score int64, gpu int) {
	r := room{gpus: free.GPUs, model: free.Model, left: free.Left, tags: free.Tags}
	sound := d.GPU.Milli >= 0 && d.GPU.Milli <= MilliPerGPU && d.GPU.Count >= 0 && d.GPU.Count <= MaxGPUs
	for _, left := range r.left[:r.gpus] {
		sound = sound && left >= 0 && left <= MilliPerGPU
	}
	if !sound {
		return descend(*free, d, w.typical)
	}
	r.sum()
	return w.descend(&r, free.CPU, d)
}

// take computes where a step leads: descend, but for all GPUs at once.
func (w *Workload) take(s *step) (score int64, gpu int) {
	before := w.fragmentation(s.left, s.before, s.model)
	milli := int32(s.milli)
	if !(Request{Count: int64(s.count), Milli: int64(s.milli)}).IsShare() {
		return steepness(before, w.fragmentation(s.whole(), s.after, s.model)), -1
	}
	score, gpu = 0, -1
	for i := range int(s.gpus) {
		left := s.left.at(i)
		if left < milli || s.left.has(left, i) {
			continue // or an equal GPU was tried, and the first of equals counts
		}
		after := s.left
		after.add(i, -milli)
		if x := steepness(before, w.fragmentation(after, s.after, s.model)); x > score || gpu < 0 {
			score, gpu = x, i
		}
	}
	return score, gpu
}

// whole is what is left once a request for whole GPUs has those with least left.
func (s *step) whole() lanes {
	var f Free
	f.GPUs = int(s.gpus)
	for i := range f.GPUs {
		f.Left[i] = s.left.at(i)
	}
	after := s.left
	takes := f.Tightest(Request{Count: int64(s.count), Milli: int64(s.milli)})
	for i := range f.GPUs {
		if takes.Has(i) {
			after.add(i, -int32(s.milli))
		}
	}
	return after
}

// fragmentation is [Fragmentation] of a node with few GPUs.
func (w *Workload) fragmentation(left lanes, served, model uint16) float64 {
	var sums [causes]float64
	total := left.total()
	for i := range w.pods {
		m := &w.pods[i]
		why, amount := lacksBoth, total
		switch enough := m.cpu < served; {
		case m.count == 0 && enough:
			why = noGPU
		case m.count == 0:
			why = noGPUNoCPU
		case m.wrong != nil && m.wrong[model]:
			why = wrongModel
		default:
			fitting, large := left.fitting(m.milli)
			switch {
			case fitting >= m.count && enough:
				why, amount = lacksGPU, total-large
			case fitting >= m.count:
				why = lacksCPU
			case enough:
				why = lacksGPU
			}
		}
		sums[why] += float64(m.weight * float64(amount))
	}
	return sumOf(&sums)
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

package simulate

// samplesMost bounds [Result.Series]. An hourly sample of fifty years, which a trace of one pod
// asks for, would take 40 MB, and its page 220.
const samplesMost = 10_000

// measures is how many numbers of a sample have their greatest value kept.
const measures = 6

// measured are these numbers.
func (x *Sample) measured() [measures]float64 {
	return [measures]float64{float64(x.Nodes), float64(x.Running), float64(x.Waiting), x.CPU, x.Memory, x.Fragmented}
}

// samples are those that are kept of all that are taken, at most a number.
//
// Invariant: number says which of all each sample is, from 0. Kept are all whose number is a
// multiple of stride, the first ones with the greatest value of a number, the last one, and until
// the next sweep some that had the greatest value before.
type samples struct {
	list   []Sample
	number []int
	taken  int
	stride int // a power of two
	best   [measures]float64
	at     [measures]int // the numbers of the samples with these
}

// add takes a sample. It costs O(1), in the mean of many.
func (s *samples) add(x Sample, most int) {
	if s.taken == 0 {
		s.stride, s.best = 1, x.measured()
	}
	for i, v := range x.measured() {
		if v > s.best[i] {
			s.best[i], s.at[i] = v, s.taken
		}
	}
	if last := len(s.list) - 1; last >= 0 && !s.keeps(s.number[last]) {
		s.list, s.number = s.list[:last], s.number[:last]
	}
	if len(s.list) >= most {
		s.thin(most / 4 * 3)
	}
	s.list, s.number = append(s.list, x), append(s.number, s.taken)
	s.taken++
}

// all returns the samples in the order of time.
func (s *samples) all() []Sample {
	if len(s.list) == 0 {
		return []Sample{}
	}
	last := s.list[len(s.list)-1]
	if s.sweep(); len(s.list) == 0 || s.list[len(s.list)-1] != last {
		s.list, s.number = append(s.list, last), append(s.number, s.taken-1)
	}
	return s.list
}

// keeps reports whether a sample that is not the last is kept.
func (s *samples) keeps(number int) bool {
	if number%s.stride == 0 {
		return true
	}
	for _, at := range s.at {
		if number == at {
			return true
		}
	}
	return false
}

// thin leaves out what need not be kept, and then every second sample until there are no more
// than a number, which is above twice that of the measures.
func (s *samples) thin(most int) {
	for s.sweep(); len(s.list) > most; s.sweep() {
		s.stride *= 2
	}
}

func (s *samples) sweep() {
	kept := 0
	for i, number := range s.number {
		if s.keeps(number) {
			s.list[kept], s.number[kept] = s.list[i], number
			kept++
		}
	}
	s.list, s.number = s.list[:kept], s.number[:kept]
}

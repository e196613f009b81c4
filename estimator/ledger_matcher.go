package estimator

import (
	"math/bits"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// A matcher finds the pods of an account that the reports of a metric are about.
// Little changes from one metric of a node to the next: mostly nothing, which
// takes one look at each report, in order. Otherwise a report is compared with
// the pod that was next the last time and, if it is about another one, looked up
// by name.
type matcher struct {
	// strangers are the reports that are about none of the pods, by place, once
	// run has returned.
	strangers []int32

	before []int32 // matches.order of the metric before
	next   int     // which of it is to come
	wrong  int     // how often it was none of the next

	// table has a pod + 1, or 0, at the hash of its name or, where others are,
	// behind it. It is empty until it is needed.
	table []int32
}

const (
	ahead  = 3 // how many pods in a row may have gone without a look-up by name
	trials = 8 // how many look-ups show that the order is another one
)

// run matches anew. It returns false if reports and pods do not match one to one,
// apart from those that have no counterpart.
func (s *matcher) run(m *matches, metric *api.NodeMetric) bool {
	s.strangers = s.strangers[:0]
	if metric == nil {
		for i := range m.places {
			m.places[i] = unreported
		}
		m.missing, m.own, m.repeated, m.strange = len(m.places), false, false, m.strange[:0]
		return true
	}
	if reports := metric.Status.PodsMetric; !m.unchanged(reports) {
		s.match(m, reports)
	}
	return !m.repeated && !m.namesakes
}

func (s *matcher) match(m *matches, reports []*api.PodMetricInfo) {
	s.before, s.next, s.wrong, s.table = append(s.before[:0], m.order...), 0, 0, s.table[:0]
	m.repeated, m.strange, m.text = false, m.strange[:0], ""
	for i := range m.places {
		m.places[i] = unreported
	}
	if m.namesakes {
		s.index(m)
	}
	m.order = slices.Grow(m.order[:0], len(reports))[:len(reports)]
	for k, r := range reports {
		m.order[k] = stranger
		switch {
		case r == nil:
		case !m.namesakes && s.guess(m, r):
			s.note(m, s.before[s.next-1], k, r)
		case !s.lookUp(m, k, r):
			s.strangers = append(s.strangers, int32(k))
			if s.next < len(s.before) && s.before[s.next] == stranger {
				s.next++ // the same one, most likely
			}
		}
	}
	m.missing = 0
	for _, place := range m.places {
		m.count(place, 1)
	}
	m.own = !m.repeated && !m.namesakes && len(m.places)-m.missing == len(reports)
}

// guess reports whether the report is about the pod s.before[s.next-1].
func (s *matcher) guess(m *matches, r *api.PodMetricInfo) bool {
	if s.wrong == trials {
		return false
	}
	for at := s.next; at < min(s.next+ahead, len(s.before)); at++ {
		if i := int(s.before[at]); i >= 0 && i < len(m.names) && m.names[i].is(r) {
			s.next = at + 1
			return true
		}
	}
	s.wrong++
	return false
}

// note notes that report k is about pod i.
func (s *matcher) note(m *matches, i int32, k int, r *api.PodMetricInfo) {
	m.repeated = m.repeated || m.places[i] != unreported
	m.places[i] = later(m.places[i], k, r)
	m.order[k] = i
}

// lookUp notes the pods that have the name of report k, or that none has.
func (s *matcher) lookUp(m *matches, k int, r *api.PodMetricInfo) (found bool) {
	if len(s.table) == 0 {
		s.index(m)
	}
	h := podName{r.Namespace, r.Name}.hash()
	for at := s.start(h); s.table[at] != 0; at = s.after(at) {
		if i := s.table[at] - 1; m.hashes[i] == h && m.names[i].is(r) {
			s.note(m, i, k, r)
			if found = true; !m.namesakes {
				break
			}
		}
	}
	if !found {
		m.strange = append(m.strange, h)
	}
	return found
}

// index fills the table, which is at most half full, and notes whether there are
// namesakes.
func (s *matcher) index(m *matches) {
	size := 2 << bits.Len(uint(len(m.names)))
	s.table = slices.Grow(s.table[:0], size)[:size]
	clear(s.table)
	m.namesakes = false
	for i, h := range m.hashes {
		at := s.start(h)
		for ; s.table[at] != 0; at = s.after(at) {
			other := s.table[at] - 1
			m.namesakes = m.namesakes || m.hashes[other] == h && m.names[other] == m.names[i]
		}
		s.table[at] = int32(i) + 1
	}
}

func (s *matcher) start(h uint64) int { return int(h) & (len(s.table) - 1) }

func (s *matcher) after(at int) int { return (at + 1) & (len(s.table) - 1) }

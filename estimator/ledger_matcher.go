package estimator

import (
	"math/bits"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// A matcher finds the pod of each report in a metric. Little changes from one
// metric of a node to the next. Usually nothing does, and a match costs one
// comparison for each report, in order. Otherwise the matcher compares each report
// with the next pods in the previous order and, if none of them matches, looks it
// up by name.
type matcher struct {
	// strangers are the indexes of the reports about no pod of the account, after
	// run.
	strangers []int32

	before []int32 // matches.order of the previous metric
	next   int     // index of the next entry of before
	wrong  int     // number of reports that matched none of the next entries

	// table is a hash table with linear probing from names to pod index + 1, or 0.
	// It is empty until it is needed.
	table []int32
}

const (
	ahead  = 3 // how many pods in a row may have disappeared without a look-up by name
	trials = 8 // after so many look-ups the order counts as changed
)

// run matches the reports with the pods. It returns false if a pod may have several
// reports, or a report several pods.
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
				s.next++ // probably the same stranger
			}
		}
	}
	m.missing = 0
	for _, place := range m.places {
		m.count(place, 1)
	}
	m.own = !m.repeated && !m.namesakes && len(m.places)-m.missing == len(reports)
}

// guess reports whether the report is about the pod s.before[s.next-1], and
// advances next.
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

// note records that report k is about pod i.
func (s *matcher) note(m *matches, i int32, k int, r *api.PodMetricInfo) {
	m.repeated = m.repeated || m.places[i] != unreported
	m.places[i] = later(m.places[i], k, r)
	m.order[k] = i
}

// lookUp records the pods with the name of report k, or that there are none.
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

// index fills the table, which is at most half full, and detects namesakes.
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

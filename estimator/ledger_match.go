package estimator

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// podName is how a metric names a pod.
type podName struct{ namespace, name string }

func nameOf(p *framework.Pod) podName { return podName{p.Namespace, p.Name} }

func (n podName) hash() uint64 { return hash(hash(offset64, n.namespace)*prime64, n.name) }

func (n podName) is(r *framework.PodMetricInfo) bool {
	return r.Name == n.name && r.Namespace == n.namespace
}

// matches say where the metric of an account reports each of its pods. A report
// without any usage does not count, and of several for one name the last does.
type matches struct {
	names   []podName
	hashes  []uint64 // of the names
	places  []int32  // of the report, or unreported
	missing int      // how many pods are not reported
	twice   bool     // some name is reported more than once

	// own tells that every report is about one of the pods, each about another
	// one. shared tells that two pods may have one place; else they have not.
	own, shared bool
}

const unreported = -1

func (m *matches) clone() matches {
	c := *m
	c.names, c.hashes, c.places = slices.Clone(m.names), slices.Clone(m.hashes), slices.Clone(m.places)
	return c
}

// enter looks up the next pod.
func (m *matches) enter(metric *framework.NodeMetric, name podName) {
	h := name.hash()
	place := int32(unreported)
	switch {
	case metric == nil:
	case m.own:
		// Reported is who has the name of a pod that is. Hashes are all that
		// memory has to be read for.
		for i, other := range m.hashes {
			if other == h && m.names[i] == name {
				place = m.places[i]
			}
		}
	default:
		for i, r := range metric.Status.PodsMetric {
			if r != nil && name.is(r) && len(r.PodUsage.ResourceList) > 0 {
				m.twice = m.twice || place != unreported
				place = int32(i)
			}
		}
	}
	m.shared = m.shared || place != unreported && slices.Contains(m.places, place)
	m.names, m.hashes, m.places = append(m.names, name), append(m.hashes, h), append(m.places, place)
	m.count(place, 1)
}

// drop forgets pod i; the last one takes its place.
func (m *matches) drop(i int) {
	last := len(m.names) - 1
	m.own = m.own && !m.reported(i) // its report is about a stranger now
	m.count(m.places[i], -1)
	m.names[i], m.hashes[i], m.places[i] = m.names[last], m.hashes[last], m.places[last]
	m.names[last] = podName{}
	m.names, m.hashes, m.places = m.names[:last], m.hashes[:last], m.places[:last]
}

func (m *matches) count(place int32, by int) {
	if place == unreported {
		m.missing += by
	}
}

// reported reports whether the metric knows pod i.
func (m *matches) reported(i int) bool { return m.places[i] != unreported }

// prod reports whether some report of pod i, which there is, calls it prod.
func (m *matches) prod(metric *framework.NodeMetric, i int) bool {
	reports := metric.Status.PodsMetric
	if !m.twice {
		return reports[m.places[i]].Priority == string(PriorityProd)
	}
	return slices.ContainsFunc(reports, func(r *framework.PodMetricInfo) bool {
		return r != nil && m.names[i].is(r) && len(r.PodUsage.ResourceList) > 0 && r.Priority == string(PriorityProd)
	})
}

// A matcher finds the reports of all pods of an account at once. Little changes
// from one metric of a node to the next, so a pod is looked for first where it
// was reported last. If that explains the metric, the cost is that of looking at
// each report once, in order, which memory rewards; otherwise the metric is
// indexed by name, which takes five times as long.
type matcher struct {
	explained []bool
	index     map[podName]int32
}

// strangers is how many reports of other pods are compared one by one before an
// index pays.
const strangers = 4

// run matches anew. It returns true if it knows that every report is about a pod
// of the account.
func (s *matcher) run(m *matches, metric *framework.NodeMetric) bool {
	m.own = false
	if metric == nil {
		for i := range m.places {
			m.places[i] = unreported
		}
		m.missing, m.twice, m.shared = len(m.places), false, false
		return true
	}
	reports := metric.Status.PodsMetric
	if s.runInPlace(m, reports) {
		m.own = len(reports) == len(m.names)
		return m.own
	}
	s.runIndexed(m, reports)
	return m.own
}

// runInPlace reports whether every pod is where it was, and no other report is
// about one of them. Two pods of one name were found in one place, and are not
// matched here.
func (s *matcher) runInPlace(m *matches, reports []*framework.PodMetricInfo) bool {
	names := m.names
	places := m.places[:len(names)]
	if m.missing > 0 || m.shared || len(reports) < len(names) || len(reports) > len(names)+strangers {
		return false
	}
	// The first loop is there for its loads: it is short, so that the processor
	// waits for a dozen reports at a time and not for three.
	for i, place := range places {
		if int(place) >= len(reports) {
			return false
		}
		r := reports[place]
		if r == nil || len(r.Name) != len(names[i].name) || len(r.PodUsage.ResourceList) == 0 {
			return false
		}
	}
	for i, place := range places {
		if !names[i].is(reports[place]) {
			return false
		}
	}
	m.twice = false
	return len(reports) == len(names) || s.onlyStrangers(m, reports)
}

// onlyStrangers reports whether no report but those in place is about a pod.
func (s *matcher) onlyStrangers(m *matches, reports []*framework.PodMetricInfo) bool {
	s.explained = append(s.explained[:0], make([]bool, len(reports))...)
	for _, place := range m.places {
		s.explained[place] = true
	}
	for k, r := range reports {
		if s.explained[k] || r == nil {
			continue
		}
		if slices.ContainsFunc(m.names, func(n podName) bool { return n.is(r) }) {
			return false
		}
	}
	return true
}

func (s *matcher) runIndexed(m *matches, reports []*framework.PodMetricInfo) {
	if s.index == nil {
		s.index = make(map[podName]int32, len(reports))
	}
	clear(s.index)
	m.twice = false
	for k, r := range reports {
		if r == nil || len(r.PodUsage.ResourceList) == 0 {
			continue
		}
		name := podName{r.Namespace, r.Name}
		before := len(s.index)
		s.index[name] = int32(k)
		m.twice = m.twice || len(s.index) == before
	}
	m.missing, m.shared = 0, false
	s.explained = append(s.explained[:0], make([]bool, len(reports))...)
	strange := len(reports)
	for i, name := range m.names {
		place, ok := s.index[name]
		switch {
		case !ok:
			place = unreported
		case s.explained[place]:
			m.shared = true
		default:
			s.explained[place] = true
			strange--
		}
		m.places[i] = place
		m.count(place, 1)
	}
	m.own = strange == 0
}

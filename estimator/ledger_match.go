package estimator

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// podName is how a metric names a pod.
type podName struct{ namespace, name string }

func nameOf(p *framework.Pod) podName { return podName{p.Namespace, p.Name} }

func (n podName) is(r *framework.PodMetricInfo) bool {
	return r.Name == n.name && r.Namespace == n.namespace
}

// matches say where the metric of an account reports each of its pods. A report
// without any usage does not count, and of several for one name the last does.
type matches struct {
	names   []podName
	places  []int32 // of the report, or unreported
	missing int     // how many pods are not reported
	twice   bool    // some name is reported more than once
}

const unreported = -1

func (m *matches) clone() matches {
	c := *m
	c.names, c.places = slices.Clone(m.names), slices.Clone(m.places)
	return c
}

// enter looks up the next pod.
func (m *matches) enter(metric *framework.NodeMetric, name podName) {
	place := int32(unreported)
	if metric != nil {
		for i, r := range metric.Status.PodsMetric {
			if r != nil && name.is(r) && len(r.PodUsage.ResourceList) > 0 {
				m.twice = m.twice || place != unreported
				place = int32(i)
			}
		}
	}
	m.names, m.places = append(m.names, name), append(m.places, place)
	m.count(place, 1)
}

// drop forgets pod i; the last one takes its place.
func (m *matches) drop(i int) {
	last := len(m.names) - 1
	m.count(m.places[i], -1)
	m.names[i], m.places[i] = m.names[last], m.places[last]
	m.names[last] = podName{}
	m.names, m.places = m.names[:last], m.places[:last]
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
	if metric == nil {
		for i := range m.places {
			m.places[i] = unreported
		}
		m.missing, m.twice = len(m.places), false
		return true
	}
	if s.runInPlace(m, metric.Status.PodsMetric) {
		return len(metric.Status.PodsMetric) == len(m.names)
	}
	s.runIndexed(m, metric.Status.PodsMetric)
	return false
}

// runInPlace reports whether every pod is where it was, and no other report is
// about one of them. Two pods of one name were found in one place, and are not
// matched here.
func (s *matcher) runInPlace(m *matches, reports []*framework.PodMetricInfo) bool {
	if m.missing > 0 || len(reports) < len(m.names) || len(reports) > len(m.names)+strangers {
		return false
	}
	s.explained = append(s.explained[:0], make([]bool, len(reports))...)
	for i, place := range m.places {
		if int(place) >= len(reports) || s.explained[place] {
			return false
		}
		r := reports[place]
		if r == nil || !m.names[i].is(r) || len(r.PodUsage.ResourceList) == 0 {
			return false
		}
		s.explained[place] = true
	}
	m.twice = false
	if len(reports) == len(m.names) {
		return true
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
	m.missing = 0
	for i, name := range m.names {
		place, ok := s.index[name]
		if !ok {
			place = unreported
		}
		m.places[i] = place
		m.count(place, 1)
	}
}

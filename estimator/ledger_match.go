package estimator

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/berth-sched/berth/framework/api"
)

// podName is how a metric names a pod.
type podName struct{ namespace, name string }

func nameOf(p *api.Pod) podName { return podName{p.Namespace, p.Name} }

func (n podName) is(r *api.PodMetricInfo) bool {
	return r.Name == n.name && r.Namespace == n.namespace
}

// matches say where the metric of an account reports each of its pods. A report
// without any usage does not count, and of several for one name the last does.
type matches struct {
	names   []podName
	hashes  []uint64 // of the names
	places  []int32  // of the report, or unreported, or unused
	missing int      // how many pods have no place

	// order is the pod that each report is about, or stranger. It is that of the
	// last metric, and a guess for the next.
	order []int32

	// strange are the hashes of names that are reported and none of the pods has:
	// of all such names, and maybe of some that a pod has had or has since.
	strange []uint64

	// text is the names of the pods, side by side in the order of the reports, if
	// own is true and the last metric had strings of its own.
	text string

	// own tells that every report is about one of the pods, each about another
	// one, and that all have usage; order then leads to and fro with places.
	own bool
	// repeated tells that some pod may be reported more than once, namesakes that
	// two pods may have one name.
	repeated, namesakes bool
}

// What stands for a place, or a pod, that there is not.
const (
	unreported = -1
	unused     = -2 // reported without usage
	stranger   = -1
)

func (m *matches) clone() matches {
	c := *m
	c.names, c.hashes = slices.Clone(m.names), slices.Clone(m.hashes)
	c.places, c.order, c.strange = slices.Clone(m.places), slices.Clone(m.order), slices.Clone(m.strange)
	return c
}

// enter looks up the next pod.
func (m *matches) enter(metric *api.NodeMetric, name podName) {
	h, place, namesake := name.hash(), int32(unreported), false
	for i, other := range m.hashes { // hashes are all that memory has to be read for
		if other == h && m.names[i] == name {
			place, namesake = m.places[i], true
		}
	}
	switch {
	case namesake:
		m.namesakes, m.own = true, false
	case metric != nil && slices.Contains(m.strange, h):
		for k, r := range metric.Status.PodsMetric {
			if r != nil && name.is(r) {
				m.repeated = m.repeated || place != unreported
				place = later(place, k, r)
			}
		}
	}
	m.names, m.hashes, m.places = append(m.names, name), append(m.hashes, h), append(m.places, place)
	m.count(place, 1)
}

// later returns the place of a pod which has had the given one, and which
// report k is about.
func later(place int32, k int, r *api.PodMetricInfo) int32 {
	switch {
	case !r.PodUsage.IsZero():
		return int32(k)
	case place == unreported:
		return unused
	}
	return place
}

// drop forgets pod i; the last one takes its place.
func (m *matches) drop(i int) {
	last := len(m.names) - 1
	m.own = m.own && !m.reported(i) // its report is about a stranger now
	if m.places[i] != unreported && !slices.Contains(m.strange, m.hashes[i]) {
		m.strange = append(m.strange, m.hashes[i])
	}
	m.count(m.places[i], -1)
	if k := m.places[last]; k >= 0 {
		m.order[k] = int32(i)
	}
	if k := m.places[i]; k >= 0 {
		m.order[k] = stranger
	}
	m.names[i], m.hashes[i], m.places[i] = m.names[last], m.hashes[last], m.places[last]
	m.names[last] = podName{}
	m.names, m.hashes, m.places = m.names[:last], m.hashes[:last], m.places[:last]
}

func (m *matches) count(place int32, by int) {
	if place < 0 {
		m.missing += by
	}
}

// reported reports whether the metric knows pod i.
func (m *matches) reported(i int) bool { return m.places[i] >= 0 }

// mentions reports whether the metric has a report of a name with that hash. It may
// say so of a name that none has.
func (m *matches) mentions(hash uint64) bool {
	for i, h := range m.hashes {
		if h == hash && m.places[i] != unreported {
			return true
		}
	}
	return slices.Contains(m.strange, hash)
}

// prod reports whether some report of pod i, which there is, calls it prod.
func (m *matches) prod(metric *api.NodeMetric, i int) bool {
	reports := metric.Status.PodsMetric
	if !m.repeated {
		return reports[m.places[i]].Priority == string(PriorityProd)
	}
	return slices.ContainsFunc(reports, func(r *api.PodMetricInfo) bool {
		return r != nil && m.names[i].is(r) && !r.PodUsage.IsZero() && r.Priority == string(PriorityProd)
	})
}

// unchanged reports whether the reports are about the same pods in the same order
// as those before, of which own was true.
func (m *matches) unchanged(reports []*api.PodMetricInfo) bool {
	order, names := m.order, m.names
	if !m.own || len(reports) != len(order) {
		return false
	}
	// The first loop is there for its loads: it is short, so that the processor
	// waits for a dozen reports at a time and not for three.
	for k, r := range reports {
		if r == nil || len(r.Name) != len(names[order[k]].name) || r.PodUsage.IsZero() {
			return false
		}
	}
	if len(reports) == 0 {
		return true
	}
	// A simulator's strings are those of the pods, and are equal at sight. Those of
	// a decoder are new with every metric: they are compared with a copy of the
	// pods' names that is read from one end to the other.
	shared := unsafe.StringData(reports[0].Name) == unsafe.StringData(names[order[0]].name)
	if !shared && m.text != "" {
		return m.spells(reports)
	}
	for k, r := range reports {
		if !names[order[k]].is(r) {
			return false
		}
	}
	if !shared {
		m.spell()
	}
	return true
}

// spell sets text.
func (m *matches) spell() {
	var text strings.Builder
	size := 0
	for _, i := range m.order {
		size += len(m.names[i].namespace) + len(m.names[i].name)
	}
	text.Grow(size)
	for _, i := range m.order {
		text.WriteString(m.names[i].namespace)
		text.WriteString(m.names[i].name)
	}
	m.text = text.String()
}

// spells reports whether the reports, whose names are as long as those of the pods,
// have the names in text.
func (m *matches) spells(reports []*api.PodMetricInfo) bool {
	text := m.text
	for k, r := range reports {
		n := len(m.names[m.order[k]].namespace)
		if r.Namespace != text[:n] || r.Name != text[n:n+len(r.Name)] {
			return false
		}
		text = text[n+len(r.Name):]
	}
	return true
}

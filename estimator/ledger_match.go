package estimator

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/berth-sched/berth/framework/api"
)

// podName is the name of a pod in a metric.
type podName struct{ namespace, name string }

func nameOf(p *api.Pod) podName { return podName{p.Namespace, p.Name} }

func (n podName) is(r *api.PodMetricInfo) bool {
	return r.Name == n.name && r.Namespace == n.namespace
}

// matches records where the metric of an account reports each of its pods. A report
// without usage does not count; if several reports have the same name, the last one
// counts.
type matches struct {
	names   []podName
	hashes  []uint64 // of the names
	places  []int32  // index of the report, or unreported, or unused
	missing int      // number of pods without a place

	// order is the pod of each report, or stranger. It belongs to the last metric,
	// and is a guess for the next.
	order []int32

	// strange are the hashes of reported names that no pod of the account has. It
	// may also hold names that a pod has had, or has gained since.
	strange []uint64

	// text is the concatenated names of the pods in the order of the reports. It is
	// set if own is true and the last metric had strings of its own.
	text string

	// own is true if every report is about a different pod of the account, and all
	// have usage; order and places are then inverses.
	own bool
	// repeated says that some pod may be reported more than once, namesakes that
	// two pods may have the same name.
	repeated, namesakes bool
}

// Sentinels for no place and no pod.
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

// enter adds the next pod and looks it up in the metric.
func (m *matches) enter(metric *api.NodeMetric, name podName) {
	h, place, namesake := name.hash(), int32(unreported), false
	for i, other := range m.hashes { // reads only hashes in the common case
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

// later returns the place of a pod, given its previous place and report k about it.
func later(place int32, k int, r *api.PodMetricInfo) int32 {
	switch {
	case !r.PodUsage.IsZero():
		return int32(k)
	case place == unreported:
		return unused
	}
	return place
}

// drop removes pod i; the last pod takes its place.
func (m *matches) drop(i int) {
	last := len(m.names) - 1
	m.own = m.own && !m.reported(i) // its report is now about a stranger
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

// reported reports whether the metric has a report of pod i with usage.
func (m *matches) reported(i int) bool { return m.places[i] >= 0 }

// mentions reports whether the metric has a report of a name with that hash. It may
// be true for a name without a report.
func (m *matches) mentions(hash uint64) bool {
	for i, h := range m.hashes {
		if h == hash && m.places[i] != unreported {
			return true
		}
	}
	return slices.Contains(m.strange, hash)
}

// prod reports whether some report of pod i calls it prod. There must be a report.
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
// as before, and own was true then.
func (m *matches) unchanged(reports []*api.PodMetricInfo) bool {
	order, names := m.order, m.names
	if !m.own || len(reports) != len(order) {
		return false
	}
	// The first loop is separate for its loads: it is short, so the processor waits
	// for a dozen reports at a time instead of three.
	for k, r := range reports {
		if r == nil || len(r.Name) != len(names[order[k]].name) || r.PodUsage.IsZero() {
			return false
		}
	}
	if len(reports) == 0 {
		return true
	}
	// A simulator's strings are the pods' own, so they compare equal by address. A
	// decoder's strings are new in every metric, so they are compared with a copy
	// of the pods' names that is read sequentially.
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

// spells reports whether the reports have the names in text. The names must be as
// long as the pods' names.
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

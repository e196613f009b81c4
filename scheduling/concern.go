package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/devices"
)

// A concern is a set of parts. A pod with at least one of them concerns a plugin; 0 means
// that every pod does. See [incremental.Concerned].
type concern framework.PodParts

// concernOf asks the value that serves a point, and nothing that it wraps: a wrapper may do
// more than the plugin inside.
func concernOf(p any) concern {
	if c, ok := p.(incremental.Concerned); ok {
		return concern(c.Concern())
	}
	return 0
}

// keyConcernOf returns which pods the key of a plugin concerns.
func keyConcernOf(k incremental.ClassKeyer) concern {
	if c, ok := k.(incremental.ConcernedKeyer); ok {
		return concern(c.KeyConcern())
	}
	return concernOf(k)
}

// of reports whether the pod may concern the plugin in some snapshot.
func (c concern) of(pod *framework.PodInfo) bool { return c.in(allOf(pod)) }

// in reports whether a pod with the parts concerns the plugin.
func (c concern) in(parts podParts) bool {
	return c == 0 || parts.counts&framework.PodParts(c) != 0
}

// has returns which of the parts count.
func (c concern) has(parts podParts) framework.PodParts { return parts.counts & framework.PodParts(c) }

// or returns the concern of two plugins together.
func (c concern) or(other concern) concern {
	if c == 0 || other == 0 {
		return 0
	}
	return c | other
}

// concerning is a plugin as its type for one point, with its concern.
type concerning[T any] struct {
	plugin  T
	concern concern
}

// podParts are the parts that a pod has, and those of them that count in a snapshot. A request
// for extended resources counts only if a device class stands behind one of them.
type podParts struct{ has, counts framework.PodParts }

// allOf returns the parts of a pod as if all counted.
func allOf(pod *framework.PodInfo) podParts { return podParts{pod.Parts(), pod.Parts()} }

// partsIn returns the parts of a pod. If no plugin asks for extended resources, all count.
func (t *plugins) partsIn(s *framework.Snapshot, pod *framework.PodInfo) podParts {
	p := allOf(pod)
	if p.has&t.conditional != 0 && !devices.Backed(s, pod) {
		p.counts &^= t.conditional
	}
	return p
}

// lastParts are the parts of the pod that was asked about last.
type lastParts struct {
	pod     *framework.PodInfo
	snap    *framework.Snapshot
	objects uint64
	parts   podParts
}

// partsIn is plugins.partsIn, and keeps the last answer if it takes a search: a decision asks
// for it, and then who places the pod.
func (s *Scheduler) partsIn(snap *framework.Snapshot, pod *framework.PodInfo) podParts {
	if pod.Parts()&s.plugins.conditional == 0 {
		return allOf(pod)
	}
	if l := &s.lastParts; l.pod != pod || l.snap != snap || l.objects != snap.Objects() {
		*l = lastParts{pod, snap, snap.Objects(), s.plugins.partsIn(snap, pod)}
	}
	return s.lastParts.parts
}

// findConditional finds whether a plugin asks for extended resources.
func (t *plugins) findConditional() {
	all := t.keyParts
	for _, list := range [2][]listedScope{t.filterScopes, t.scorerScopes} {
		for i := range list {
			all |= list[i].concern
		}
	}
	for i := range t.reserve {
		all |= t.reserve[i].concern
	}
	for i := range t.details {
		all |= t.details[i].concern
	}
	t.conditional = framework.PodParts(all) & framework.PartExtended
}

// concerns says which pods concern a plugin of a list.
type concerns struct {
	some bool // there is a plugin
	of   concern
}

func concernsOf[T any](list []concerning[T]) (c concerns) {
	for i := range list {
		of := list[i].concern
		if c.some {
			of = of.or(c.of)
		}
		c = concerns{true, of}
	}
	return c
}

// in reports whether a pod with the parts concerns one of them.
func (c concerns) in(parts podParts) bool { return c.some && c.of.in(parts) }

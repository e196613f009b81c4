package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
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

// of reports whether the pod concerns the plugin.
func (c concern) of(pod *framework.PodInfo) bool {
	return c == 0 || pod.Parts()&framework.PodParts(c) != 0
}

// has returns which of the parts the pod has.
func (c concern) has(pod *framework.PodInfo) byte { return byte(pod.Parts() & framework.PodParts(c)) }

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

// concernsAny reports whether the pod concerns a plugin of the list.
func concernsAny[T any](list []concerning[T], pod *framework.PodInfo) bool {
	for i := range list {
		if list[i].concern.of(pod) {
			return true
		}
	}
	return false
}

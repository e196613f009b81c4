package volumes

import (
	"cmp"
	"slices"
)

// mostMonitors is how many different monitors of a Ceph block device are told apart. Clusters have three to nine.
const mostMonitors = 32

// monitors are those of a Ceph block device. Users may write thousands, and to compare these for each two pods with one image
// would take the time of all others, so too many stand for all. nil has none.
type monitors struct {
	list []string // after settle in order, each once
	many bool     // more than mostMonitors, which are not listed
}

// anyMonitor is the monitor of disks that are no Ceph block devices.
var anyMonitor = &monitors{list: []string{""}}

// and returns the monitors of both, before settle. It may write to what it has returned before, but not to other.
func (m *monitors) and(other *monitors) *monitors {
	if m == nil || m == other {
		return other
	}
	return &monitors{list: append(m.list, other.list...)}
}

// settle prepares comparisons.
func (m *monitors) settle() {
	if m == nil || m.isSettled() {
		return
	}
	list := make([]string, 0, min(len(m.list), mostMonitors))
	for _, x := range m.list {
		i, found := slices.BinarySearch(list, x)
		if found {
			continue
		}
		if len(list) == mostMonitors {
			*m = monitors{many: true}
			return
		}
		list = slices.Insert(list, i, x)
	}
	m.list = list
}

func (m *monitors) isSettled() bool {
	if len(m.list) > mostMonitors {
		return false
	}
	for i := 1; i < len(m.list); i++ {
		if m.list[i-1] >= m.list[i] {
			return false
		}
	}
	return true
}

// meets reports whether both have one monitor.
func (m *monitors) meets(other *monitors) bool {
	if m.isEmpty() || other.isEmpty() {
		return false
	}
	if m.many || other.many {
		return true
	}
	a, b := m.list, other.list
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0], b[0]); {
		case c == 0:
			return true
		case c < 0:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

func (m *monitors) isEmpty() bool { return m == nil || !m.many && len(m.list) == 0 }

// same reports whether both are the same.
func (m *monitors) same(other *monitors) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.many == other.many && slices.Equal(m.list, other.list)
}

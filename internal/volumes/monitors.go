package volumes

import (
	"hash/maphash"
	"slices"
	"sync"
)

// monitors are those of a Ceph block device, in any order and maybe repeated. Users may write thousands of them, and most are
// never compared with others, so what helps to compare many is made on first use. nil has none.
type monitors struct {
	list   []string
	sorted func() []string // nil for few
	hash   func() uint64   // of list; nil for few
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
	if m == nil || len(m.list) <= fewNames || m.sorted != nil {
		return
	}
	m.sorted = sync.OnceValue(func() []string { return slices.Sorted(slices.Values(m.list)) })
	m.hash = sync.OnceValue(func() uint64 {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, x := range m.list {
			h.WriteString(x)
			h.WriteByte(0)
		}
		return h.Sum64()
	})
}

var seed = maphash.MakeSeed()

// meets reports whether both have one monitor.
func (m *monitors) meets(other *monitors) bool {
	if m == nil || other == nil {
		return false
	}
	if len(m.list) > len(other.list) {
		m, other = other, m
	}
	if other.sorted == nil {
		return slices.ContainsFunc(m.list, func(x string) bool { return slices.Contains(other.list, x) })
	}
	sorted := other.sorted()
	return slices.ContainsFunc(m.list, func(x string) bool {
		_, found := slices.BinarySearch(sorted, x)
		return found
	})
}

// same reports whether both are the same list. Pods of one template mostly share it.
func (m *monitors) same(other *monitors) bool {
	switch {
	case m == nil || other == nil || len(m.list) != len(other.list):
		return m == other
	case len(m.list) == 0 || &m.list[0] == &other.list[0]:
		return true
	}
	return (m.hash == nil || m.hash() == other.hash()) && slices.Equal(m.list, other.list)
}

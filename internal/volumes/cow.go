package volumes

import "maps"

// A cowMap is a map that forks share until one of them changes it. The zero
// value is empty.
type cowMap[K comparable, V any] struct {
	entries map[K]V
	shared  bool
}

// fork returns a copy; later changes of either do not affect the other.
func (m *cowMap[K, V]) fork() cowMap[K, V] {
	m.shared = true
	return *m
}

// own makes the entries exclusive to the map.
func (m *cowMap[K, V]) own() {
	if m.shared || m.entries == nil {
		m.entries, m.shared = maps.Clone(m.entries), false
		if m.entries == nil {
			m.entries = map[K]V{}
		}
	}
}

func (m *cowMap[K, V]) set(k K, v V) {
	m.own()
	m.entries[k] = v
}

func (m *cowMap[K, V]) delete(k K) {
	m.own()
	delete(m.entries, k)
}

// replace sets the value of a key, or deletes the key if v is nil.
func (m *cowMap[K, V]) replace(k K, v *V) {
	if v == nil {
		m.delete(k)
	} else {
		m.set(k, *v)
	}
}

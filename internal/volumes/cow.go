package volumes

import "maps"

// A cowMap is a map that forks share until one of them changes it. The zero
// value is empty.
type cowMap[K comparable, V any] struct {
	entries map[K]V
	shared  bool
}

// fork returns a copy; neither shows what later happens to the other.
func (m *cowMap[K, V]) fork() cowMap[K, V] {
	m.shared = true
	return *m
}

// own makes the entries the map's alone.
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

// replace sets the value of a key, or takes the key out.
func (m *cowMap[K, V]) replace(k K, v *V) {
	if v == nil {
		m.delete(k)
	} else {
		m.set(k, *v)
	}
}

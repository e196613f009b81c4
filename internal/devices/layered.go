package devices

import "maps"

// A layered is a map that forks share. It copies only what changed lately: a fork costs
// nothing until one side writes, and then the size of the top layer.
//
// Invariant: base never changes once it is shared, and top has at most a fraction of the
// entries of base.
type layered[K comparable, V any] struct {
	base  map[K]V
	top   map[K]layer[V]
	owned bool // top belongs to this side alone
}

// A layer is an entry of the top layer.
type layer[V any] struct {
	value V
	gone  bool
}

func (m *layered[K, V]) get(k K) (v V, ok bool) {
	if l, found := m.top[k]; found {
		return l.value, !l.gone
	}
	v, ok = m.base[k]
	return v, ok
}

// set changes an entry; a nil value deletes it.
func (m *layered[K, V]) set(k K, v *V) {
	if !m.owned || m.top == nil {
		m.top, m.owned = maps.Clone(m.top), true
		if m.top == nil {
			m.top = map[K]layer[V]{}
		}
	}
	if v == nil {
		if _, ok := m.base[k]; ok {
			m.top[k] = layer[V]{gone: true}
		} else {
			delete(m.top, k)
		}
		return
	}
	m.top[k] = layer[V]{value: *v}
	if len(m.top) > 64+len(m.base)/4 {
		m.merge()
	}
}

// merge makes the top layer part of a new base.
func (m *layered[K, V]) merge() {
	base := make(map[K]V, len(m.base)+len(m.top))
	for k, v := range m.all() {
		base[k] = v
	}
	m.base, m.top = base, nil
}

// all visits the entries in no particular order.
func (m *layered[K, V]) all() func(yield func(K, V) bool) {
	return func(yield func(K, V) bool) {
		for k, l := range m.top {
			if !l.gone && !yield(k, l.value) {
				return
			}
		}
		for k, v := range m.base {
			if _, ok := m.top[k]; !ok && !yield(k, v) {
				return
			}
		}
	}
}

// fork returns a copy; later changes of either do not show in the other.
func (m *layered[K, V]) fork() layered[K, V] {
	m.owned = false
	return *m
}

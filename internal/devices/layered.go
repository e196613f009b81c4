package devices

import "maps"

// A layered is a map that forks share. It copies only what changed lately: a fork costs
// nothing until one side writes, and then the size of the top layer. As long as nobody
// shares base, it is a plain map.
//
// Invariant: base never changes once it is shared. top is empty until then, and has at
// most a fraction of the entries of base.
type layered[K comparable, V any] struct {
	base   map[K]V
	shared bool // another side has base, too
	top    map[K]layer[V]
	owned  bool // top belongs to this side alone
}

// A layer is an entry of the top layer.
type layer[V any] struct {
	value V
	gone  bool
}

func (m *layered[K, V]) get(k K) (v V, ok bool) {
	if len(m.top) > 0 {
		if l, found := m.top[k]; found {
			return l.value, !l.gone
		}
	}
	v, ok = m.base[k]
	return v, ok
}

// expect makes an empty map that has room for n entries, so that it need not grow while these
// come.
func (m *layered[K, V]) expect(n int) { m.base = make(map[K]V, n) }

// set adds or replaces an entry.
func (m *layered[K, V]) set(k K, v V) {
	if !m.shared {
		if m.base == nil {
			m.base = map[K]V{}
		}
		m.base[k] = v
		return
	}
	m.own()
	m.top[k] = layer[V]{value: v}
	if len(m.top) > 64+len(m.base)/4 {
		m.merge()
	}
}

// remove deletes an entry.
func (m *layered[K, V]) remove(k K) {
	if !m.shared {
		delete(m.base, k)
		return
	}
	m.own()
	if _, ok := m.base[k]; ok {
		m.top[k] = layer[V]{gone: true}
	} else {
		delete(m.top, k)
	}
}

// put is set, or remove if ok is false.
func (m *layered[K, V]) put(k K, v V, ok bool) {
	if ok {
		m.set(k, v)
	} else {
		m.remove(k)
	}
}

// own makes the top layer this side's.
func (m *layered[K, V]) own() {
	if m.owned {
		return
	}
	if m.top, m.owned = maps.Clone(m.top), true; m.top == nil {
		m.top = map[K]layer[V]{}
	}
}

// merge makes the top layer part of a new base.
func (m *layered[K, V]) merge() {
	base := make(map[K]V, len(m.base)+len(m.top))
	for k, v := range m.all() {
		base[k] = v
	}
	*m = layered[K, V]{base: base}
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
	m.shared, m.owned = true, false
	return *m
}

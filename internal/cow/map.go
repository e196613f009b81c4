package cow

import "maps"

// A Map is a map that forks share. It copies only what changed lately: a fork costs
// nothing until one side writes, and then the size of the top layer. As long as nobody
// shares base, it is a plain map. The zero value is empty.
//
// Two forks must not be used at the same time while one of them is written to for the
// first time after the fork, or forked again.
//
// Invariant: base never changes once it is shared. top is empty until then, and has at
// most a fraction of the entries of base.
type Map[K comparable, V any] struct {
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

// topMost bounds the top layer over a base with n entries: every side copies it. A new base
// then costs 32 entries a write at most.
func topMost(n int) int { return 64 + n/32 }

// NewMap returns an empty map with room for n entries.
func NewMap[K comparable, V any](n int) Map[K, V] { return Map[K, V]{base: make(map[K]V, n)} }

// Get returns the value of a key; the zero value if there is none.
func (m *Map[K, V]) Get(k K) (v V, ok bool) {
	if len(m.top) > 0 {
		if l, found := m.top[k]; found {
			return l.value, !l.gone
		}
	}
	v, ok = m.base[k]
	return v, ok
}

// Set adds or replaces an entry.
func (m *Map[K, V]) Set(k K, v V) {
	if !m.shared {
		if m.base == nil {
			m.base = map[K]V{}
		}
		m.base[k] = v
		return
	}
	m.own()
	m.top[k] = layer[V]{value: v}
	m.merge()
}

// Remove deletes an entry, if there is one.
func (m *Map[K, V]) Remove(k K) {
	if !m.shared {
		delete(m.base, k)
		return
	}
	m.own()
	if _, ok := m.base[k]; !ok {
		delete(m.top, k)
		return
	}
	m.top[k] = layer[V]{gone: true}
	m.merge()
}

// own makes the top layer this side's.
func (m *Map[K, V]) own() {
	if m.owned {
		return
	}
	if m.top, m.owned = maps.Clone(m.top), true; m.top == nil {
		m.top = map[K]layer[V]{}
	}
}

// merge makes a top layer that is too large part of a new base.
func (m *Map[K, V]) merge() {
	if len(m.top) <= topMost(len(m.base)) {
		return
	}
	base := maps.Clone(m.base)
	if base == nil {
		base = map[K]V{}
	}
	for k, l := range m.top {
		if l.gone {
			delete(base, k)
		} else {
			base[k] = l.value
		}
	}
	*m = Map[K, V]{base: base}
}

// Len returns the number of entries. It costs O(changes since the fork).
func (m *Map[K, V]) Len() int {
	n := len(m.base)
	for k, l := range m.top {
		switch _, below := m.base[k]; {
		case l.gone:
			n--
		case !below:
			n++
		}
	}
	return n
}

// Empty reports whether there is no entry.
func (m *Map[K, V]) Empty() bool { return len(m.base) == 0 && len(m.top) == 0 || m.Len() == 0 }

// All visits the entries in no particular order.
func (m *Map[K, V]) All() func(yield func(K, V) bool) {
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

// Fork returns a copy; later changes of either do not show in the other.
func (m *Map[K, V]) Fork() Map[K, V] {
	m.shared, m.owned = true, false
	return *m
}

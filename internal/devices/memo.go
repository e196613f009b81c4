package devices

import "sync/atomic"

// A memo keeps the last few things that were found out about a slice. Several goroutines
// may use it at once. The zero memo is empty.
type memo[K comparable, V any] struct {
	list atomic.Pointer[[]memoEntry[K, V]]
}

type memoEntry[K comparable, V any] struct {
	key   K
	value V
}

// maxMemo is how many things a memo keeps.
const maxMemo = 32

func (m *memo[K, V]) find(key K) (v V, ok bool) {
	if list := m.list.Load(); list != nil {
		for i := range *list {
			if e := &(*list)[i]; e.key == key {
				return e.value, true
			}
		}
	}
	return v, false
}

// add keeps a value, and returns it.
func (m *memo[K, V]) add(key K, v V) V {
	for {
		list := m.list.Load()
		var next []memoEntry[K, V]
		if list != nil {
			next = append(next, (*list)[max(0, len(*list)-maxMemo+1):]...)
		}
		next = append(next, memoEntry[K, V]{key, v})
		if m.list.CompareAndSwap(list, &next) {
			return v
		}
	}
}

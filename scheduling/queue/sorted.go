package queue

import "github.com/berth-sched/berth/internal/heap"

// sorted holds items in an order. The primary sort key of each item is kept in the
// heap, so most comparisons read only neighbouring memory: with 100,000 pods that
// takes a third of the time.
type sorted struct {
	heap heap.Heap[keyed]
	key  func(it *Item) (major, minor int64)
}

// keyed is an item with its primary sort key.
type keyed struct {
	major, minor int64
	it           *Item
}

// newSorted returns an empty heap. less decides between equal keys and is a total
// order.
func newSorted(key func(it *Item) (major, minor int64), less func(a, b *Item) bool) sorted {
	before := func(a, b *keyed) bool {
		if a.major != b.major {
			return a.major < b.major
		}
		if a.minor != b.minor {
			return a.minor < b.minor
		}
		return less(a.it, b.it)
	}
	return sorted{heap.New(before, func(k *keyed, place int) { k.it.index = place }), key}
}

func (s *sorted) len() int { return s.heap.Len() }

// top returns the first item, nil if there is none.
func (s *sorted) top() *Item {
	if k := s.heap.Top(); k != nil {
		return k.it
	}
	return nil
}

func (s *sorted) push(it *Item) { s.heap.Push(s.keyed(it)) }

func (s *sorted) remove(it *Item) { s.heap.Remove(it.index) }

// fix restores the order after the item has changed.
func (s *sorted) fix(it *Item) { s.heap.Set(it.index, s.keyed(it)) }

// all calls f with every item.
func (s *sorted) all(f func(*Item)) {
	for i := range s.heap.Len() {
		f(s.heap.At(i).it)
	}
}

func (s *sorted) keyed(it *Item) keyed {
	major, minor := s.key(it)
	return keyed{major, minor, it}
}

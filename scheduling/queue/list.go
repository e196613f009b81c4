package queue

// list is a doubly linked list of items; an item is in at most one list.
type list struct {
	first, last *Item
	len         int
}

// insertAfter puts the item behind previous; nil means at the beginning.
func (l *list) insertAfter(it, previous *Item) {
	next := l.first
	if previous != nil {
		next = previous.next
	}
	it.previous, it.next = previous, next
	if previous == nil {
		l.first = it
	} else {
		previous.next = it
	}
	if next == nil {
		l.last = it
	} else {
		next.previous = it
	}
	l.len++
}

func (l *list) remove(it *Item) {
	if it.previous == nil {
		l.first = it.next
	} else {
		it.previous.next = it.next
	}
	if it.next == nil {
		l.last = it.previous
	} else {
		it.next.previous = it.previous
	}
	it.previous, it.next = nil, nil
	l.len--
}

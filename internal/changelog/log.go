// Package changelog has a bounded list of changes that several readers follow, each at
// its own pace.
package changelog

import (
	"fmt"
	"unsafe"
)

// defaultLimit is how many entries a log keeps if nothing else is said.
const defaultLimit = 1 << 13

// A Log is a list whose entries are numbered. If it is full, it drops the older half, so
// it always knows the last half of its limit. The zero value is an empty log of 8,192
// entries. It must be used by one goroutine at a time.
//
// Invariant: entry i of entries has the number from+i. entries has room for no more than the
// limit.
type Log[T any] struct {
	entries []T
	from    uint64
	limit   int // 0: defaultLimit
}

// New returns an empty log that keeps so many entries, at least two.
func New[T any](limit int) Log[T] { return Log[T]{limit: limit} }

// From returns an empty log whose first entry has the number n.
func From[T any](n uint64) Log[T] { return Log[T]{from: n} }

// Limit is how many entries the log keeps.
func (l *Log[T]) Limit() int {
	if l.limit == 0 {
		return defaultLimit
	}
	return l.limit
}

// Add appends an entry.
func (l *Log[T]) Add(x T) {
	if len(l.entries) == cap(l.entries) {
		l.grow()
	}
	l.entries = append(l.entries, x)
}

// grow makes room for an entry.
func (l *Log[T]) grow() { l.makeRoom(1) }

// makeRoom makes room for k more entries, or drops the older half if these would be too
// many.
func (l *Log[T]) makeRoom(k int) {
	n, limit := len(l.entries), l.Limit()
	if n+k > limit {
		l.entries = l.entries[:copy(l.entries, l.entries[limit/2:])]
		l.from += uint64(limit / 2)
		return
	}
	more := make([]T, n, min(limit, max(2*n, n+k, 16)))
	copy(more, l.entries)
	l.entries = more
}

// AddAll appends several entries.
func (l *Log[T]) AddAll(list []T) {
	n := len(l.entries) + len(list)
	if n > l.Limit() {
		for _, x := range list {
			l.Add(x)
		}
		return
	}
	if n > cap(l.entries) {
		l.makeRoom(len(list))
	}
	l.entries = append(l.entries, list...)
}

// End is the number of the next entry.
func (l *Log[T]) End() uint64 { return l.from + uint64(len(l.entries)) }

// Since returns the entries from a number on. It returns false if some of them were
// dropped, or if the number is none that the log has given. The slice is valid until
// the log changes.
func (l *Log[T]) Since(n uint64) ([]T, bool) {
	if n < l.from || n > l.End() {
		return nil, false
	}
	return l.entries[n-l.from:], true
}

// Entries returns all entries that the log knows, oldest first. The slice is valid until
// the log changes.
func (l *Log[T]) Entries() []T { return l.entries }

// Clone returns an independent copy.
func (l *Log[T]) Clone() Log[T] {
	entries := make([]T, len(l.entries))
	copy(entries, l.entries)
	return Log[T]{entries: entries, from: l.from, limit: l.limit}
}

// Bytes is the memory that the log holds.
func (l *Log[T]) Bytes() int {
	var x T
	return cap(l.entries) * int(unsafe.Sizeof(x))
}

// Check returns what does not hold of the log, whose reader has read up to a number, nil
// if all does.
func (l *Log[T]) Check(read uint64) error {
	if cap(l.entries) > l.Limit() || read > l.End() {
		return fmt.Errorf("log: read up to %d of %d entries, which end at %d", read, len(l.entries), l.End())
	}
	return nil
}

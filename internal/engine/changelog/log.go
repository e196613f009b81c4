// Package changelog records which nodes of a snapshot changed, so that each reader
// can follow at its own pace.
//
//	Order    places of the node order, and the slots that they stand for
//	Log      a bounded list of slots; its entries are numbered
//	Tracker  follows one snapshot: when did each node change last?
//	Recent   the trackers of the snapshots used last
//
// Its values must be used by one goroutine at a time.
package changelog

import "fmt"

// limit is how many entries a log keeps.
const limit = 1 << 13

// A Log is a list of slots whose entries are numbered. If it is full, it drops the
// older half. Its zero value is an empty log.
//
// Invariant: entry i of slots has the number from+i.
type Log struct {
	slots []int32
	from  uint64
}

// Add appends an entry.
func (l *Log) Add(slot int32) {
	if len(l.slots) == limit {
		const drop = limit / 2
		l.slots = l.slots[:copy(l.slots, l.slots[drop:])]
		l.from += drop
	}
	l.slots = append(l.slots, slot)
}

// AddAll appends several entries.
func (l *Log) AddAll(slots []int32) {
	if len(l.slots)+len(slots) > limit {
		for _, slot := range slots {
			l.Add(slot)
		}
		return
	}
	l.slots = append(l.slots, slots...)
}

// End is the number of the next entry.
func (l *Log) End() uint64 { return l.from + uint64(len(l.slots)) }

// Since returns the entries from a number on; false if some of them were dropped.
func (l *Log) Since(n uint64) ([]int32, bool) {
	if n < l.from {
		return nil, false
	}
	return l.slots[n-l.from:], true
}

// Bytes is the memory that the log holds.
func (l *Log) Bytes() int { return 4 * cap(l.slots) }

// Check returns what does not hold of the entries, which a reader has read up to a
// number, nil if all does.
func (l *Log) Check(read uint64) error {
	if len(l.slots) > limit || read > l.End() {
		return fmt.Errorf("log: read up to %d of %d entries, which end at %d", read, len(l.slots), l.End())
	}
	return nil
}

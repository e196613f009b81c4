package engine

// A rowLog remembers which rows of a base were evaluated, as a snapshot's
// journal remembers which nodes changed, so that each class of the base can
// follow at its own pace.
//
// Invariant: entry i of slots has the number from+i.
type rowLog struct {
	slots []int32
	from  uint64
}

const rowLogLimit = 1 << 13

func (l *rowLog) add(slot int32) {
	if len(l.slots) == rowLogLimit {
		const drop = rowLogLimit / 2
		l.slots = l.slots[:copy(l.slots, l.slots[drop:])]
		l.from += drop
	}
	l.slots = append(l.slots, slot)
}

// addAll adds several slots.
func (l *rowLog) addAll(slots []int32) {
	if len(l.slots)+len(slots) > rowLogLimit {
		for _, slot := range slots {
			l.add(slot)
		}
		return
	}
	l.slots = append(l.slots, slots...)
}

// end is the number of the next entry.
func (l *rowLog) end() uint64 { return l.from + uint64(len(l.slots)) }

// since returns the entries from a number on; false when some are gone.
func (l *rowLog) since(n uint64) ([]int32, bool) {
	if n < l.from {
		return nil, false
	}
	return l.slots[n-l.from:], true
}

package engine

import (
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// A reason is one rejection.
type reason struct {
	at     int // place of the filter
	status framework.Status
}

const (
	// reasonsMost is how many more reasons than nodes a base remembers. A filter
	// whose texts change with its node, such as one that names what is free, makes
	// ever more of them.
	reasonsMost = 1024
	// searchedMost is up to how many reasons are looked through one by one.
	searchedMost = 32
)

// reasons numbers the rejections of a base.
//
// Invariant: no two of list are the same; while list is longer than searchedMost,
// numbers finds the place in list of each whose reasoner can be compared.
type reasons struct {
	list    []reason
	numbers map[reason]int32
}

// reset forgets all reasons but number 0, which is none.
func (r *reasons) reset() {
	clear(r.list)
	r.list = append(r.list[:0], reason{at: maxPlace})
	r.numbers = nil
}

// number returns the number of a reason, a new one if need be.
func (r *reasons) number(why reason) int32 {
	if len(r.list) <= searchedMost {
		for i := 1; i < len(r.list); i++ {
			if known := &r.list[i]; known.at == why.at && known.status.Same(why.status) {
				return int32(i)
			}
		}
	} else if canBeKey(why) {
		if i, found := r.numbers[why]; found {
			return i
		}
	}
	r.list = append(r.list, why)
	if len(r.list) > searchedMost {
		r.note()
	}
	return int32(len(r.list) - 1)
}

// note brings numbers up to date with list, which has become longer by one.
func (r *reasons) note() {
	first := len(r.list) - 1
	if r.numbers == nil {
		r.numbers, first = map[reason]int32{}, 1
	}
	for i, why := range r.list[first:] {
		if canBeKey(why) {
			r.numbers[why] = int32(first + i)
		}
	}
}

// canBeKey reports whether the reason may be the key of a map.
func canBeKey(why reason) bool { return why.status.Same(why.status) }

// bytes is about the memory that the reasons hold, but for what their reasoners
// hold besides.
func (r *reasons) bytes() int {
	const entry = int(unsafe.Sizeof(reason{}))
	return entry*cap(r.list) + 2*(entry+4)*len(r.numbers)
}

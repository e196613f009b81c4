package engine

import (
	"fmt"
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// A reason is one rejection.
type reason struct {
	at        int // place of the filter
	status    framework.Status
	overrides bool // it is final, whatever other filters say
}

const (
	// reasonsMost is how many more reasons than nodes a base remembers. A filter whose
	// text includes node data (free amounts, say) would create reasons without bound.
	reasonsMost = 1024
	// searchedMost is up to how many reasons are compared one by one.
	searchedMost = 32
)

// reasons numbers the rejections of a base.
//
// Invariant: no two comparable reasons of list are the same. If list is longer than
// searchedMost, numbers has the index of each comparable one.
type reasons struct {
	list    []reason
	numbers map[reason]int32
}

// reset forgets all reasons but number 0, which stands for none.
func (r *reasons) reset() {
	clear(r.list)
	r.list = append(r.list[:0], reason{at: maxPlace})
	r.numbers = nil
}

// number returns the number of a reason, a new one if need be.
func (r *reasons) number(why reason) int32 {
	if len(r.list) <= searchedMost {
		for i := 1; i < len(r.list); i++ {
			if known := &r.list[i]; known.at == why.at && known.overrides == why.overrides && known.status.Same(why.status) {
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

// bytes is about the memory that the reasons hold, without the memory of their reasoners.
func (r *reasons) bytes() int {
	const entry = int(unsafe.Sizeof(reason{}))
	return entry*cap(r.list) + 2*(entry+4)*len(r.numbers)
}

// check returns what does not hold of the reasons, nil if all does.
func (r *reasons) check() error {
	if len(r.list) == 0 || r.list[0].at != maxPlace {
		return fmt.Errorf("reasons: number 0 is not none")
	}
	seen := map[reason]int{}
	for i, why := range r.list {
		if !canBeKey(why) {
			continue
		}
		if first, ok := seen[why]; ok {
			return fmt.Errorf("reasons: %d and %d are the same: %s", first, i, why.status)
		}
		seen[why] = i
		if n, ok := r.numbers[why]; i > 0 && len(r.list) > searchedMost && (!ok || int(n) != i) {
			return fmt.Errorf("reasons: number %d is found as %d, %v", i, n, ok)
		}
	}
	return nil
}

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
// searchedMost, numbers has the index of each comparable one. texts begins the list of the
// messages of list.
type reasons struct {
	list      []reason
	numbers   map[reason]int32
	latest    int // number that was found last: many nodes in a row are rejected alike
	texts     []string
	textBytes int // of texts
}

// reset forgets all reasons but number 0, which stands for none.
func (r *reasons) reset() {
	clear(r.list)
	r.list = append(r.list[:0], reason{at: maxPlace})
	r.numbers, r.latest, r.texts, r.textBytes = nil, 0, nil, 0
}

// is reports whether the reason is that status of that filter.
func (r *reason) is(at int, status framework.Status) bool {
	return r.at == at && r.status.Same(status)
}

// number returns the number of a reason, a new one if need be.
func (r *reasons) number(why reason) int32 {
	if r.latest = r.find(why); r.latest < 0 {
		r.latest = len(r.list)
		r.list = append(r.list, why)
		if len(r.list) > searchedMost {
			r.note()
		}
	}
	return int32(r.latest)
}

// isLatest reports whether the reason with the number latest is that status of that filter.
func (r *reasons) isLatest(at int, status framework.Status) bool {
	why := &r.list[r.latest]
	return !why.overrides && why.is(at, status)
}

// find returns the number of a reason that is known, else -1.
func (r *reasons) find(why reason) int {
	if len(r.list) <= searchedMost {
		for i := 1; i < len(r.list); i++ {
			if known := &r.list[i]; known.overrides == why.overrides && known.is(why.at, why.status) {
				return i
			}
		}
	} else if canBeKey(why) {
		if i, found := r.numbers[why]; found {
			return int(i)
		}
	}
	return -1
}

// text is the message of a reason. It is made once.
func (r *reasons) text(number int) string {
	for len(r.texts) <= number {
		text := r.list[len(r.texts)].status.Message()
		r.texts, r.textBytes = append(r.texts, text), r.textBytes+16+len(text)
	}
	return r.texts[number]
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
	return entry*cap(r.list) + 2*(entry+4)*len(r.numbers) + r.textBytes
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

package devices

import (
	"errors"
	"sync"
	"sync/atomic"
)

// questions are the conditions that a class, or a request of a claim, puts on devices, with
// the answers that are kept. Several goroutines may ask.
//
// Answers are kept with the questions, not with the slice of the devices: nobody can drive out
// the answers of others.
type questions struct {
	conditions []condition
	unshared   bool     // they see devices that cannot be shared
	account    *account // of the answers

	mu    sync.Mutex
	kept  map[*tag]answers // by slice
	bytes int              // about how much memory kept takes
	fault map[place]answer // answers that are errors; few, because an error ends the search
}

// A place identifies a device.
type place struct {
	slice *tag
	index int
}

// maxFaults bounds how many errors are kept. Beyond it, all are asked anew.
const maxFaults = 16

// A tag identifies what is kept elsewhere, without keeping it.
type tag struct{ _ byte }

// An account counts the bytes of answers of a class or a claim.
type account struct{ bytes atomic.Int64 }

func (a *account) size() int { return int(a.bytes.Load()) }

// answers are those for the devices of a slice: 0 if it has not been asked about the device
// or there was an error, or else twice the steps that the answer took, and 1 if it is yes.
type answers []atomic.Uint32

// maxAnswerBytes bounds the memory for the answers of a class or a claim. Beyond it, they are
// asked anew.
const maxAnswerBytes = 16 << 20

// An answer says whether all conditions hold for a device.
type answer struct {
	ok     bool
	steps  int // of the search that it counts, kept or not; with errSteps at least one more than are left
	failed *condition
	err    error // of failed, or errSteps
}

// errSteps says that the answer takes more steps than are left.
var errSteps = errors.New("too many steps")

// about asks the conditions about a device, in order, up to the first that does not hold.
// Answers of more than most steps are errors, whether they are kept or not.
func (q *questions) about(d *Device, most int) answer {
	if most < 1 {
		return answer{steps: 1, err: errSteps}
	}
	cell, fault := q.recall(d)
	if fault.err != nil {
		return fault.within(most)
	}
	if known := cell.Load(); known != 0 {
		x := answer{ok: known&1 != 0, steps: int(known >> 1)}
		return x.within(most)
	}
	x := answer{ok: true}
	for i := 0; i < len(q.conditions) && x.ok; i++ {
		c := &q.conditions[i]
		ok, steps, err := c.matches(d, q.unshared)
		x.steps += steps
		x.ok = ok && err == nil
		if err != nil {
			x.failed, x.err = c, err
		}
		if x.steps > most {
			return x.within(most) // perhaps not all conditions have been asked
		}
	}
	if x.err != nil {
		q.keep(d, x)
		return x
	}
	if known := uint32(x.steps) << 1; int(known>>1) == x.steps {
		if x.ok {
			known++
		}
		cell.Store(known)
	}
	return x
}

// within returns the answer if it takes at most so many steps.
func (x answer) within(most int) answer {
	if x.steps > most {
		return answer{steps: most + 1, err: errSteps}
	}
	return x
}

// recall returns the place for the answer about a device, or the answer if it is an error.
func (q *questions) recall(d *Device) (*atomic.Uint32, answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if x, ok := q.fault[place{d.slice.tag, d.index}]; ok {
		return nil, x
	}
	return &q.answersFor(d.slice)[d.index], answer{}
}

// keep keeps an answer that is an error.
func (q *questions) keep(d *Device, x answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fault == nil || len(q.fault) >= maxFaults {
		q.fault = map[place]answer{}
	}
	q.fault[place{d.slice.tag, d.index}] = x
}

// answersFor returns the answers for the devices of a slice. The lock is held.
func (q *questions) answersFor(s *slice) answers {
	if a, ok := q.kept[s.tag]; ok {
		return a
	}
	const each = 128 // bytes for a slice
	bytes := each + 4*len(s.devices)
	if q.account.size()+bytes > maxAnswerBytes {
		q.clear()
	}
	a := make(answers, len(s.devices))
	if q.account.size()+bytes > maxAnswerBytes {
		return a // others have it all
	}
	if q.kept == nil {
		q.kept = map[*tag]answers{}
	}
	q.kept[s.tag] = a
	q.bytes += bytes
	q.account.bytes.Add(int64(bytes))
	return a
}

// forget drops the answers.
func (q *questions) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.clear()
}

func (q *questions) clear() {
	q.account.bytes.Add(int64(-q.bytes))
	q.kept, q.bytes = nil, 0
}

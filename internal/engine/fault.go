package engine

import (
	"fmt"
	"runtime/debug"
)

// A Fault is a panic of the engine itself, or an invariant that does not hold. It is a
// defect of this module, never of a plugin.
type Fault struct {
	// What says what went wrong.
	What string
	// Stack says where, if it was a panic.
	Stack string
}

// Error says what went wrong.
func (f *Fault) Error() string { return f.What }

// Fail counts a fault and forgets all that is kept, because any of it may be half
// written. p is the recovered value.
func (e *Engine) Fail(p any) {
	e.note(&Fault{What: fmt.Sprint("panic: ", p), Stack: string(debug.Stack())})
}

func (e *Engine) note(f *Fault) {
	e.clear()
	e.stats.Faults++
	e.fault = f
}

// TakeFault returns the last fault since the call before, nil if there was none.
func (e *Engine) TakeFault() *Fault {
	f := e.fault
	e.fault = nil
	return f
}

// CheckInvariants checks all that the engine keeps. It must be called right after Find.
// A violation is a fault, which TakeFault returns.
func (e *Engine) CheckInvariants() {
	if err := checkEngine(e); err != nil {
		e.note(&Fault{What: err.Error()})
	}
}

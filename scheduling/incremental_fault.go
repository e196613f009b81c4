package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/runner"
)

// A FaultError says that the incremental path itself failed: it panicked, or one of
// its invariants does not hold. It is a defect of this module, never of a plugin.
// Only a scheduler with [CacheConfig.Verify] returns it; others count the fault, forget what
// they kept and take the reference path.
type FaultError struct {
	// Fault says what failed.
	Fault string
	// Stack says where, if it was a panic.
	Stack string
	// Replay is the moment of the decision as JSON, as in [DifferenceError].
	Replay []byte
}

// Error says what failed.
func (e *FaultError) Error() string { return "the incremental path failed: " + e.Fault }

// checkEvery is how many verified decisions come between two checks of all
// invariants of the engine, and of what the snapshot keeps.
const checkEvery = 8

// fault returns what went wrong in the engine since it was called before, nil if
// nothing did.
func (f *incrementalPath) fault(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision) error {
	fault := f.engine.TakeFault()
	if fault == nil {
		return nil
	}
	return &FaultError{Fault: fault.What, Stack: fault.Stack, Replay: f.replay(snap, pod, *d)}
}

// checkInvariants checks the engine, which notes a fault, and the snapshot now and then.
func (f *incrementalPath) checkInvariants(snap *framework.Snapshot) error {
	if f.checks++; !runner.Checks || f.checks%checkEvery != 0 {
		return nil
	}
	f.engine.CheckInvariants()
	return snap.Check()
}

// contain turns a panic of the engine, with what was recovered, into a fault.
func (f *incrementalPath) contain(recovered any) {
	if recovered != nil && !f.keys.panicked() {
		f.engine.Fail(recovered)
	}
}

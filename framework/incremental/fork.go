package incremental

// A ForkTracker is a DomainTracker that can tell what differs between forks of a snapshot.
// Without it, the incremental path asks about every node when it goes to another fork.
//
// A state is a text, of the tracker's choice, that identifies the sums that answers depend on and all
// else that they read but the node, such as which nodes are feasible: not only in one snapshot, as a
// version does, but in all forks of it.
type ForkTracker interface {
	DomainTracker
	// AppendState appends the state of now.
	AppendState(b []byte) []byte
	// AppendOrigin appends the state in which the snapshot was forked, and nothing if it is no fork.
	// Forks of one snapshot, between which its sums did not change, have the same.
	AppendOrigin(b []byte) []byte
	// ChangedFrom calls dirty with the slot of each node whose answer may differ between that state
	// and now. The state is of the snapshot, of a fork of it, or of one that it was forked from. If
	// ChangedFrom cannot tell, it returns false, and every answer counts as changed. Calls before
	// that do no harm.
	ChangedFrom(state []byte, dirty func(slot int)) bool
}

// A ForkExceptionScorer is an ExceptionScorer that can tell which exceptions differ between forks.
type ForkExceptionScorer interface {
	ExceptionScorer
	ForkTracker
	// ExceptionsChangedFrom is to ChangedFrom what ExceptionsChanged is to Changed. known has all
	// nodes that were exceptions in that state, and may have more.
	ExceptionsChangedFrom(state []byte, known []int32, visit func(slot int)) bool
}

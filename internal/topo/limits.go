package topo

import "github.com/berth-sched/berth/framework"

// limits bound what tables keep. No answer depends on them.
type limits struct {
	// budget is the memory limit for counters, in bytes. For a large cluster it is
	// at least 1 KiB for each node.
	budget int
	// bindings is the maximum number of bindings, and bindingBytes about how much memory
	// they may take, with the counters that only they have.
	bindings, bindingBytes int
	// setBytes is about how much memory all sets of terms may take together.
	setBytes int
	// pairs is how many counters all lists of classes may have together.
	pairs int
	// termsFew is how many terms of pods in the cluster may match a pod before they are summed
	// up in a TermSet. Anybody can make any number of terms that match everybody.
	termsFew int
	// emptyClasses is the number of classes without pods that are kept, so that a pod that
	// leaves and returns costs no more than any other. emptyBytes is the same for their
	// texts, in which users may write much.
	emptyClasses, emptyBytes int
	// weighEvery is the number of lookups between two looks at the memory in use.
	// Those of a fork follow on those before it: else a chain of forks would keep
	// what none of them uses.
	weighEvery uint64
	// What was used within the number recent of lookups is not given up for its age or memory, because the
	// current cycle may hold it. DropUnused knows what the cycle holds. A cycle looks up its Spreads among its
	// firstLookups and may hold them for long, while preemption looks up one Affinity after the other.
	recent, firstLookups uint64
	// stepsKept is how many steps of counting the counters of a binding may take while it is not
	// used, about what it takes to make them again. A placement moves one pod, but preemption tries
	// thousands of moves.
	stepsKept int64
	// stepsBetween is how many steps there are between two looks for bindings that took more.
	stepsBetween int
	// changes is how many changes of one counter are known, termChanges is the same for all counters
	// of terms together, and termNews for those of these that have come or are gone.
	changes, termChanges, termNews int
}

// usual are the limits of all tables, but in tests.
var usual = limits{
	budget:       64 << 20,
	bindings:     4096,
	bindingBytes: 32 << 20,
	setBytes:     32 << 20,
	pairs:        8 << 20, // 32 MiB
	termsFew:     16,
	emptyClasses: 256,
	emptyBytes:   4 << 20,
	weighEvery:   1024,
	recent:       64,
	firstLookups: 32,
	stepsKept:    1 << 13,
	stepsBetween: 1 << 17,
	changes:      1024,
	termChanges:  8192,
	termNews:     512,
}

// low are limits of a few bytes and lookups.
var low = limits{
	budget:       1 << 10,
	bindings:     4,
	bindingBytes: 1 << 10,
	setBytes:     1 << 10,
	pairs:        16,
	termsFew:     2,
	emptyClasses: 2,
	emptyBytes:   64,
	weighEvery:   8,
	recent:       8,
	firstLookups: 8,
	stepsKept:    1,
	stepsBetween: 4,
	changes:      4,
	termChanges:  4,
	termNews:     4,
}

// lookupsKept is how many lookups a binding is kept for without being used.
func (l *limits) lookupsKept() uint64 { return 8 * l.weighEvery }

// Lower is for tests of packages that use tables: those of the snapshot, and of its forks, give up
// nearly everything at once from now on. They must answer as ever.
func Lower(s *framework.Snapshot) {
	t := tables.Of(s)
	t.limits, t.weighAt = low, t.tick+low.weighEvery
	t.newTerms()
}

package topo

import "github.com/berth-sched/berth/internal/changelog"

// An event is one change of a counter.
type event struct {
	domain  int32
	least   int32 // the least count of a domain before it; see extent
	crossed bool  // the domain's count changed from 0 or to 0
	started bool  // the sum over all domains changed from 0 or to 0
}

// A termEvent is one change of the counter of a term.
type termEvent struct {
	id      int32  // of the counter
	born    uint64 // of the counter
	kind    int    // of the term
	key     int32
	weight  int64 // as in counter.preference
	domain  int32
	by      int32
	crossed bool // as in event
}

// A termNews says that the counter of a term has come, or is gone.
type termNews struct {
	id   int32
	born uint64
	gone bool
}

// A timed change has the time of the tables' clock after it.
type timed[E any] struct {
	at uint64
	is E
}

// A history holds the latest changes of a counter, of all counters of terms, or of the
// list of these.
//
// Invariant: if several tables share a counter, at most one of them takes the log over with its
// copy of the counter, and adds to it. The others are forks, which were made after last.
type history[E any] struct {
	log    changelog.Log[timed[E]]
	shared bool   // others may read the changes that the log has
	known  uint64 // the log has every change after this time
	last   uint64 // time of the latest change
}

// historyTail is how many changes of a counter a fork keeps of the time before it was made: who asks
// a fork about a pod has mostly asked about one lately.
const historyTail = 8

// newHistory returns a history that knows nothing of the time before.
func newHistory[E any](at uint64, limit int) history[E] {
	return history[E]{log: changelog.New[timed[E]](limit), known: at, last: at}
}

func (h *history[E]) add(at uint64, e E) {
	if full := h.log.Entries(); len(full) == h.log.Limit() {
		h.known = full[len(full)/2-1].at // the log drops the older half
		if h.shared {
			h.log, h.shared = h.log.Clone(), false
		}
	}
	h.log.Add(timed[E]{at, e})
	h.last = at
}

// since returns the changes after a time, or false if some are no longer known.
func (h *history[E]) since(at uint64) ([]timed[E], bool) {
	if h.last <= at {
		return nil, true
	}
	if at < h.known {
		return nil, false
	}
	events := h.log.Entries()
	i := len(events)
	for i > 0 && events[i-1].at > at { // most readers have seen all but the last few
		i--
	}
	return events[i:], true
}

// tail returns a history of its own with the latest changes.
func (h *history[E]) tail() history[E] {
	t, events := newHistory[E](h.last, h.log.Limit()), h.log.Entries()
	t.known = h.known
	if more := len(events) - historyTail; more > 0 {
		t.known, events = events[more-1].at, events[more:]
	}
	t.log.AddAll(events)
	return t
}

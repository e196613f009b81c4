package topo

import "github.com/berth-sched/berth/internal/changelog"

// An event is one change of a counter.
type event struct {
	at      uint64 // the tables' clock after the change
	domain  int32
	least   int32 // the least count of a domain before it; see extent
	crossed bool  // the domain's count changed from 0 or to 0
	started bool  // the sum over all domains changed from 0 or to 0
}

// A history holds a counter's latest changes.
//
// Invariant: if several tables share a counter, at most one of them reads the log, or
// takes it over with its copy of the counter. The others are forks, whose anew is not
// before last.
type history struct {
	log   changelog.Log[event]
	known uint64 // the log has every change after this time
	last  uint64 // time of the latest change
}

const historyLimit = 1024

// newHistory returns a history that knows nothing of the time before.
func newHistory(at uint64) history {
	return history{log: changelog.New[event](historyLimit), known: at, last: at}
}

func (h *history) add(e event) {
	if full := h.log.Entries(); len(full) == historyLimit {
		h.known = full[historyLimit/2-1].at // the log drops the older half
	}
	h.log.Add(e)
	h.last = e.at
}

// since returns the changes after a time, or false if some are no longer known.
func (h *history) since(at uint64) ([]event, bool) {
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

// A termEvent is one change of the counter of a term.
type termEvent struct {
	at      uint64 // as in event
	born    uint64 // of the counter
	domain  int32
	by      int32
	crossed bool // as in event
}

// A termLog holds the latest changes of all counters of terms.
type termLog struct {
	log   changelog.Log[termEvent]
	known uint64 // the log has every change after this time
}

func (l *termLog) add(e termEvent) {
	if full := l.log.Entries(); len(full) == l.log.Limit() {
		l.known = full[len(full)/2-1].at // the log drops the older half
	}
	l.log.Add(e)
}

// since returns the changes after a time, or false if some are no longer known.
func (l *termLog) since(at uint64) ([]termEvent, bool) {
	if at < l.known {
		return nil, false
	}
	events := l.log.Entries()
	i := len(events)
	for i > 0 && events[i-1].at > at {
		i--
	}
	return events[i:], true
}

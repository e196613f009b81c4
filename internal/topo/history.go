package topo

import "slices"

// An event is one change of a counter.
type event struct {
	at      uint64 // the tables' clock after the change
	domain  int32
	least   int32 // the least count of a domain before it; see extent
	crossed bool  // the domain's count changed from 0 or to 0
	started bool  // the sum over all domains changed from 0 or to 0
}

// A history holds a counter's latest changes.
type history struct {
	events []event
	known  uint64 // events has every change after this time
	last   uint64 // time of the latest change
}

const historyLimit = 1024

func (h *history) add(e event) {
	if len(h.events) == historyLimit {
		const drop = historyLimit / 2
		h.known = h.events[drop-1].at
		h.events = h.events[:copy(h.events, h.events[drop:])]
	}
	h.events = append(h.events, e)
	h.last = e.at
}

// since returns the changes after a time, or false if some are no longer known.
func (h *history) since(moment uint64) ([]event, bool) {
	if h.last <= moment {
		return nil, true
	}
	if moment < h.known {
		return nil, false
	}
	i, _ := slices.BinarySearchFunc(h.events, moment+1, func(e event, at uint64) int {
		if e.at < at {
			return -1
		}
		return 1
	})
	return h.events[i:], true
}

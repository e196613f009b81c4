package queue

import "time"

// Delay says that the next attempt for the item, which is in flight, must not begin before a
// time. If the item's backoff ends sooner, it waits as after an error: it is not tried early, also
// if no other pod is ready. Otherwise it may be tried early from that time on; where FullBackoff is set, and no
// pod is tried early, such a delay does nothing.
func (q *Queue) Delay(it *Item, until time.Time) { it.NotBefore, it.timed = until, false }

// isDelayed reports whether the item must wait for longer than its backoff.
func (q *Queue) isDelayed(it *Item) bool {
	return !it.NotBefore.IsZero() && it.NotBefore.After(q.backoffEnd(it))
}

// mustWait reports whether it is too early for the item, whatever happens.
func (q *Queue) mustWait(it *Item) bool {
	return it.NotBefore.After(q.options.Now()) && (!q.options.FullBackoff || q.isDelayed(it))
}

// Defer makes the backoff of the item, which is in flight, last at least until a time. Unlike one
// that is delayed, the item is tried early if no other pod is ready, so it waits only while there
// is something else to do. Where FullBackoff is set no pod is tried early, and Defer does nothing.
func (q *Queue) Defer(it *Item, until time.Time) {
	if !q.options.FullBackoff {
		it.deferred, it.timed = until, false
	}
}

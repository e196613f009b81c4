package queue

import "time"

// Delay says that the next attempt for the item, which is in flight, must not begin before a
// time. It counts if the item's backoff ends sooner, and then the item waits as after an error:
// it is not tried early, also if no other pod is ready.
func (q *Queue) Delay(it *Item, until time.Time) { it.NotBefore, it.timed = until, false }

// isDelayed reports whether the item must wait for longer than its backoff.
func (q *Queue) isDelayed(it *Item) bool {
	return !it.NotBefore.IsZero() && it.NotBefore.After(q.backoffEnd(it))
}

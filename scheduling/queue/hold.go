package queue

// Hold says that the attempt of a pod, in flight or done, has taken a node. If the
// pod is then rejected, its leaving the node is an event for other pods, and their
// leaving may be an event for it. So a held pod is not tried again at the instant at
// which it comes back, but only after time has passed. It then waits like any other
// pod; if there is no backoff, it waits for 1 s.
//
// Differs: a held pod that comes back.
// Original: kube-scheduler tries it again and again, and every attempt takes some
// time.
// Here: it waits until time has passed. On a clock that moves, the only difference is
// that no backoff means 1 s.
// Why: a virtual clock stands still while a pod is ready, so it would go on for ever
// at one instant.
func (q *Queue) Hold(it *Item) { it.held = true }

// stands reports whether no time has passed since a held pod came back.
func (q *Queue) stands(it *Item) bool { return it.held && !q.options.Now().After(it.Timestamp) }

// release frees the pods for which time has passed, so that they can be tried before
// their backoff ends.
func (q *Queue) release() {
	for it := q.standing.first; it != nil && !q.stands(it); it = q.standing.first {
		q.leave(it)
		it.at = backingOff
		q.backingOff.push(it)
	}
}

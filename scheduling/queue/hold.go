package queue

// Hold says that the attempt of a pod in flight, or done, has gone as far as to
// take a node. If the pod is rejected all the same, its leaving the node is an
// event for others, and theirs may be one for it: so it is not tried again at the
// instant at which it comes back, but when time has passed. It then waits as any
// other pod does, and for 1 s where there is no backoff.
//
// Differs: in kube-scheduler, where every attempt takes some time, such pods are
// tried again and again. On a virtual clock, which stands still while a pod is
// ready, that would be for ever at one instant; on a clock that moves there is no
// difference but that no backoff is 1 s.
func (q *Queue) Hold(it *Item) { it.held = true }

// stands reports whether no time has passed since a held pod came back.
func (q *Queue) stands(it *Item) bool { return it.held && !q.options.Now().After(it.Timestamp) }

// release lets the pods for which time has passed be tried before their backoff
// ends.
func (q *Queue) release() {
	for it := q.standing.first; it != nil && !q.stands(it); it = q.standing.first {
		q.leave(it)
		it.at = backingOff
		q.backingOff.push(it)
	}
}

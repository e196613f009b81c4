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
//
// Differs: a pod that an event wakes after its second rejection at one instant.
// Original: kube-scheduler tries it again as soon as no other pod is ready.
// Here: it waits until time has passed. On a clock that moves there is no difference.
// Why: while a virtual clock stands, every event would have all waiting pods tried.
func (q *Queue) Hold(it *Item) { it.held = true }

// holds reports whether no time has passed since a held pod came back.
func (q *Queue) holds(it *Item) bool { return it.held && !q.options.Now().After(it.Timestamp) }

// stands reports whether a pod that backs off must not be tried before time passes: it
// is held, or has come back from its second attempt at one instant. An event may help a
// pod at the instant of its rejection, but many events while a virtual clock stands must
// not have every waiting pod tried for each of them.
func (q *Queue) stands(it *Item) bool {
	return (it.held || it.again) && !q.options.Now().After(it.Timestamp)
}

// stand makes an item wait until time passes.
func (q *Queue) stand(it *Item) {
	q.put(it, standing)
	if q.standing.first == nil || it.expires < q.standUntil {
		q.standUntil = it.expires
	}
	q.standing.insertAfter(it, q.standing.last)
}

// release frees the pods for which time has passed, so that they can be tried before
// their backoff ends.
func (q *Queue) release() {
	for it := q.delayed.top(); it != nil && !it.NotBefore.After(q.options.Now()); it = q.delayed.top() {
		q.leave(it)
		q.put(it, backingOff)
		q.backingOff.push(it)
	}
	released := false
	for it := q.standing.first; it != nil && !q.stands(it); it = q.standing.first {
		q.leave(it)
		q.put(it, backingOff)
		q.backingOff.push(it)
		released = true
	}
	if released && q.standing.first != nil { // of those that stand since a later instant
		q.standUntil = q.standing.first.expires
		for it := q.standing.first; it != nil; it = it.next {
			q.standUntil = min(q.standUntil, it.expires)
		}
	}
}

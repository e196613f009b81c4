// Package queue is the scheduling queue of a whole scheduler: it says which
// pod is to be tried next, and when a pod that found no place is worth another
// attempt.
//
//	       Add                                   Pop
//	────────▶ PreEnqueue ──▶ active ──────────────────▶ in flight ──Done──▶
//	              │ no          ▲  ▲                      │ Requeue
//	              ▼             │  └── backoff ◀──────────┤ an event may have helped,
//	            gated           │         ▲               │ or an error
//	              │ its events  │         │ Move          ▼
//	              └─────────────┘         └───────── unschedulable
//	                                            (for 5 minutes at most)
//
// # What it does
//
// Ready pods come in the order of the profile's QueueSort plugin. A pod whose
// attempt failed backs off, longer every time ([Backoff]). Plugins register
// for the events that may help the pods that they rejected
// ([framework.EnqueueExtensions]); every other event leaves those pods alone.
// Events that come while a pod is being tried are remembered for it.
//
//	q, err := queue.New(queue.Options{Now: clock.Now, Profiles: profiles})
//	q.Add(ctx, pod)
//	for it := q.Pop(); it != nil; it = q.Pop() {
//		if err := try(it.Pod); err != nil {
//			q.Requeue(ctx, it, nil, rejectedBy, nil)
//		} else {
//			q.Done(it)
//		}
//	}
//
// # What it leaves to you
//
// It does not know the cluster: tell it what happens there with Move, Update
// and Delete, and call Flush at NextFlush. Package lifecycle does all of it.
//
// # Determinism and concurrency
//
// Equal calls at equal times give equal orders: where upstream follows the
// order of a map, pods come in the order of their arrival, or in that in which
// they began to wait. A Queue is used by one goroutine at a time.
//
// Source: kube-scheduler 1.37, backend/queue.
//
// Differs: pods are single, there are no pod groups. Gates objecting again do
// not move a pod within the order of those that wait.
package queue

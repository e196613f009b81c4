// Package queue is the scheduling queue of a whole scheduler. It says which pod to
// try next, and when a pod that found no node is worth another attempt.
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
// attempt failed backs off, longer every time ([Backoff]). Plugins register for the
// events that may help the pods that they rejected ([queueing.EnqueueExtensions]);
// no other event wakes those pods. The queue remembers events that happen while a
// pod is being tried.
//
//	q, err := queue.New(queue.Config{Now: clock.Now, Profiles: profiles})
//	q.Add(ctx, pod)
//	for it := q.Pop(); it != nil; it = q.Pop() {
//		if err := try(it.Pod); err != nil {
//			q.Requeue(ctx, it, nil, queue.Rejectors{Plugins: rejectedBy})
//		} else {
//			q.Done(it)
//		}
//	}
//
// # Pods that are alike
//
// A hundred thousand waiting pods are often of a few classes. If Rejectors name the pod's
// Class, the queue keeps the pods of one class that failed at one instant, with backoffs
// of equal length, behind one of them. Whatever happens to that one happens to all: an
// event asks its hints once and moves them together, and [Queue.RequeueAlike] lets them
// fail together. What happens to one pod alone ([Queue.Update], [Queue.Activate],
// [Queue.SetApart]) takes it out. All pods end up as if each had been moved by itself. If a
// QueueSort plugin other than PrioritySort orders the pods, each is moved by itself.
//
// # What it leaves to you
//
// The queue does not know the cluster. Tell it what happens there with Move, Update
// and Delete, and call Flush at NextFlush. Package lifecycle does all of this.
//
// # Determinism and concurrency
//
// Equal calls at equal times give equal orders. Where upstream follows the order of
// a map, pods come in the order of their arrival, or in the order in which they
// began to wait. Only one goroutine at a time may use a Queue.
//
// Source: kube-scheduler 1.37, backend/queue.
//
// Differs: pod groups.
// Original: kube-scheduler queues them as entities of their own.
// Here: one of the group's pods stands for it, and Resize says how many there are.
// Why: package lifecycle keeps the groups.
//
// Differs: a pod leaves a node, and every node was rejected as unresolvable.
// Original: kube-scheduler tries the waiting pod again.
// Here: such a departure does not wake it for the plugins that said so of all their nodes.
// Why: by the meaning of the code, taking pods away helps on none of these nodes. With
// thousands of pods that are too large for every node, each departure cost an attempt of
// each.
//
// Differs: a waiting pod that a PreEnqueue plugin rejects again.
// Original: kube-scheduler keeps waiting pods in a map, which has no positions.
// Here: it keeps its position among the waiting pods.
// Why: the answer must be the same on every run.
package queue

// Package lifecycle is a whole scheduler: it follows a cluster by events, keeps the
// queue, makes one attempt after the other, and takes each placement through to the
// binding.
//
//	source ─events▶ mailbox ─▶ ┌───────────── scheduling goroutine ────────────┐
//	                     ▲     │ queue ─▶ Schedule ─▶ Assume, Reserve ─▶ Permit │
//	                     │     │            one framework.Snapshot              │
//	                     │     └────────────────────────┬───────────────────────┘
//	                     └──── results ◀── PreBind, Bind, PostBind (tasks) ──▶ binder
//
//	d, err := lifecycle.New(lifecycle.Config{
//		Profiles: []scheduling.Profile{scheduling.Kubernetes137()},
//		Binder:   binder,
//		Clock:    framework.ClockOf(time.Now, time.AfterFunc),
//		Bindings: 8,
//	})
//	err = d.Run(ctx, source)
//
// # What it does
//
// One snapshot is updated in place, so the answers that the scheduler keeps stay
// valid. All profiles share the snapshot and the queue. A pod whose node is chosen
// counts there at once (it is assumed). If anything fails before it is bound,
// Unreserve runs in reverse order, the pod leaves the snapshot and returns to the
// queue, and pods that its leaving may help are woken.
//
// The outside world is a [Source] of events, or a caller of [Driver.Apply], and a
// [Binder]. The nested module scheduling/kube has both for a real cluster. A simulator
// needs no source: it calls [Driver.Apply] and [Driver.ScheduleOne], or lets
// [Driver.Simulate] move a virtual clock.
//
// # A full cluster
//
// When a pod leaves a full cluster, every pod that waits for room is worth another attempt.
// One of a class takes the room. While the snapshot stays as it is, all others of the class
// fail as the next of them fails: no plugin is asked again, and if there is neither an
// Observer nor a [Reporter], they fail together ([Attempt.Alike]). Attempts, backoffs and
// reasons of each pod are the same as if it had been tried by itself. So 100,000 waiting
// pods of ten classes cost what ten of them cost, at every departure. It takes filters that
// declare their scopes, and no extenders, PostFilter plugins or PreEnqueue plugins of your
// own; otherwise each pod is tried ([scheduling.Scheduler.Alike]). With Cache.Verify each
// is tried, and ErrorHandler gets an error if it does not fail like the others.
//
// # What it leaves to you
//
// The package does not talk to an API server, retry a binding, or log. It does not
// know what a plugin waits for: plugins must register their events
// ([queueing.EnqueueExtensions]), as those of package filter do. Everything that
// frees capacity is an event for them. That includes a pod bound to another node
// than decided, a pod that turns out smaller, and a nomination that is withdrawn.
//
// A plugin that writes to an API server in PreBind must tell the driver of it by [Driver.Apply]
// before it returns an error, because Unreserve then frees what was not written. Events that
// were applied before PreBind returns take effect before Unreserve. For devices, see
// DeviceClaim of package filter.
//
// # Determinism
//
// With Config.Bindings 0 and a virtual clock, everything runs in one goroutine, and
// equal profiles, seeds and events give equal decisions. If bindings run in
// goroutines of their own, the order of their results is not determined, and neither
// are the decisions after that.
//
// # Concurrency
//
// Any goroutine may call Apply, Do and the methods of a [Handle] except Snapshot.
// Everything else happens in the scheduling goroutine: the goroutine of Run, or the
// caller's. Bindings, evictions and reports have goroutines of their own, if
// Config.Bindings is not 0. A pod that waits on Permit takes no goroutine, so it cannot keep others
// from being bound, however few bindings may run at once. A plugin that waits in PreBind
// calls [Await] for the same reason.
//
// Differs: a pod whose victims are being evicted.
// Original: kube-scheduler puts it into the queue at once and keeps it there with a
// PreEnqueue plugin.
// Here: it stays in flight until all of them have been asked to leave.
// Why: no event is lost meanwhile.
//
// Differs: a pod whose victims cannot be asked to leave.
// Original: kube-scheduler tries it again at once.
// Here: it is tried again after its backoff, as after every other error.
// Why: without the right to delete pods, say, the attempts would follow each other without end.
//
// Differs: an event that puts a pod on a node while it waits on Permit.
// Original: kube-scheduler tries to bind it and fails.
// Here: it is rejected there, and Bind is not called.
// Why: the binding can only fail.
//
// Differs: pod groups.
// Original: kube-scheduler schedules them with its feature gate GenericWorkload on.
// Here: they are scheduled if the rules are set.
// Switch: Config.Groups.
//
// Differs: how the pods of a group that stands are reserved.
// Original: kube-scheduler reserves one after the other. One that is refused fails alone,
// so a gang below its minimum may run.
// Here: all are reserved before the first is permitted, or none.
// Why: a group stands together or not at all.
//
// Differs: trees of groups.
// Original: kube-scheduler, with the gate CompositePodGroup, tries a tree as one entity.
// Here: each PodGroup is tried alone; [gang.Placer.PlaceSet] places trees.
// Why: the gate is alpha and off.
//
// Differs: a failed group of equal pods.
// Original: kube-scheduler tries it again after its backoff, whatever happens.
// Here: it waits for an event that may help the first pod that was refused, and for its
// backoff. If such an event helps and no other pod is ready, it is tried before the end of its
// backoff, like a single pod. It is also tried, after its backoff, if another pod joins it,
// and if the spec of its object changes. So it is if a node gets another value of the label of its
// constraint, and if one of its pods comes to a node, leaves it or loses it. The same holds if
// groups of pods on nodes change, so that preemption may find other victims. Other groups are
// tried again after their backoff.
// Why: an attempt that must fail as the last one did helps nobody.
//
// Differs: a pod of a group that loses its binding, or that Permit rejects.
// Original: kube-scheduler tries its group again at once.
// Here: the group is tried again after its backoff, which grows with the attempts in a row
// that lost a binding. As in kube-scheduler it waits for no event, whatever the plugin
// registered for.
// Why: a group whose bindings always fail would be tried without end.
//
// Differs: a group whose object, or whose last waiting pod, goes and comes back.
// Original: kube-scheduler forgets its failures, and tries it at once.
// Here: the failures count for as long as the group has a pod that exists, bound ones
// included, and no attempt has stood that lost no binding.
// Why: otherwise its owner could have it tried at any rate.
//
// Differs: groups whose attempts fail, or leave pods behind, and pods whose attempts end with an
// error.
// Original: kube-scheduler tries them again after their backoff.
// Here: their attempts together get a fifth of the time on Config.Clock, each namespace as
// much as the others, and in it each group and pod: one whose attempt took t waits for 5t
// times the number of such groups and pods in its namespace, times the number of such
// namespaces, an hour at most, if that is longer than its backoff. On a virtual clock attempts
// take no time, so nothing differs.
// Why: nothing else is scheduled meanwhile.
//
// Differs: pods that are rejected, or lose their binding, after an attempt of 0.1 ms or more, or have 256 parts or more.
// Original: kube-scheduler tries them again after their backoff, of 10 s at most.
// Here: while other pods are ready, those whose attempt took t wait for 5t times the number of
// such pods in the namespace, times the number of such namespaces, a minute at most, if that is
// longer than their backoff. Nothing differs on a virtual clock, nor with Config.FullBackoff.
// Why: events that a user causes wake them, and nothing else is scheduled meanwhile.
//
// Differs: sampling of metrics.
// Original: kube-scheduler measures its plugins for some pods.
// Here: it is left out.
// Why: the library has no metrics of its own.
//
// Source: kube-scheduler 1.37, schedule_one.go, eventhandlers.go,
// backend/cache and framework/runtime.
package lifecycle
